/* SPDX-License-Identifier: MIT */
/* Gives each thread adjacent units of work: in successive operations the same units. */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.h"

namespace nvdla::sim
{

/**
 * \brief Divides units, numbered from 0, into a band of adjacent units for each thread
 *
 * A thread takes the units of its own band in order, then remaining units of other bands. If
 * successive operations are divided alike, a thread mostly reads data that it wrote itself
 * and that are in its core's cache.
 *
 * Units may be taken in several rounds. A band's next round begins when all of its units have
 * been taken.
 */
class Bands
{
public:
	/** \param bands number of bands, at least 1 */
	Bands(uint64_t units, unsigned int bands, uint64_t rounds = 1)
		: units_(units), rounds_(rounds), many_(bands > few_.size() ? bands : 0),
		  bands_(many_.empty() ? std::span(few_).first(bands) : std::span(many_))
	{
		for (unsigned int i = 0; i < bands; i++) {
			bands_[i].first = units * i / bands;
			bands_[i].count = units * (i + 1) / bands - bands_[i].first;
		}
	}
	Bands(const Bands &) = delete;
	Bands &operator=(const Bands &) = delete;

	/**
	 * \param thread see Workers::run(); more threads than bands share bands
	 * \return a unit that no other thread gets in this round, plus the number of all units for
	 *	   each earlier round; nothing when all are taken
	 */
	std::optional<uint64_t> take(unsigned int thread)
	{
		for (size_t i = 0; i < bands_.size(); i++) {
			Band &band = bands_[(thread + i) % bands_.size()];
			const uint64_t all = band.count * rounds_;
			if (band.taken >= all)
				continue;
			const uint64_t taken = band.taken++;
			if (taken < all)
				return taken / band.count * units_ + band.first +
				       taken % band.count;
		}
		return std::nullopt;
	}

private:
	struct alignas(kLineBytes) Band {
		uint64_t first = 0;
		uint64_t count = 0;
		std::atomic<uint64_t> taken = 0; /* number of units taken in all rounds */
	};

	const uint64_t units_;
	const uint64_t rounds_;
	std::array<Band, 4> few_; /* avoids an allocation for few bands */
	std::vector<Band> many_;
	std::span<Band> bands_; /* the bands in use: in few_ or many_ */
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Units of work that stay with the threads that had their neighbours before.
 */
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
 * \brief Units from 0 on, in as many bands of units next to each other as there are threads
 *
 * A thread takes those of its own band, one after the other, then what is left of others'. Where
 * operations that follow each other are shared like this, most of what a thread reads is what it
 * wrote: its core has it, and need not get it from another core.
 *
 * All units may be done in several rounds; those of a band are all done once before its next round
 * begins.
 */
class Bands
{
public:
	/** \param bands at least 1 */
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
	 * \param thread see Workers::run(); of more threads than bands some begin in the same one
	 * \return a unit that nobody else gets in this round, plus all units for each round before;
	 *	   none once all are taken
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
		std::atomic<uint64_t> taken = 0; /* in all rounds */
	};

	const uint64_t units_;
	const uint64_t rounds_;
	std::array<Band, 4> few_; /* operations are shorter than memory takes to be found */
	std::vector<Band> many_;
	std::span<Band> bands_; /* one or the other */
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Numbers of a run of atoms that a line does not round for certain.
 *
 * They are few, anywhere in the run, and of any channels. One by one each would take longer than
 * the line takes for a hundred others; so they are noted, taken out with their operands, and go
 * through the stages together.
 */
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sdp/sdp_fast.h"
#include "sdp/sdp_op.h"

namespace nvdla::sim
{

/** \brief Where in a run the numbers are */
class SdpUncertain
{
public:
	/** \param count numbers of the run \param share of them that are likely to be added */
	SdpUncertain(size_t count, double share)
		: most_(std::min(count / kOneOf + kFew, kMost)), areRare_(share < kRare)
	{
	}

	/**
	 * \brief Add those of some numbers from \a first on, up to 64, whose bits are set
	 * \return false if they are too many now: for all numbers together the stages take less
	 */
	bool add(size_t first, uint64_t bits)
	{
		/* Mostly there is none or one, which of them nobody knows before. */
		put(first, bits);
		count_ += bits != 0;
		for (bits &= bits - 1; bits && count_ < most_; bits &= bits - 1, count_++)
			put(first, bits);
		return count_ < most_;
	}

	/**
	 * \brief add() of all that masks have bits of
	 * \param masks behind which eight bytes may be written
	 * \param first number of the first atom's masks \param atom numbers to the next atom's
	 * \tparam kMasks of an atom \tparam kLanes numbers of each \tparam kBytes bytes of each
	 */
	template<size_t kMasks, size_t kLanes, size_t kBytes>
	bool addMasks(uint8_t *masks, size_t atoms, size_t first, size_t atom);

	std::span<const uint32_t> places() const { return std::span(places_).first(count_); }

private:
	static constexpr size_t kOneOf = 16;
	static constexpr size_t kFew = 64; /* always worth it */
	static constexpr size_t kMost = 2048;
	static constexpr double kRare = 1.0 / 512; /* eight bytes of masks mostly have none */

	void put(size_t first, uint64_t bits)
	{
		places_[count_] =
			static_cast<uint32_t>(first + static_cast<size_t>(std::countr_zero(bits)));
	}

	std::array<uint32_t, kMost> places_; /* up to count_ */
	size_t count_ = 0;
	size_t most_;
	bool areRare_;
};

template<size_t kMasks, size_t kLanes, size_t kBytes>
inline bool SdpUncertain::addMasks(uint8_t *masks, size_t atoms, size_t first, size_t atom)
{
	uint64_t word = 0;
	constexpr size_t kAtoms = sizeof(word) / (kMasks * kBytes);
	constexpr uint64_t kMask = (uint64_t{ 1 } << 8 * kBytes) - 1;
	constexpr size_t kAtomBytes = kMasks * kBytes;

	/* Words are whole, also the last one. */
	std::memset(masks + atoms * kAtomBytes, 0, sizeof(word));
	for (size_t i = 0; i < atoms; i += kAtoms) {
		std::memcpy(&word, masks + i * kAtomBytes, sizeof(word));
		if (areRare_ && word == 0)
			continue;
		for (size_t mask = 0; mask < kAtoms * kMasks; mask++, word >>= 8 * kBytes) {
			const size_t at = (i + mask / kMasks) * atom + mask % kMasks * kLanes;
			if (!add(first + at, word & kMask))
				return false;
		}
	}
	return true;
}

/** \brief Some of those numbers beside each other, each with its operands */
class SdpPicked
{
public:
	static constexpr size_t kMost = 64; /* whole atoms */

	/**
	 * \param stages of the run, which must outlive this object
	 * \param lanes numbers of an atom, a power of two
	 */
	SdpPicked(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes);

	/**
	 * \brief Take the number at \a place of the run
	 * \param element its operand in memory, where a stage has those of each element as bytes
	 */
	void add(size_t place, int32_t number, int16_t element);

	/** \brief What stages and converter make of all that were added; none are left then */
	std::span<const int32_t> compute();

private:
	static constexpr size_t kMostStages = 3;
	static constexpr size_t kFew = 3;

	/* Of a stage, for each number. */
	struct Operands {
		int32_t alu[kMost];
		int32_t mul[kMost];
	};

	void fillAtoms();

	const SdpOp &op_;
	std::span<const SdpStageRun> stages_;
	size_t lanes_;
	size_t count_ = 0;
	int32_t numbers_[kMost];
	Operands operands_[kMostStages];
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 products that 32 bits do not hold.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/** \brief What numbers there are, and zero */
struct Int16Range {
	int32_t lowest = 0;
	int32_t highest = 0;

	void add(int32_t number)
	{
		lowest = std::min(lowest, number);
		highest = std::max(highest, number);
	}
	void add(const Int16Range &other)
	{
		add(other.lowest);
		add(other.highest);
	}
	/** \return the largest magnitude */
	uint32_t largest() const { return static_cast<uint32_t>(std::max(-lowest, highest)); }
};

/**
 * \brief The largest sums of squares of numbers in a row
 *
 * In units of 2^16, each square rounded up. Rows begin at multiples of eight numbers.
 */
struct Int16Squares {
	static constexpr uint32_t kRow = 8;
	static constexpr uint32_t kMostRows = 4;

	uint32_t ofRows[kMostRows] = {}; /**< of one row of eight numbers, of two... */

	void add(const Int16Squares &other)
	{
		for (uint32_t i = 0; i < kMostRows; i++)
			ofRows[i] = std::max(ofRows[i], other.ofRows[i]);
	}
	/** \return what no sum of so many rows exceeds */
	uint32_t of(uint32_t rows) const
	{
		const uint32_t rest = rows % kMostRows;

		return rows / kMostRows * ofRows[kMostRows - 1] + (rest ? ofRows[rest - 1] : 0);
	}
};

/** \brief What there is to know of numbers */
struct Int16Numbers {
	Int16Range range;
	Int16Squares squares;

	void add(const Int16Numbers &other)
	{
		range.add(other.range);
		squares.add(other.squares);
	}
};

/** \brief What weights meet */
struct WideData {
	Int16Numbers numbers; /**< of lines, whose rows begin with them */
	/** What each run of each position begins at a multiple of in its line, bytes */
	size_t alignment;
};

/** \return what there is to know of numbers, behind which there are zeroes */
Int16Numbers numbersOf(const std::byte *numbers, size_t count);

/** \brief numbersOf() to read */
Int16Numbers numbersOfReference(const std::byte *numbers, size_t count);

/**
 * \brief When sums are carried on, so that 32 bits hold what is added up in between
 *
 * \return for each run how many of its units that is behind, and how many behind those, until
 *	   there are none; nothing if 32 bits do not hold a unit's
 */
std::vector<uint8_t> wideCarries(const TileOperands &operands, const WideData &data);

/** \brief Units that wideSums() can carry on behind each of */
inline constexpr size_t kMostWideUnits = 0xffff;

/**
 * \brief What CACC delivers of sums of products of INT16, as clipSums()
 *
 * \param operands runs of at most kMostWideUnits in all; sums begin with zero
 * \param carries of wideCarries()
 * \param ahead bytes that are wanted next, which are brought nearer meanwhile
 * \return how many were clipped
 */
uint32_t wideSums(std::span<const TilePosition> positions, const TileOperands &operands,
		  std::span<const uint8_t> carries, uint32_t truncate, const TileSums &sums,
		  std::span<const std::byte> ahead = {});

/** \brief wideSums() to read; needs no carries, as it adds in 64 bits */
uint32_t wideSumsReference(std::span<const TilePosition> positions, const TileOperands &operands,
			   uint32_t truncate, const TileSums &sums);

/**
 * \brief What CACC delivers of sums: \a truncate (0..31) bits less, halves away from zero, in
 * 32 bits
 *
 * \param sums of 48 bits, a multiple of kFewColumns of them
 * \return how many were clipped
 */
uint32_t clipSums(std::span<const int64_t> sums, uint32_t truncate, int32_t *out);

} /* namespace nvdla::sim */

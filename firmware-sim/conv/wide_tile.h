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

/** \brief Units of a run, one after the other, of which sums of \a chunk at a time fit 32 bits */
struct WidePart {
	uint32_t units;
	uint32_t chunk; /**< the last one may have less */
};

/** \brief The parts of all runs, one after the other */
struct WideParts {
	/** Units of a chunk of which perhaps only the halves fit */
	static constexpr uint32_t kHalvedChunk = 4;

	std::vector<WidePart> parts;
	/** For each chunk of the parts with kHalvedChunk 1 or 0: only its halves fit */
	std::vector<uint8_t> halved;
};

/** \brief What numbers there are, and zero */
struct Int16Range {
	int32_t lowest = 0;
	int32_t highest = 0;

	void add(int32_t number)
	{
		lowest = std::min(lowest, number);
		highest = std::max(highest, number);
	}
	/** \return the largest magnitude */
	uint32_t largest() const { return static_cast<uint32_t>(std::max(-lowest, highest)); }
};

/**
 * \brief Cuts runs into parts
 *
 * \param weights units of all runs one after the other, kFewColumns columns of each
 * \param data that they may meet
 * \return the parts of all runs in their order; none if there are units that do not fit
 */
WideParts wideParts(std::span<const TileRun> runs, const int32_t *weights, Int16Range data);

/**
 * \brief Which chunks of a run have sums that may not fit 32 bits
 *
 * \param weights of its units, kFewColumns columns of each
 * \param most that are looked for
 * \param unfit for each chunk 1 or 0
 * \return how many; any number above \a most, with \a unfit incomplete, if there are more
 */
size_t findUnfit(const int32_t *weights, uint32_t units, uint32_t chunk, Int16Range data,
		 size_t most, uint8_t *unfit);

/**
 * \brief findUnfit() of chunks of kHalvedChunk, all of them, and of their halves
 * \param unfitHalves for each chunk 1 or 0: one of its halves may not fit
 * \return there is one
 */
bool findHalved(const int32_t *weights, uint32_t units, Int16Range data, uint8_t *unfit,
		uint8_t *unfitHalves);

/** \brief Units that wideSums() can add up in chunks, one for each at the worst */
inline constexpr size_t kMostWideUnits = 0xffff;

/**
 * \brief Sums of products of INT16 for \a count positions, for each of kFewColumns columns
 *
 * \param runs of at most kMostWideUnits in all
 * \param parts of wideParts()
 * \param weights as there
 * \param sums \a count times kFewColumns; overwritten
 * \param ahead bytes that are wanted next, which are brought nearer meanwhile
 */
void wideSums(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
	      const WideParts &parts, const int32_t *weights, int64_t *sums,
	      std::span<const std::byte> ahead = {});

/** \brief wideSums() to read; needs no parts, as it adds in 64 bits */
void wideSumsReference(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		       const int32_t *weights, int64_t *sums);

/**
 * \brief What CACC delivers of sums: \a truncate (0..31) bits less, halves away from zero, in
 * 32 bits
 *
 * \param sums of 48 bits, a multiple of kFewColumns of them
 * \return how many were clipped
 */
uint32_t clipSums(std::span<const int64_t> sums, uint32_t truncate, int32_t *out);

} /* namespace nvdla::sim */

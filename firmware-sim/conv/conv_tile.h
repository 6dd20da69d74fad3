/* SPDX-License-Identifier: MIT */
/*
 * The innermost loops of the fast convolution.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/** \brief Weight columns that a tile works on at most: kernels of a group of INT8, or of two others
 */
inline constexpr size_t kTileColumns = 32;
/** \brief Weight columns of one group of INT16 or FP16 */
inline constexpr size_t kFewColumns = 16;
/** \brief Bytes of operands that meet one weight column in a step: a unit */
inline constexpr size_t kUnitBytes = 4;

/** \brief Units that are multiplied at once where the host multiplies matrices */
inline constexpr size_t kMatrixUnits = 16;

/** \brief Bits of a sum of TileKind::Float that is a NaN: FP16's 0x7e00 in the accumulator */
inline constexpr int32_t kFloatNan = 0x7f800200;

/** \brief What the host multiplies in a unit */
enum class TileKind : uint8_t {
	None,	       /**< no instructions for it */
	Pairs,	       /**< two signed 16-bit numbers by two */
	Quads,	       /**< four unsigned 8-bit numbers by four signed ones */
	SignedQuads,   /**< the same where the weights are the unsigned ones */
	Bytes,	       /**< four signed 8-bit numbers by four, which takes longer than pairs do */
	PositiveBytes, /**< the same if no operand is below zero, which takes less */
	Matrices,      /**< four signed 8-bit numbers by four, in as many units as kMatrixUnits */
	Float,	       /**< a number of 32 bits by another */
};

/** \brief Consecutive units of one kernel row */
struct TileRun {
	size_t offset;	/**< bytes from the position's first */
	uint32_t units; /**< Matrices: a multiple of kMatrixUnits */
};

/** \brief One output: where its operands are */
struct TilePosition {
	const std::byte *at; /**< the first; the others are as far from it for all positions */
	int32_t start = 0;   /**< SignedQuads: what all its sums begin with */
};

/** \brief What all positions meet */
struct TileOperands {
	std::span<const TileRun> runs;
	/** Units of all runs one after the other, all columns of each */
	const int32_t *weights;
	size_t columns; /**< kTileColumns, or kFewColumns; quads and bytes always have the former */
	/** What the sums of each column begin with; not looked at for SignedQuads and Matrices,
	 * those of which begin with zero */
	const int32_t *start;
	/** From this column on sums are zero, and have to be in what they are made of */
	size_t used = columns;
	/** Positions of a line, which are as far from each other, of a multiple of as many; not
	 * looked at but for Matrices */
	size_t width = 1;

	/** \return those of all runs */
	size_t units() const
	{
		size_t all = 0;

		for (const TileRun &run : runs)
			all += run.units;
		return all;
	}
};

/** \brief Where sums go */
struct TileSums {
	/** The first position's: of the first kFewColumns columns, and of the others if there are
	 */
	int32_t *halves[kTileColumns / kFewColumns];
	size_t step; /**< numbers from a position to the next one, in each of \a halves */

	int32_t *at(size_t position, size_t column) const
	{
		return halves[column / kFewColumns] + position * step + column % kFewColumns;
	}
};

/**
 * \return what INT8 is best multiplied with here: Bytes mean PositiveBytes or else Pairs; INT16
 * takes pairs unless it is None
 */
TileKind tileKind();

/** \return columns of INT16 and FP16 that are best multiplied at once here */
size_t tileColumns();

/**
 * \brief Sums of products for all positions, for each column
 *
 * Integers: nothing may overflow 32 bits. Float: one product after the other
 * is added, rounding to nearest even; where operands have 11 bits the products are exact, so that
 * the bits are the same on every host, with fused multiply-adds or without. A NaN becomes the one
 * with sign 0 and payload 0x200.
 *
 * \param ahead bytes that are wanted next, which are brought nearer meanwhile
 */
void tileSums(TileKind kind, std::span<const TilePosition> positions, const TileOperands &operands,
	      const TileSums &sums, std::span<const std::byte> ahead = {});

/** \brief tileSums() to read */
void tileSumsReference(TileKind kind, std::span<const TilePosition> positions,
		       const TileOperands &operands, const TileSums &sums);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * The innermost loops of the fast convolution: panels of weights times operands of positions.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/** \brief Columns of a panel, one for each kernel of one or several groups */
inline constexpr size_t kTileColumns = 32;
/** \brief Columns of half a panel; an upper half of zeroes is not computed */
inline constexpr size_t kFewColumns = 16;
/** \brief Bytes of operands that a step multiplies with one weight column: a unit */
inline constexpr size_t kUnitBytes = 4;

/** \brief Units that a step multiplies on hosts with matrix instructions */
inline constexpr size_t kMatrixUnits = 16;

/** \brief A NaN among sums of TileKind::Float: FP16's 0x7e00 as an accumulator has it */
inline constexpr int32_t kFloatNan = 0x7f800200;

/** \brief The operand types that the host multiplies in a unit */
enum class TileKind : uint8_t {
	None,	  /**< no instructions for it */
	Rows,	  /**< INT8 of a single position: weights are read where they are (dense_sums) */
	Pairs,	  /**< two signed 16-bit numbers by two, summed in 32 bits */
	Quads,	  /**< four signed 8-bit numbers by four unsigned ones, the weights + 128 */
	Bytes,	  /**< four 8-bit numbers, none negative, by four signed ones */
	Matrices, /**< four signed 8-bit numbers by four, in as many units as kMatrixUnits */
	Float,	  /**< a number of 32 bits by another */
};

/** \brief Consecutive units of one kernel row */
struct TileRun {
	size_t offset;	/**< bytes from the position's first operand */
	uint32_t units; /**< Matrices: a multiple of kMatrixUnits */
};

/** \brief One output: where its operands are */
struct TilePosition {
	const std::byte *at; /**< the first operand; distances to the others are common */
	int32_t start = 0;   /**< Quads: initial value of all sums of the position */
};

/** \brief The weights of the kernel groups that are computed together, for all positions */
struct Panel {
	std::span<const TileRun> runs;
	/** Units of all runs one after the other, kTileColumns of each */
	const int32_t *weights;
	/** From this column on all weights are zero, and sums are zero */
	size_t used = kTileColumns;
	/** Matrices: length of a line. Positions come in whole lines; within one they are
	 * equidistant */
	size_t width = 1;
	std::span<const std::byte> next = {}; /**< weights needed next: prefetched meanwhile */

	/** \return the number of units of all runs */
	size_t units() const
	{
		size_t all = 0;

		for (const TileRun &run : runs)
			all += run.units;
		return all;
	}
};

/** \brief Where sums are stored: an array for each kernel group */
struct TileSums {
	int32_t *first;
	size_t columns = kTileColumns; /**< kernels of a group; for Matrices at least kFewColumns */
	size_t step = 0;	       /**< numbers from a group's first sum to the next one's */

	int32_t *at(size_t position, size_t column) const
	{
		return first + column / columns * step + position * columns + column % columns;
	}

	/** \brief Put the sums of \a count columns, whole groups or less than one */
	void put(size_t position, size_t column, const int32_t *sums, size_t count) const
	{
		for (size_t i = 0; i < count; i += columns)
			std::copy_n(sums + i, std::min(columns, count - i),
				    at(position, column + i));
	}
};

/**
 * \return the fastest kind for INT8 on this host; instead of Bytes, negative data need Pairs. INT16
 * needs Pairs, unless the host has None
 */
TileKind tileKind();

/**
 * \brief Sums of products for all positions, for each column
 *
 * Integers: no sum may overflow 32 bits; one that does loses its upper bits. Float: one product
 * after the other is added, rounding to nearest even; where operands have 11 bits the products are
 * exact, so that the bits are the same on every host, with fused multiply-adds or without. A NaN
 * becomes the one with sign 0 and payload 0x200.
 */
void tileSums(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
	      const TileSums &sums);

/**
 * \return this host has matrix instructions for bytes, and its kernel lets this process use them
 *
 * Linux requires a request, as the saved state of a thread grows by 8 KiB; it is made once.
 */
bool hasMatrices();

/**
 * \brief tileSums() of TileKind::Matrices, where hasMatrices()
 *
 * Works on up to sixteen equidistant positions at once; they may continue in the next line.
 *
 * \param panel whose runs are multiples of kMatrixUnits
 */
void matrixSums(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * The innermost loops of the fast convolution: panels of weights meet positions.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/** \brief Columns of a panel: kernels of one group or of some, as many as there is room for */
inline constexpr size_t kTileColumns = 32;
/** \brief Columns of half a panel: where the others are zero, they are left out */
inline constexpr size_t kFewColumns = 16;
/** \brief Bytes of operands that meet one weight column in a step: a unit */
inline constexpr size_t kUnitBytes = 4;

/** \brief Units that are multiplied at once where the host multiplies matrices */
inline constexpr size_t kMatrixUnits = 16;

/** \brief Bits of a sum of TileKind::Float that is a NaN: FP16's 0x7e00 in the accumulator */
inline constexpr int32_t kFloatNan = 0x7f800200;

/** \brief What the host multiplies in a unit */
enum class TileKind : uint8_t {
	None,	  /**< no instructions for it */
	Rows,	  /**< INT8 of a single position: weights are met where they are (dense_sums) */
	Pairs,	  /**< two signed 16-bit numbers by two, in 32 bits */
	Quads,	  /**< four signed 8-bit numbers by four unsigned ones, which are more by 128 */
	Bytes,	  /**< four signed 8-bit numbers that are not below zero by four signed ones */
	Matrices, /**< four signed 8-bit numbers by four, in as many units as kMatrixUnits */
	Float,	  /**< a number of 32 bits by another */
};

/** \brief Consecutive units of one kernel row */
struct TileRun {
	size_t offset;	/**< bytes from the position's first */
	uint32_t units; /**< Matrices: a multiple of kMatrixUnits */
};

/** \brief One output: where its operands are */
struct TilePosition {
	const std::byte *at; /**< the first; the others are as far from it for all positions */
	int32_t start = 0;   /**< Quads: what all its sums begin with */
};

/** \brief What all positions meet: the weights of kernel groups that are worked on at once */
struct Panel {
	std::span<const TileRun> runs;
	/** Units of all runs one after the other, kTileColumns of each */
	const int32_t *weights;
	/** From this column on sums are zero, and have to be in what they are made of */
	size_t used = kTileColumns;
	/** Positions of a line, which are as far from each other, of a multiple of as many; not
	 * looked at but for Matrices */
	size_t width = 1;
	std::span<const std::byte> next = {}; /**< wanted soon: brought nearer meanwhile */

	/** \return those of all runs */
	size_t units() const
	{
		size_t all = 0;

		for (const TileRun &run : runs)
			all += run.units;
		return all;
	}
};

/** \brief Where sums go: those of each kernel group by themselves */
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
 * \return what INT8 is best multiplied with here: Bytes mean Pairs where data are below zero. INT16
 * takes pairs unless it is None
 */
TileKind tileKind();

/**
 * \brief Sums of products for all positions, for each column
 *
 * Integers: nothing may overflow 32 bits; what does is left without its upper bits. Float: one
 * product after the other is added, rounding to nearest even; where operands have 11 bits the
 * products are exact, so that the bits are the same on every host, with fused multiply-adds or
 * without. A NaN becomes the one with sign 0 and payload 0x200.
 */
void tileSums(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
	      const TileSums &sums);

/**
 * \return this host multiplies matrices of bytes, and its kernel lets this process do so
 *
 * Linux wants to be asked, since what it saves of a thread gets larger by 8 KiB; asked is once.
 */
bool hasMatrices();

/**
 * \brief tileSums() of TileKind::Matrices, where hasMatrices()
 *
 * Sixteen positions of a line, or less, are worked on at once; those of the next line go on where
 * they are as far from each other.
 *
 * \param panel whose runs are multiples of kMatrixUnits
 */
void matrixSums(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums);

} /* namespace nvdla::sim */

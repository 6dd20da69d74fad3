/* SPDX-License-Identifier: MIT */
/*
 * How the operands of a convolution are laid out for conv_tile.
 *
 * Lines get their padding, so that a kernel row is one run of elements in them
 * (with dilation, one run for each kernel column). A run's elements are multiplied
 * in units of 4 bytes; where a run ends inside a unit, the weights are zero.
 *
 *  - INT8 in quads: data + 128 as unsigned numbers; sums begin with -128 times the
 *    kernel's sum of weights.
 *  - INT8 in pairs: both as 16-bit numbers.
 *  - FP16 as f32, one at a time.
 *  - INT16 in pairs: the weight is 256 * high + low, with a column for each; the
 *    sums of 256 products fit 32 bits and then go into 64.
 *  - INT16 in narrow pairs, as they are, where sums of these very numbers fit 32 bits: those of
 *    networks of 8 bits with zero points do.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/conv_op.h"
#include "conv/conv_tile.h"

namespace nvdla::sim
{

/** \brief A kernel row, or one column of a dilated one */
struct TileTap {
	uint32_t row;
	uint32_t offset; /**< elements from the position's first */
	uint32_t elements;
	size_t unit = 0; /**< first unit of its weights */
};

/** \brief Runs whose sums fit 32 bits together */
struct TileSegment {
	size_t firstRun;
	size_t runs;
	size_t firstUnit;
};

/** \brief The layout for one operation, which must outlive it */
class TilePlan
{
public:
	/**
	 * \param op direct or image convolution
	 * \param narrow INT16: for kernels of which sumsFit()
	 */
	explicit TilePlan(const ConvOp &op, bool narrow = false);

	const ConvOp &op;
	TileKind kind;
	uint32_t elementBytes; /**< of an operand */
	uint32_t step;	       /**< elements from one output column to the next */
	uint32_t lineElements; /**< that the windows touch */
	std::vector<TileTap> taps;
	std::vector<TileRun> runs;
	std::vector<TileSegment> segments; /**< one but for INT16 */
	size_t units = 0;		   /**< of all runs */

	/** \return weight columns that a unit has */
	size_t columns() const
	{
		const bool few = kind == TileKind::Float || kind == TileKind::NarrowPairs;
		return few ? kFewColumns : kTileColumns;
	}
	/** \return sums of products of INT16 up to these magnitudes fit 32 bits */
	bool sumsFit(uint32_t largestData, uint32_t largestWeight) const
	{
		return largestData * uint64_t{ largestWeight } * units * perUnit() <= INT32_MAX;
	}
	/** \return elements of a unit */
	uint32_t perUnit() const { return static_cast<uint32_t>(kUnitBytes) / elementBytes; }
	/** \return the kernel has its columns in taps of their own */
	bool dilated() const { return op.windows.dilationX != 1; }
	/** \return bytes of a padded line: a run may read to the end of its last unit */
	size_t lineBytes() const { return size_t{ lineElements } * elementBytes + kUnitBytes; }

private:
	void layTaps();
	/** \param limit units whose sums fit 32 bits */
	void layRuns(uint32_t limit);
};

} /* namespace nvdla::sim */

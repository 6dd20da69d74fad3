/* SPDX-License-Identifier: MIT */
/*
 * Layout of a convolution's operands for conv_tile.
 *
 * Padding is added to lines, so that a kernel row is one run of elements (with dilation, one run
 * for each kernel column). Lines of padding are added above and below, so that the distances
 * between runs are the same for all positions. Elements of a run are multiplied in units of 4
 * bytes; if a run ends inside a unit, the remaining weights are zero.
 *
 * A table (kKernels in tile_plan.cpp) gives the operand types.
 *
 *  - INT8 in quads: data + 128 as unsigned numbers. To correct this, a column's sums start at -128
 *    times the sum of its weights.
 *  - INT8 in matrices: runs are extended to multiples of a matrix's units. The weights there are
 *    zero, so any data may be there.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/conv_op.h"
#include "conv/conv_tile.h"
#include "conv/csc.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

/** \brief An entry of kKernels (tile_plan.cpp): precision and operand types of a TileKind */
struct TileKernel {
	TileKind kind;
	Precision precision;
	LineFormat lines;
	UnitFormat weights;
	uint32_t unitsAtOnce = 1; /**< the number of units in a run is a multiple of this */
};

/** \brief A kernel row, or one column of a row if the kernel is dilated */
struct TileTap {
	uint32_t row;
	uint32_t offset; /**< distance from the position's first operand, in elements */
	uint32_t elements;
	size_t unit = 0; /**< index of the first unit of the tap's weights */
};

/** \return lines of a cube, with the padding above and below that windows reach */
uint64_t paddedHeight(const Windows &windows);

/** \brief The layout for one operation, which must outlive the plan */
class TilePlan
{
public:
	/**
	 * \param op direct or image convolution
	 * \param positive INT8: no operand is below zero
	 */
	explicit TilePlan(const ConvOp &op, bool positive = false);

	const ConvOp &op;
	const TileKernel &kernel;
	uint32_t elementBytes; /**< bytes of an operand */
	uint32_t step;	       /**< elements from one output column to the next */
	/** True if kernels may have weights for only one channel of each atom (see ChannelWeights):
	 * there is one group, and one atom or several whole atoms of INT8. */
	bool mayBeChannelwise;
	const std::vector<Block> blocks; /**< blocks of each kernel's weights */
	uint32_t lineElements;		 /**< elements of a line that windows reach */
	std::vector<TileTap> taps;
	std::vector<TileRun> runs;
	size_t units = 0; /**< units of all runs */

	/** \return kernel groups that a panel has room for */
	uint32_t groupsAtOnce() const
	{
		return static_cast<uint32_t>(kTileColumns) / op.groupKernels();
	}
	/** \return true if each kernel column is a tap of its own */
	bool dilated() const { return op.windows.dilationX != 1; }
	/** \return operands of padding to add at the start of a line; 0 for images, whose lines in
	 * the buffer have padding already */
	size_t leftElements() const;
	/** \return elements of a line as it is buffered */
	size_t bufferedElements() const;
	/** \return bytes of a line with padding, with room to read a run's last two units; if
	 * mayBeChannelwise, with room to read all columns */
	size_t lineBytes() const;
	/** \return bytes between the operands of successive kernel rows */
	size_t rowBytes() const { return op.windows.dilationY * lineBytes(); }

private:
	/** \return the number of units for \a bytes, a multiple of kernel.unitsAtOnce */
	uint32_t wholeUnits(uint32_t bytes) const;
	void layTaps();
	void layRuns();
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * How the operands of a convolution are laid out for conv_tile.
 *
 * Lines get their padding, so that a kernel row is one run of elements in them
 * (with dilation, one run for each kernel column), and there are lines of padding above and
 * below, so that each run is as far from the first one for all positions. A run's elements are
 * multiplied in units of 4 bytes; where a run ends inside a unit, the weights are zero.
 *
 * The table of kernels (tile_plan.cpp) says what becomes of elements.
 *
 *  - INT8 in quads: weights + 128 as unsigned numbers; sums begin with -128 times the position's
 *    sum of data.
 *  - INT8 in matrices: in runs of as many units as a matrix has; behind their ends weights are
 *    zero, and what is read there may be anything.
 *
 * What 1x1 kernels meet is multiplied where it is in the convolution buffer, or in memory, if it
 * has the right size there: the channels of a column that follow each other are a run.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conv/conv_op.h"
#include "conv/conv_tile.h"
#include "conv/csc.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

/** \brief An entry of the table of kernels: what a TileKind is for, and what it wants */
struct TileKernel {
	TileKind kind;
	Precision precision;
	LineFormat lines;
	UnitFormat weights;
	uint32_t unitsAtOnce = 1; /**< what the units of a run are a multiple of */
};

/** \brief A kernel row, or one column of a dilated one */
struct TileTap {
	uint32_t row;
	uint32_t offset; /**< elements from the position's first */
	uint32_t elements;
	size_t unit = 0; /**< first unit of its weights */
};

/** \return lines of a cube with those of padding above and below that windows touch */
uint64_t paddedHeight(const Windows &windows);

/** \brief The layout for one operation, which must outlive it */
class TilePlan
{
public:
	/**
	 * \param op direct or image convolution
	 * \param positive INT8: no operand is below zero
	 * \param places see DataView
	 */
	TilePlan(const ConvOp &op, bool positive, const std::optional<AtomPlaces> &places);
	explicit TilePlan(const ConvOp &op, bool positive = false)
		: TilePlan(op, positive, bufferedPlaces(op))
	{
	}

	const ConvOp &op;
	const TileKernel &kernel;
	uint32_t elementBytes; /**< of an operand */
	uint32_t step;	       /**< elements from one output column to the next */
	bool inPlace;	       /**< operands are where CSC reads them */
	/** Kernels may have weights for one channel of each atom alone (ChannelWeights): there is
	 * one group, and one atom, or whole ones of INT8. */
	bool mayBeChannelwise;
	const std::vector<Block> blocks; /**< of weights */
	uint32_t lineElements; /**< that the windows touch; of what is buffered if inPlace */
	std::vector<TileTap> taps;
	std::vector<TileRun> runs;
	size_t units = 0; /**< of all runs */

	/** \return kernel groups that a panel has room for */
	uint32_t groupsAtOnce() const
	{
		return static_cast<uint32_t>(kTileColumns) / op.groupKernels();
	}
	/** \return the kernel has its columns in taps of their own */
	bool dilated() const { return op.windows.dilationX != 1; }
	/** \return operands of padding that a line begins with; an image's have it as they are */
	size_t leftElements() const;
	/** \return elements of a line as it is buffered */
	size_t bufferedElements() const;
	/** \return bytes of a padded line: a run may read to the end of its last double unit, and
	 * where kernels have one channel each, operands of all columns are read */
	size_t lineBytes() const;
	/** \return inPlace: elements of all columns that follow each other, one run of each */
	size_t columnElements() const
	{
		return op.windows.data.width * places_.column / elementBytes;
	}
	/** \return bytes from a kernel row's operands to the next one's */
	size_t rowBytes() const { return op.windows.dilationY * lineBytes(); }

private:
	/** \return units of as many bytes, or of some more if they are worked on together */
	uint32_t wholeUnits(uint32_t bytes) const;
	void stayInPlace();
	void layTaps();
	void layRuns();

	AtomPlaces places_; /* if inPlace */
};

} /* namespace nvdla::sim */

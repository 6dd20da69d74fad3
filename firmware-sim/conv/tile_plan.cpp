/* SPDX-License-Identifier: MIT */
#include "conv/tile_plan.h"

#include <algorithm>

#include "conv/cbuf.h"

namespace nvdla::sim
{

namespace
{

/* Ways to multiply in each precision. For INT8, the choice depends on host and operation. */
constexpr TileKernel kKernels[] = {
	{ TileKind::Rows, Precision::Int8, LineFormat::Bytes, UnitFormat::Bytes },
	{ TileKind::Matrices, Precision::Int8, LineFormat::Bytes, UnitFormat::Bytes, kMatrixUnits },
	{ TileKind::Quads, Precision::Int8, LineFormat::Unsigned, UnitFormat::Bytes },
	{ TileKind::Bytes, Precision::Int8, LineFormat::Bytes, UnitFormat::Bytes },
	{ TileKind::Pairs, Precision::Int8, LineFormat::WideBytes, UnitFormat::WideBytes },
	{ TileKind::Pairs, Precision::Int16, LineFormat::Bytes, UnitFormat::Bytes },
	{ TileKind::Float, Precision::Fp16, LineFormat::Floats, UnitFormat::Float },
};

/** \return true if there is a single position, whose window has no padding */
bool isOnePosition(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const CubeSize &kernel = windows.kernel;

	return op.mode == ConvMode::Direct && op.batches == 1 && windows.out.width == 1 &&
	       windows.out.height == 1 && windows.padLeft == 0 && windows.padTop == 0 &&
	       kernel.channels == windows.data.channels &&
	       (kernel.width - 1) * windows.dilationX < windows.data.width &&
	       (kernel.height - 1) * windows.dilationY < windows.data.height;
}

TileKind kindFor(const ConvOp &op, bool positive)
{
	switch (op.precision) {
	case Precision::Int8:
		if (isOnePosition(op) && op.groupKernels() == kTileColumns &&
		    op.geometry->macChannels == kMacLanes)
			return TileKind::Rows;
		if (tileKind() == TileKind::None || (tileKind() == TileKind::Bytes && !positive))
			return TileKind::Pairs;
		if (tileKind() == TileKind::Matrices && op.groupKernels() < kFewColumns)
			return TileKind::Quads; /* hosts with matrix instructions have Quads too */
		return tileKind();
	case Precision::Int16:
		return TileKind::Pairs;
	default:
		return TileKind::Float;
	}
}

/* The size of a line in bytes is a multiple of this number. */
constexpr size_t kLineAlignment = 64;

/** \return true if the shape allows depthwise weights: a single group, in which kernel k may have
 * weights for channel k of each atom only */
bool hasOneGroup(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const uint32_t channels = windows.kernel.channels;

	if (op.mode != ConvMode::Direct || channels != windows.data.channels ||
	    op.atom() != atomBytes || windows.kernels > std::min(channels, op.groupKernels()))
		return false;
	return channels <= op.groupKernels() ||
	       (op.precision == Precision::Int8 && channels % op.groupKernels() == 0);
}

const TileKernel &kernelFor(const ConvOp &op, bool positive)
{
	const TileKind kind = kindFor(op, positive);

	return *std::ranges::find_if(kKernels, [&](const TileKernel &kernel) {
		return kernel.kind == kind && kernel.precision == op.precision;
	});
}

} /* namespace */

TilePlan::TilePlan(const ConvOp &operation, bool positive)
	: op(operation), kernel(kernelFor(op, positive)),
	  elementBytes(
		  static_cast<uint32_t>(sim::elementBytes(op.precision) * growthOf(kernel.lines))),
	  step(op.windows.strideX * op.windows.data.channels),
	  mayBeChannelwise(kernel.kind != TileKind::Rows && hasOneGroup(op) &&
			   tileKind() != TileKind::None),
	  blocks(makeBlocks(op))
{
	const Windows &windows = op.windows;

	lineElements = (windows.out.width - 1) * step +
		       (windows.kernel.width - 1) * windows.dilationX * windows.data.channels +
		       windows.kernel.channels;
	layTaps();
	layRuns();
}

uint64_t paddedHeight(const Windows &windows)
{
	const uint64_t first = uint64_t{ windows.out.height - 1 } * windows.strideY;
	const uint64_t touched = uint64_t{ windows.kernel.height - 1 } * windows.dilationY + 1;

	return std::max(first + touched, uint64_t{ windows.padTop } + windows.data.height);
}

size_t TilePlan::leftElements() const
{
	const Windows &windows = op.windows;

	return op.mode == ConvMode::Image ? 0 : size_t{ windows.padLeft } * windows.data.channels;
}

size_t TilePlan::bufferedElements() const
{
	const CubeSize &data = op.windows.data;

	if (op.mode == ConvMode::Image)
		return size_t{ op.bufferedEntries() } * op.geometry->entryBytes /
		       sim::elementBytes(op.precision);
	return size_t{ data.width } * data.channels;
}

size_t TilePlan::lineBytes() const
{
	constexpr size_t kMostBehind = kFewColumns * sizeof(float);
	const size_t touched = size_t{ lineElements } * elementBytes + kMostBehind;

	/* The size includes elements that no window reaches: TileLines writes these, too. */
	const size_t bytes =
		std::max(touched, (leftElements() + bufferedElements()) * elementBytes);

	return (bytes + kLineAlignment - 1) / kLineAlignment * kLineAlignment;
}

uint32_t TilePlan::wholeUnits(uint32_t bytes) const
{
	const uint32_t atOnce = kernel.unitsAtOnce * static_cast<uint32_t>(kUnitBytes);

	return (bytes + atOnce - 1) / atOnce * kernel.unitsAtOnce;
}

void TilePlan::layTaps()
{
	const CubeSize &size = op.windows.kernel;
	const uint32_t columns = dilated() ? size.width : 1;
	const uint32_t elements = size.channels * (dilated() ? 1 : size.width);

	taps.reserve(size_t{ size.height } * columns);
	for (uint32_t row = 0; row < size.height; row++)
		for (uint32_t column = 0; column < columns; column++)
			taps.push_back({ row,
					 column * op.windows.dilationX * op.windows.data.channels,
					 elements });
}

void TilePlan::layRuns()
{
	runs.reserve(taps.size());
	for (TileTap &tap : taps) {
		const uint32_t count = wholeUnits(tap.elements * elementBytes);

		tap.unit = units;
		runs.push_back(
			{ tap.row * rowBytes() + size_t{ tap.offset } * elementBytes, count });
		units += count;
	}
}

} /* namespace nvdla::sim */

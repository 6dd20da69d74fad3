/* SPDX-License-Identifier: MIT */
#include "conv/tile_plan.h"

#include <algorithm>

#include "conv/cbuf.h"

namespace nvdla::sim
{

namespace
{

TileKind kindFor(Precision precision, bool positive)
{
	switch (precision) {
	case Precision::Int8:
		return tileKind() == TileKind::Bytes && !positive ? TileKind::Pairs : tileKind();
	case Precision::Int16:
		return TileKind::Pairs;
	default:
		return TileKind::Float;
	}
}

uint32_t operandBytes(TileKind kind)
{
	switch (kind) {
	case TileKind::Quads:
	case TileKind::SignedQuads:
	case TileKind::Bytes:
	case TileKind::Matrices:
		return 1;
	case TileKind::Pairs:
		return 2;
	default:
		return 4;
	}
}

/* What lines are a multiple of, bytes: a row is as far into its line as its run is. */
constexpr size_t kLineAlignment = 64;

/** \return each window is a column of the cube */
bool isColumns(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const CubeSize &data = windows.data;

	return op.mode == ConvMode::Direct && windows.kernel.width == 1 &&
	       windows.kernel.height == 1 && windows.kernel.channels == data.channels &&
	       windows.padLeft == 0 && windows.padTop == 0 &&
	       uint64_t{ windows.out.width - 1 } * windows.strideX < data.width &&
	       uint64_t{ windows.out.height - 1 } * windows.strideY < data.height;
}

/** \return the sums of all positions' data take less time than those of all kernels' weights */
bool hasFewPositions(const ConvOp &op)
{
	const CubeSize &out = op.windows.out;

	return uint64_t{ out.width } * out.height * op.batches < op.windows.kernels;
}

/** \return kernels may have weights for one channel of each atom, in one group that has all */
bool hasOneGroup(const ConvOp &op)
{
	const Windows &windows = op.windows;
	const uint32_t channels = windows.kernel.channels;

	if (op.mode != ConvMode::Direct || channels != windows.data.channels ||
	    windows.kernels > std::min(channels, op.groupKernels()))
		return false;
	return channels <= op.groupKernels() ||
	       (op.precision == Precision::Int8 && channels % op.groupKernels() == 0);
}

} /* namespace */

TilePlan::TilePlan(const ConvOp &operation, bool positive, const std::optional<AtomPlaces> &places)
	: op(operation), kind(kindFor(op.precision, positive)), elementBytes(operandBytes(kind)),
	  step(op.windows.strideX * op.windows.data.channels),
	  inPlace(places && mayRead(*places) && elementBytes == sim::elementBytes(op.precision) &&
		  isColumns(op)),
	  mayBeChannelwise(!inPlace && hasOneGroup(op)), places_(places.value_or(AtomPlaces{}))
{
	const Windows &windows = op.windows;

	lineElements = (windows.out.width - 1) * step +
		       (windows.kernel.width - 1) * windows.dilationX * windows.data.channels +
		       windows.kernel.channels;
	if (kind == TileKind::Quads && (inPlace || (!mayBeChannelwise && hasFewPositions(op))))
		kind = TileKind::SignedQuads;
	if (inPlace)
		stayInPlace();
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

	/* All elements are put, also those that no window touches. */
	const size_t bytes =
		std::max(touched, (leftElements() + bufferedElements()) * elementBytes);

	return (bytes + kLineAlignment - 1) / kLineAlignment * kLineAlignment;
}

size_t TilePlan::alignment() const
{
	size_t multiples = kLineAlignment | places_.column | size_t{ step } * elementBytes;

	for (const TileRun &run : runs)
		multiples |= run.offset;
	return multiples & -multiples;
}

uint32_t TilePlan::wholeUnits(uint32_t bytes) const
{
	const uint32_t atOnce = unitsAtOnce() * static_cast<uint32_t>(kUnitBytes);

	return (bytes + atOnce - 1) / atOnce * unitsAtOnce();
}

void TilePlan::stayInPlace()
{
	const uint32_t bytes = op.entriesOf(op.windows.data.width) * op.geometry->entryBytes;

	step = op.windows.strideX * places_.column / elementBytes;
	lineElements = bytes / elementBytes;
}

void TilePlan::layTaps()
{
	const CubeSize &kernel = op.windows.kernel;
	const uint32_t columns = dilated() ? kernel.width : 1;
	const uint32_t elements = kernel.channels * (dilated() ? 1 : kernel.width);

	for (uint32_t row = 0; row < kernel.height; row++)
		for (uint32_t column = 0; column < columns; column++)
			taps.push_back({ row,
					 column * op.windows.dilationX * op.windows.data.channels,
					 elements });
}

void TilePlan::layRuns()
{
	for (TileTap &tap : taps) {
		const uint32_t count = wholeUnits(tap.elements * elementBytes);
		/* Less than is worked on at once is all there is. */
		const uint32_t most = inPlace ? wholeUnits(places_.column) : count;

		tap.unit = units;
		for (uint32_t unit = 0; unit < count; unit += most)
			runs.push_back({ tap.row * rowBytes() +
						 size_t{ tap.offset } * elementBytes +
						 size_t{ unit } / most * places_.next,
					 std::min(most, count - unit) });
		units += count;
	}
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include "conv/tile_plan.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

/* INT16: sums of this many products of 16 by 8 bits stay below 2^31. */
constexpr uint32_t kProductsIn32Bits = 256;

TileKind kindFor(Precision precision, bool narrow)
{
	switch (precision) {
	case Precision::Int8:
		return tileKind();
	case Precision::Int16:
		return narrow ? TileKind::NarrowPairs : TileKind::Pairs;
	default:
		return TileKind::Float;
	}
}

uint32_t operandBytes(TileKind kind)
{
	switch (kind) {
	case TileKind::Quads:
		return 1;
	case TileKind::Pairs:
	case TileKind::NarrowPairs:
		return 2;
	default:
		return 4;
	}
}

} /* namespace */

TilePlan::TilePlan(const ConvOp &operation, bool narrow)
	: op(operation), kind(kindFor(op.precision, narrow)), elementBytes(operandBytes(kind)),
	  step(op.windows.strideX * op.windows.data.channels)
{
	const Windows &windows = op.windows;

	lineElements = (windows.out.width - 1) * step +
		       (windows.kernel.width - 1) * windows.dilationX * windows.data.channels +
		       windows.kernel.channels;
	layTaps();
	layRuns(op.precision == Precision::Int16 && !narrow ? kProductsIn32Bits / perUnit()
							    : UINT32_MAX);
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

void TilePlan::layRuns(uint32_t limit)
{
	uint32_t inSegment = limit;

	for (TileTap &tap : taps) {
		uint32_t left = (tap.elements + perUnit() - 1) / perUnit();
		uint32_t offset = tap.offset * elementBytes;

		tap.unit = units;
		while (left > 0) {
			if (inSegment == limit) {
				segments.push_back({ runs.size(), 0, units });
				inSegment = 0;
			}
			const uint32_t count = std::min(left, limit - inSegment);
			runs.push_back({ tap.row, offset, count });
			segments.back().runs++;
			inSegment += count;
			left -= count;
			units += count;
			offset += static_cast<uint32_t>(count * kUnitBytes);
		}
	}
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include "conv/tile_plan.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

TileKind kindFor(Precision precision)
{
	switch (precision) {
	case Precision::Int8:
		return tileKind();
	case Precision::Int16:
		return TileKind::FewPairs;
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
	case TileKind::FewPairs:
		return 2;
	default:
		return 4;
	}
}

} /* namespace */

TilePlan::TilePlan(const ConvOp &operation)
	: op(operation), kind(kindFor(op.precision)), elementBytes(operandBytes(kind)),
	  step(op.windows.strideX * op.windows.data.channels)
{
	const Windows &windows = op.windows;

	lineElements = (windows.out.width - 1) * step +
		       (windows.kernel.width - 1) * windows.dilationX * windows.data.channels +
		       windows.kernel.channels;
	layTaps();
	layRuns();
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
		const uint32_t count = (tap.elements + perUnit() - 1) / perUnit();

		tap.unit = units;
		runs.push_back({ tap.row, tap.offset * elementBytes, count });
		units += count;
	}
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * What conv_tile adds up, to read.
 */
#include <bit>
#include <cmath>
#include <cstring>

#include "conv/cacc.h"
#include "conv/conv_tile.h"

namespace nvdla::sim
{

namespace
{

template<typename Number>
Number numberAt(const std::byte *at)
{
	Number number;
	std::memcpy(&number, at, sizeof(number));
	return number;
}

/** \return the products of numbers in a unit's operands and a column's weights, added up */
template<typename Data, typename Weight>
int64_t unitSum(const std::byte *data, const std::byte *weights)
{
	int64_t sum = 0;

	for (size_t i = 0; i < kUnitBytes / sizeof(Data); i++)
		sum += int64_t{ numberAt<Data>(data + i * sizeof(Data)) } *
		       numberAt<Weight>(weights + i * sizeof(Weight));
	return sum;
}

/** Calls with a unit's operands and a column's weights, one unit after the other */
template<typename Use>
void forEachUnit(const TilePosition &position, const Panel &panel, size_t column, Use use)
{
	const int32_t *weight = panel.weights + column;

	for (const TileRun &run : panel.runs) {
		const std::byte *at = position.at + run.offset;
		for (uint32_t unit = 0; unit < run.units; unit++, at += kUnitBytes) {
			use(at, reinterpret_cast<const std::byte *>(weight));
			weight += kTileColumns;
		}
	}
}

int32_t floatSum(const TilePosition &position, const Panel &panel, size_t column)
{
	float sum = 0;

	forEachUnit(position, panel, column, [&](const std::byte *data, const std::byte *weight) {
		sum += numberAt<float>(data) * numberAt<float>(weight);
	});
	return std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
}

int64_t integerSum(TileKind kind, const TilePosition &position, const Panel &panel, size_t column)
{
	int64_t sum = int64_t{ position.start } + panel.start[column];

	forEachUnit(position, panel, column, [&](const std::byte *data, const std::byte *weight) {
		if (kind == TileKind::Quads)
			sum += unitSum<uint8_t, int8_t>(data, weight);
		else if (kind == TileKind::SignedQuads)
			sum += unitSum<int8_t, uint8_t>(data, weight);
		else if (kind == TileKind::Matrices || kind == TileKind::Bytes)
			sum += unitSum<int8_t, int8_t>(data, weight);
		else
			sum += unitSum<int16_t, int16_t>(data, weight);
	});
	return sum;
}

} /* namespace */

uint32_t tileSumsReference(TileKind kind, std::span<const TilePosition> positions,
			   const Panel &panel, const TileSums &sums)
{
	const uint32_t truncate = kind == TileKind::WidePairs ? panel.truncate : 0;
	uint32_t clipped = 0;

	for (size_t p = 0; p < positions.size(); p++) {
		for (size_t column = 0; column < kTileColumns; column++) {
			bool saturated = false;
			if (kind == TileKind::Float) {
				*sums.at(p, column) = floatSum(positions[p], panel, column);
				continue;
			}
			const IntegerSum sum = { integerSum(kind, positions[p], panel, column) };
			*sums.at(p, column) = sum.deliver(truncate, saturated);
			clipped += saturated;
		}
	}
	return clipped;
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include "conv/wide_sums.h"

#include <algorithm>

#include "conv/cacc.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

namespace
{

constexpr size_t kPositionsAtOnce = 32;
constexpr size_t kSums = kPositionsAtOnce * kTileColumns;
constexpr int kByteBits = 8;
constexpr int32_t kByte = (1 << kByteBits) - 1;

/** Adds \a factor times the products of all runs to \a sums, \a unitsAtOnce units at a time */
void addRuns(std::span<const TilePosition> positions, Panel panel, uint32_t unitsAtOnce,
	     int64_t factor, IntegerSum *sums)
{
	std::span<const TileRun> left = panel.runs;
	int32_t part[kSums];

	while (!left.empty()) {
		size_t count = 0, units = 0;
		while (count < left.size() && units + left[count].units <= unitsAtOnce)
			units += left[count++].units;
		panel.runs = left.first(count);
		left = left.subspan(count);
		tileSums(TileKind::Pairs, positions, panel, { part });
		panel.weights += units * kTileColumns;
		for (size_t i = 0; i < positions.size() * kTileColumns; i++)
			sums[i].value += part[i] * factor;
	}
}

int32_t lowerBytes(int32_t pair)
{
	return pair & (kByte << 16 | kByte);
}

int32_t upperBytes(int32_t pair)
{
	const auto first = static_cast<int16_t>(pair);

	return pair >> (16 + kByteBits) << 16 | (first >> kByteBits & UINT16_MAX);
}

} /* namespace */

bool WideWeights::load(const Panel &panel, uint32_t largest)
{
	constexpr uint64_t kFewUnits = 64;
	const std::span weights(panel.weights, panel.units() * kTileColumns);
	const uint64_t pair = magnitudesOf(std::as_bytes(weights).data(), weights.size() * 2).pair;
	const uint64_t unit = std::max<uint64_t>(largest * pair, 1);

	const bool fits = unit * panel.units() <= INT32_MAX;
	const bool inBytes = !fits && unit * kFewUnits > INT32_MAX;
	unitsAtOnce_ = static_cast<uint32_t>(INT32_MAX /
					     (inBytes ? uint64_t{ largest } * 2 * kByte : unit));
	runs_.clear();
	for (const TileRun &run : panel.runs) {
		for (uint32_t first = 0; first < run.units; first += unitsAtOnce_)
			runs_.push_back({ run.offset + first * kUnitBytes,
					  std::min(unitsAtOnce_, run.units - first) });
	}
	parts_ = { { panel.weights, 1 } };
	if (inBytes) {
		lower_.resize(weights.size());
		upper_.resize(weights.size());
		std::ranges::transform(weights, lower_.begin(), lowerBytes);
		std::ranges::transform(weights, upper_.begin(), upperBytes);
		parts_ = { { lower_.data(), 1 }, { upper_.data(), kByte + 1 } };
	}
	return !fits;
}

uint32_t WideWeights::sums(std::span<const TilePosition> positions, const Panel &panel,
			   uint32_t truncate, const TileSums &out) const
{
	uint32_t clipped = 0;

	for (size_t first = 0; first < positions.size(); first += kPositionsAtOnce) {
		const auto some = positions.subspan(
			first, std::min(kPositionsAtOnce, positions.size() - first));
		IntegerSum sums[kSums] = {};
		for (const auto &[weights, factor] : parts_)
			addRuns(some, { .runs = runs_, .weights = weights, .used = panel.used },
				unitsAtOnce_, factor, sums);
		for (size_t i = 0; i < some.size() * kTileColumns; i++) {
			bool saturated = false;
			*out.at(first + i / kTileColumns, i % kTileColumns) =
				sums[i].deliver(truncate, saturated);
			clipped += saturated;
		}
	}
	return clipped;
}

} /* namespace nvdla::sim */

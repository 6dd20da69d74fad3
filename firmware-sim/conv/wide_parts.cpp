/* SPDX-License-Identifier: MIT */
#include "conv/wide_tile.h"

namespace nvdla::sim
{

namespace
{

/*
 * How many chunks may not fit, for chunks of this length to take less time than those of half
 * the length. Chunks that do not fit are added unit by unit. Putting a chunk's sum away takes
 * about as long as half a unit and more, another kind of part some units.
 */
size_t mostUnfit(uint32_t chunk, size_t chunks)
{
	return chunk == 1 ? 0 : 3 * chunks / (3 * chunk + 7);
}

void appendPart(std::vector<WidePart> &parts, uint32_t units, uint32_t chunk, bool begins)
{
	if (!begins && parts.back().chunk == chunk)
		parts.back().units += units;
	else
		parts.push_back({ units, chunk });
}

} /* namespace */

std::vector<WidePart> wideParts(std::span<const TileRun> runs, const int32_t *weights,
				Int16Range data)
{
	std::vector<WidePart> parts;
	std::vector<uint8_t> unfit;

	for (const TileRun &run : runs) {
		uint32_t chunk = 64;
		unfit.resize(run.units);
		for (;; chunk /= 2) {
			const size_t most = mostUnfit(chunk, (run.units + chunk - 1) / chunk);
			if (findUnfit(weights, run.units, chunk, data, most, unfit.data()) <= most)
				break;
			if (chunk == 1)
				return {};
		}
		for (uint32_t unit = 0; unit < run.units; unit += chunk)
			appendPart(parts, std::min(chunk, run.units - unit),
				   unfit[unit / chunk] ? 1 : chunk, unit == 0);
		weights += size_t{ run.units } * kFewColumns;
	}
	return parts;
}

} /* namespace nvdla::sim */

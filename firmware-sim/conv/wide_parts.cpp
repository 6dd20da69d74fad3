/* SPDX-License-Identifier: MIT */
#include "conv/wide_tile.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kHalved = WideParts::kHalvedChunk;

/*
 * How many chunks may not fit, for chunks of this length to take less time than those of half
 * the length. Chunks that do not fit are added unit by unit; carrying a chunk's sum on takes as
 * long as a unit, another kind of part some units.
 */
size_t mostUnfit(uint32_t chunk, size_t chunks)
{
	return chunks / (chunk + 6);
}

/** A run's weights, and what they meet */
struct RunWeights {
	const int32_t *weights;
	uint32_t units;
	Int16Range data;

	/** \return how many chunks of that length there are */
	size_t chunks(uint32_t chunk) const { return (units + chunk - 1) / chunk; }

	/**
	 * \param unfit for each chunk 1 or 0: its sum may not fit
	 * \return false, with \a unfit incomplete, if there are more than \a most
	 */
	bool find(uint32_t chunk, size_t most, std::vector<uint8_t> &unfit) const
	{
		unfit.resize(chunks(chunk));
		return findUnfit(weights, units, chunk, data, most, unfit.data()) <= most;
	}

	/** \return each unit's sum fits */
	bool unitsFit() const
	{
		std::vector<uint8_t> unfit;
		return find(1, 0, unfit);
	}
};

bool any(const std::vector<uint8_t> &flags)
{
	return std::ranges::any_of(flags, [](uint8_t flag) { return flag; });
}

/** Puts parts together, run by run */
class PartList
{
public:
	WideParts take() { return std::move(all_); }

	/** Chunks of that length, those that are unfit unit by unit */
	void addRun(uint32_t units, uint32_t chunk, const std::vector<uint8_t> &unfit)
	{
		begins_ = true;
		for (uint32_t unit = 0; unit < units; unit += chunk)
			append(std::min(chunk, units - unit), unfit[unit / chunk] ? 1 : chunk);
	}

	/** Chunks of kHalved \param unfit those of them that are \param halves that have such a
	 * half */
	void addHalvedRun(uint32_t units, const std::vector<uint8_t> &unfit,
			  const std::vector<uint8_t> &halves)
	{
		begins_ = true;
		for (size_t i = 0; i < unfit.size(); i++) {
			const auto before = static_cast<uint32_t>(i) * kHalved;
			append(std::min(kHalved, units - before), halves[i] ? 1 : kHalved);
			if (!halves[i])
				all_.halved.push_back(unfit[i]);
		}
	}

private:
	void append(uint32_t units, uint32_t chunk)
	{
		if (!begins_ && all_.parts.back().chunk == chunk)
			all_.parts.back().units += units;
		else
			all_.parts.push_back({ units, chunk });
		begins_ = false;
	}

	WideParts all_;
	bool begins_ = true; /* what comes next is a run's first */
};

} /* namespace */

WideParts wideParts(std::span<const TileRun> runs, const int32_t *weights, Int16Range data)
{
	constexpr uint32_t kLongest = 64;
	std::vector<uint8_t> unfit;
	std::vector<uint8_t> halves;
	PartList list;

	for (const TileRun &run : runs) {
		const RunWeights all = { weights, run.units, data };
		uint32_t chunk = kLongest;

		while (chunk > kHalved &&
		       !all.find(chunk, mostUnfit(chunk, all.chunks(chunk)), unfit))
			chunk /= 2;
		bool hasUnfit = any(unfit);
		if (chunk == kHalved) {
			unfit.resize(all.chunks(kHalved));
			halves.resize(unfit.size());
			hasUnfit =
				findHalved(weights, run.units, data, unfit.data(), halves.data());
		}
		if (hasUnfit && !all.unitsFit())
			return {};
		if (chunk == kHalved)
			list.addHalvedRun(run.units, unfit, halves);
		else
			list.addRun(run.units, chunk, unfit);
		weights += size_t{ run.units } * kFewColumns;
	}
	return list.take();
}

} /* namespace nvdla::sim */

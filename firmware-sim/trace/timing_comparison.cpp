/* SPDX-License-Identifier: MIT */
#include "trace/timing_comparison.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "trace/sequence.h"

namespace nvdla::sim
{

std::optional<TimingComparison> compareTiming(const SuiteRun &run)
{
	const auto trace = loadTrace(run.directory);
	if (!trace)
		return std::nullopt;
	const auto sequence = sequenceOf(run, *trace);
	if (!sequence || sequence->steps.empty() || sequence->masked)
		return std::nullopt;
	const auto meta = loadMeta(run.directory);
	if (!meta.contains("rtl_cycles") || !meta["rtl_cycles"].is_number_unsigned() ||
	    meta["rtl_cycles"] == 0)
		return std::nullopt;
	return TimingComparison{ static_cast<uint64_t>(std::llround(sequence->lastCycles())),
				 meta["rtl_cycles"].get<uint64_t>() };
}

std::map<std::string, TimingSummary> summarizeTiming(const std::vector<SuiteRun> &runs)
{
	std::map<std::string, TimingSummary> summaries;
	std::map<std::string, double> logarithms;

	for (const SuiteRun &run : runs) {
		const auto compared = compareTiming(run);
		if (!compared)
			continue;
		const std::string name = run.directory.parent_path().filename().string();
		TimingSummary &summary = summaries[name];
		const double ratio = compared->ratio();
		summary.traces++;
		summary.worst = std::max({ summary.worst, ratio, 1 / ratio });
		logarithms[name] += std::log(ratio);
		summary.geometricMean = std::exp(logarithms[name] / summary.traces);
	}
	return summaries;
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include "tools/report/words.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

namespace nvdla::report
{

namespace
{

const char *kindName(RangeKind kind)
{
	switch (kind) {
	case RangeKind::Constant:
		return "constants";
	case RangeKind::Intermediate:
		return "surfaces";
	case RangeKind::Input:
		return "input";
	case RangeKind::Output:
		return "output";
	}
	return "";
}

/* Returns the most bytes of ranges that are in use at the same step. A range is in use from its
 * first to its last step, so the sum changes only at these steps. */
uint64_t mostInUse(const std::vector<const AssembledRange *> &ranges)
{
	std::map<size_t, int64_t> changes;
	int64_t now = 0, most = 0;

	for (const AssembledRange *range : ranges) {
		changes[range->firstStep] += static_cast<int64_t>(range->size);
		changes[range->lastStep + 1] -= static_cast<int64_t>(range->size);
	}
	for (const auto &[step, change] : changes) {
		now += change;
		most = std::max(most, now);
	}
	return static_cast<uint64_t>(most);
}

/* Returns where a layer is computed (core, CPU or host) and the reason. */
std::string placeOf(const LayerReport &layer)
{
	if (!layer.host.empty())
		return "host: " + layer.host;
	if (layer.operations.empty())
		return "nothing to do";
	const size_t count = layer.operations.size();
	std::string text = layer.cpu.empty() ? fmt::format("core, {} operation{}", count,
							   count == 1 ? "" : "s")
					     : "CPU: " + layer.cpu;
	for (const std::string &constant : layer.inexact)
		text += "; " + constant;
	if (!layer.cpu.empty())
		return text;
	for (const LayerChoice &choice : layer.choices) {
		const LayerChoice::Candidate &taken = choice.candidates[choice.chosen];
		if (choice.chosen)
			text += fmt::format("; {}: {:.0f} cycles, otherwise {:.0f}", taken.what,
					    taken.cycles, choice.candidates.front().cycles);
	}
	return text;
}

} /* namespace */

std::string whereOf(const ModelReport &report, const LayerReport &layer)
{
	const auto node = report.nodes.find(layer.name);

	return placeOf(layer) + (node == report.nodes.end() ? "" : "; node " + node->second);
}

std::string hostText(const CompileReport &report)
{
	const auto isHost = [](const LayerReport &layer) { return !layer.host.empty(); };
	const auto count = std::ranges::count_if(report.layers, isHost);
	const uint64_t all = report.coreMacs + report.hostMacs;

	if (!count)
		return {};
	std::string text =
		fmt::format("host: computes {} of {} layers", count, report.layers.size());
	if (all)
		text += fmt::format(", the core {:.1f}% of {} multiplications",
				    100.0 * static_cast<double>(report.coreMacs) /
					    static_cast<double>(all),
				    all);
	return text + '\n';
}

std::string decibels(double ratio)
{
	return std::isinf(ratio) && ratio > 0 ? "exact" : fmt::format("{:.1f} dB", ratio);
}

std::string useText(const Cost &cost)
{
	return cost.macs ? fmt::format("{:.1f}%", 100 * cost.macUse) : "-";
}

std::vector<const LayerReport *> losers(const CompileReport &report)
{
	constexpr size_t most = 3;
	std::vector<const LayerReport *> layers;

	for (const LayerReport &layer : report.layers) {
		if (layer.error && !std::isinf(layer.error->ownRatio))
			layers.push_back(&layer);
	}
	std::stable_sort(layers.begin(), layers.end(),
			 [](const LayerReport *a, const LayerReport *b) {
				 return a->error->ownRatio < b->error->ownRatio;
			 });
	layers.resize(std::min(layers.size(), most));
	return layers;
}

bool isCalibrated(const CompileReport &report)
{
	return std::any_of(report.layers.begin(), report.layers.end(),
			   [](const LayerReport &layer) { return layer.error.has_value(); });
}

std::vector<MemoryUse> memoryUses(const CompiledModel &model)
{
	std::vector<MemoryUse> uses;

	for (const Memory &memory : model.loadable.memories) {
		MemoryUse use = { &memory, "descriptors", {}, memory.size };
		for (const AssembledRange &range : model.report.ranges) {
			if (range.memory != memory.id)
				continue;
			use.ranges.push_back(&range);
			use.what = kindName(range.kind);
		}
		if (use.what == "surfaces")
			use.inUse = mostInUse(use.ranges);
		uses.push_back(std::move(use));
	}
	return uses;
}

const char *domainName(MemoryDomain domain)
{
	return domain == MemoryDomain::Sram ? "SRAM" : "DRAM";
}

} /* namespace nvdla::report */

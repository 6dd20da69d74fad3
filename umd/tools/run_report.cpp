/* SPDX-License-Identifier: MIT */
#include "run_report.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tensor_io.h"
#include "tools/prof/profile_json.h"
#include "tools/prof/profile_table.h"

namespace nvdla::tools
{

namespace
{

double milliseconds(std::chrono::nanoseconds duration)
{
	return std::chrono::duration<double, std::milli>(duration).count();
}

nlohmann::json tensorJson(const TensorDesc &desc)
{
	nlohmann::json quantization = nlohmann::json::array();

	for (const auto &[scale, zeroPoint] : desc.quantization.values())
		quantization.push_back({ { "scale", scale }, { "zero_point", zeroPoint } });
	return { { "name", desc.name },
		 { "shape", { desc.n, desc.c, desc.h, desc.w } },
		 { "type", (desc.isUnsigned ? "u" : "") + std::string(dataTypeName(desc.type)) },
		 { "layout", pixelFormatName(desc.format) },
		 { "quantization", quantization },
		 { "bytes", desc.size } };
}

nlohmann::json reportJson(const RunReport &report)
{
	nlohmann::json steps = nlohmann::json::array();

	for (const RunReport::Step &step : report.steps)
		steps.push_back({ { "where", step.cpu ? "cpu" : "device" },
				  { "tasks", step.tasks },
				  { "operations", step.operations },
				  { "ms", milliseconds(step.duration) } });
	return { { "ms", milliseconds(report.duration) }, { "steps", steps } };
}

/* Sum of a counter, such as that of NaNs, over operations. Operations that have at most
 * \a accepted of these values are left out. */
struct Tally {
	uint64_t accepted = 0;
	uint64_t numbers = 0;
	unsigned operations = 0;

	void add(uint64_t more)
	{
		if (more <= accepted)
			return;
		numbers += more;
		operations++;
	}
	/* noun: name of one value ("NaN"); what: text behind the noun, such as " saturated" */
	std::string text(const char *noun, const char *what) const
	{
		return fmt::format("{} {}{}{} in {} operation{}", numbers, noun,
				   numbers == 1 ? "" : "s", what, operations,
				   operations == 1 ? "" : "s");
	}
	nlohmann::json json() const
	{
		return { { "above", accepted },
			 { "numbers", numbers },
			 { "operations", operations } };
	}
};

/* The core's counters of a run. */
struct Findings {
	bool counted = false; /* true if at least one operation has counters */
	Tally saturated;      /* saturated values in outputs */
	Tally nan;	      /* NaNs in inputs, weights and outputs */
	Tally lutMisses;      /* values outside the look-up tables */
};

Findings findingsOf(const RunReport &report, const RunSettings &settings)
{
	Findings found{ .saturated = { settings.saturatedAbove },
			.nan = { settings.nanAbove },
			.lutMisses = { settings.lutMissesAbove } };

	for (const RunReport::Step &step : report.steps) {
		for (const OperationReport &result : step.results) {
			if (!result.counted)
				continue;
			found.counted = true;
			found.saturated.add(result.saturation);
			found.nan.add(uint64_t{ result.nanInput } + result.nanWeight +
				      result.nanOutput);
			found.lutMisses.add(uint64_t{ result.lut.underflow } + result.lut.overflow);
		}
	}
	return found;
}

/* Returns the label of an element; empty unless every number of the output has a label. */
std::string labelOf(const std::vector<std::string> &labels, const TensorDesc &desc, size_t index)
{
	return desc.elements() == labels.size() ? labels[index] : "";
}

} /* namespace */

Result<void> printText(const RunSettings &settings, const RunOutcome &outcome)
{
	const auto &[network, notes, reports, labels, profile, surfaces] = outcome;
	double sum = 0.0;
	double best = milliseconds(reports.front().duration);

	for (const RunReport &report : reports) {
		sum += milliseconds(report.duration);
		best = std::min(best, milliseconds(report.duration));
	}
	for (const std::string &note : notes)
		fmt::print("{}{}", note, note.empty() ? "" : "\n");
	if (profile)
		fmt::print("{}\n", prof::profileTable(*profile));
	if (settings.verbose) {
		for (const RunReport::Step &step : reports.back().steps)
			fmt::print("{:<6} {} tasks, {} operations: {:.3f} ms\n",
				   step.cpu ? "cpu" : "device", step.tasks, step.operations,
				   milliseconds(step.duration));
	}
	fmt::print("{}: {} run{} on {}, {:.3f} ms each, best {:.3f} ms\n", settings.network.path,
		   reports.size(), reports.size() == 1 ? "" : "s",
		   prof::deviceText(settings.device), sum / static_cast<double>(reports.size()),
		   best);

	const Findings findings = findingsOf(reports.back(), settings);
	if (findings.saturated.numbers && !profile)
		fmt::print("{}: see nvdla-run --perf\n",
			   findings.saturated.text("value", " saturated"));
	if (findings.nan.numbers && !profile)
		fmt::print("{}: see nvdla-run --perf\n", findings.nan.text("NaN", ""));
	if (findings.lutMisses.numbers && !profile)
		fmt::print("{}: see nvdla-run --perf\n",
			   findings.lutMisses.text("value", " outside the look-up tables"));

	if (!surfaces.empty())
		fmt::print("{}", surfaceTable(surfaces));
	for (size_t i = 0; i < network.outputs().size(); i++) {
		auto desc = network.outputDesc(i);
		auto top = topElements(network, i, settings.top);
		if (!desc || !top)
			return desc ? Result<void>(forward(top)) : forward(desc);
		/* The size of an open axis is known only after the run: show the shape even without
		 * --top. */
		if (settings.top || network.outputs()[i].isOpen())
			fmt::print("{}{}\n", desc->describe(), settings.top ? ":" : "");
		for (const auto &[index, value] : *top)
			fmt::print("{:>8} {}{}{}\n", index, value,
				   labelOf(labels, *desc, index).empty() ? "" : "  ",
				   labelOf(labels, *desc, index));
	}
	return {};
}

Result<void> printJson(const RunSettings &settings, const RunOutcome &outcome)
{
	const auto &[network, notes, reports, labels, profile, surfaces] = outcome;
	nlohmann::json json = { { "loadable", settings.network.path },
				{ "device", settings.device } };

	json["inputs"] = nlohmann::json::array();
	for (const TensorDesc &desc : network.inputs())
		json["inputs"].push_back(tensorJson(desc));
	json["outputs"] = nlohmann::json::array();
	for (size_t i = 0; i < network.outputs().size(); i++) {
		auto desc = network.outputDesc(i);
		auto top = topElements(network, i, settings.top);
		if (!desc || !top)
			return desc ? Result<void>(forward(top)) : forward(desc);
		nlohmann::json output = tensorJson(*desc);
		output["top"] = nlohmann::json::array();
		for (const auto &[index, value] : *top) {
			output["top"].push_back({ { "index", index }, { "value", value } });
			if (const auto label = labelOf(labels, *desc, index); !label.empty())
				output["top"].back()["label"] = label;
		}
		json["outputs"].push_back(output);
	}
	json["runs"] = nlohmann::json::array();
	for (const RunReport &report : reports)
		json["runs"].push_back(reportJson(report));
	if (const Findings findings = findingsOf(reports.back(), settings); findings.counted) {
		json["saturated"] = findings.saturated.json();
		json["nan"] = findings.nan.json();
		json["lut_misses"] = findings.lutMisses.json();
	}
	for (const SurfaceSummary &one : surfaces)
		json["surfaces"].push_back({ { "name", one.name },
					     { "file", one.file },
					     { "type", one.type },
					     { "least", one.least },
					     { "most", one.most },
					     { "at_lowest", one.atLowest },
					     { "at_highest", one.atHighest } });
	if (profile)
		json["operations"] = prof::profileJson(*profile);
	fmt::print("{}\n", json.dump(1, '\t', true, nlohmann::json::error_handler_t::replace));
	return {};
}

} /* namespace nvdla::tools */

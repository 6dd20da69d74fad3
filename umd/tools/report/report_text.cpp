/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "tools/prof/prediction_table.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

struct Widths {
	size_t type = 4;
	size_t name = 4;
	bool errors = false;
};

Widths widthsOf(const ModelReport &report)
{
	Widths widths;

	for (const Layer &layer : report.layers) {
		widths.type = std::max(widths.type, layer.what.type.size());
		widths.name = std::max(widths.name, shortened(layer.what.name, longestName).size());
		for (const Step &step : layer.steps) {
			widths.type = std::max(widths.type, step.engines.size() + 2);
			widths.name = std::max(widths.name, step.shape.size());
		}
	}
	widths.errors = isCalibrated(report.model.report);
	return widths;
}

std::string errorText(const std::optional<LayerError> &error)
{
	if (!error)
		return fmt::format("{:33}", "");
	return fmt::format("{:>9} {:>9} {:>11.4g}  ", decibels(error->ratio),
			   decibels(error->ownRatio), error->largest);
}

std::string costText(const Cost &cost)
{
	return fmt::format("{:>10} {:>12} {:>7} {:>10} {:>10}  ", cost.cycles, cost.macs,
			   useText(cost), chip::kilobytes(cost.traffic.mc.total()),
			   chip::kilobytes(cost.traffic.cv.total()));
}

std::string headText(const Widths &widths)
{
	return fmt::format(
		"{:<{}}  {:<{}}  {}{:>10} {:>12} {:>7} {:>10} {:>10}  {}\n", "type", widths.type,
		"name", widths.name,
		widths.errors ? fmt::format("{:>9} {:>9} {:>11}  ", "all", "own", "largest") : "",
		"cycles", "MACs", "MAC use", "DRAM kB", "SRAM kB", "where, how");
}

/* Joins the lines of a layer's steps. Equal lines become one line with their number, because a
 * layer with many kernels may have hundreds of equal steps. */
std::string stepsText(const std::vector<std::string> &lines)
{
	std::string text;

	for (auto line = lines.begin(); line != lines.end();) {
		const auto next = std::find_if(line, lines.end(), [&](const std::string &other) {
			return other != *line;
		});
		const auto more = next - line - 1;
		text += *line;
		if (more > 0)
			text += fmt::format("  and {} more of these\n", more);
		line = next;
	}
	return text;
}

std::string memoryText(const MemoryUse &use)
{
	std::string text = fmt::format("memory @{}: {} {:>10} kB, {}", use.memory->id,
				       domainName(use.memory->domain),
				       chip::kilobytes(use.memory->size), use.what);

	if (use.what == "input" || use.what == "output")
		text += fmt::format(" '{}'", printable(use.ranges.front()->name));
	else if (!use.ranges.empty())
		text += fmt::format(", {} of them", use.ranges.size());
	if (use.what == "surfaces")
		text += fmt::format(", at most {} kB at the same time", chip::kilobytes(use.inUse));
	return text + '\n';
}

} /* namespace */

std::string reportText(const ModelReport &report)
{
	const Widths widths = widthsOf(report);
	std::string text = headText(widths);

	auto line = [&](const std::string &type, const std::string &name, const std::string &errors,
			const Cost &cost, const std::string &rest) {
		return fmt::format("{:<{}}  {:<{}}  {}{}{}\n", printable(type), widths.type,
				   printable(name), widths.name, errors, costText(cost), rest);
	};
	for (const Layer &layer : report.layers) {
		text += line(layer.what.type, shortened(layer.what.name, longestName),
			     widths.errors ? errorText(layer.what.error) : "", layer.cost,
			     printable(whereOf(report, layer.what)));
		std::vector<std::string> steps;
		for (const Step &step : layer.steps)
			steps.push_back(line("  " + step.engines, step.shape,
					     widths.errors ? errorText(std::nullopt) : "",
					     step.cost, step.mode));
		text += stepsText(steps);
	}
	for (const LayerReport *layer : losers(report.model.report))
		text += fmt::format("loses most: {} {}, {} by itself\n", printable(layer->type),
				    printable(layer->name), decibels(layer->error->ownRatio));
	for (const MemoryUse &use : memoryUses(report.model)) {
		if (use.what != "descriptors")
			text += memoryText(use);
	}
	return text + hostText(report.model.report) + chip::predictionSummary(report.prediction);
}

} /* namespace nvdla::report */

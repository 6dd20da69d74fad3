/* SPDX-License-Identifier: MIT */
#include <fmt/core.h>

#include "tools/prof/prediction_profile.h"
#include "tools/prof/prediction_table.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/timeline_svg.h"
#include "tools/report/pictures.h"
#include "tools/report/report_page.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using inspect::escapeXml;

/* Returns a section of the page, which a click on its title folds or unfolds. */
std::string section(const std::string &title, const std::string &content)
{
	return fmt::format("<details open><summary>{}</summary>\n{}</details>\n", escapeXml(title),
			   content);
}

/* Returns a section with an SVG in a shadow tree, which keeps the picture's CSS from the rest of
 * the page. */
std::string picture(const std::string &title, const std::string &svg)
{
	return section(title, fmt::format("<p>Drag to move, use the wheel to zoom.</p>\n<div "
					  "class=\"picture\"><template shadowrootmode=\"open\">"
					  "<style>{}</style>{}</template></div>\n",
					  pictureStyle, svg));
}

std::string costCells(const Cost &cost, const std::string &bound)
{
	return fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
			   cost.cycles, cost.macs, useText(cost),
			   chip::kilobytes(cost.traffic.mc.total()),
			   chip::kilobytes(cost.traffic.cv.total()), bound);
}

std::string errorCells(const std::optional<LayerError> &error)
{
	if (!error)
		return "<td></td><td></td><td></td>";
	return fmt::format("<td>{}</td><td>{}</td><td>{:.4g}</td>", decibels(error->ratio),
			   decibels(error->ownRatio), error->largest);
}

std::string layerRow(const ModelReport &report, const Layer &layer, bool calibrated)
{
	const std::string name = escapeXml(layer.what.name);

	return fmt::format("<tr class=\"layer\" data-layer=\"{}\"><td class=\"t\">{}</td>"
			   "<td class=\"t name\" title=\"{}\">{}</td>{}{}"
			   "<td class=\"t{}\">{}</td></tr>\n",
			   name, escapeXml(layer.what.type), name, name,
			   calibrated ? errorCells(layer.what.error) : "",
			   costCells(layer.cost, ""),
			   layer.what.cpu.empty() && layer.what.host.empty() ? "" : " cpu",
			   escapeXml(whereOf(report, layer.what)));
}

std::string stepRow(const Step &step, bool calibrated)
{
	std::string operations;

	for (const auto &[task, index] : step.places)
		operations += fmt::format("{}{}.{}", operations.empty() ? "" : " ", task, index);
	return fmt::format(
		"<tr data-op=\"{}\"><td class=\"t\">{}</td><td class=\"t\">{}</td>{}{}<td "
		"class=\"t\">{}</td></tr>\n",
		operations, escapeXml(step.engines), escapeXml(step.shape + " " + step.types),
		calibrated ? errorCells(std::nullopt) : "",
		costCells(step.cost,
			  step.predicted ? sim::boundName(step.predicted->timing.bound) : ""),
		escapeXml(step.mode));
}

std::string layerTable(const ModelReport &report)
{
	const bool calibrated = isCalibrated(report.model.report);
	std::string html = fmt::format(
		"<button value=\"fold\">fold all layers</button><button value=\"unfold\">unfold "
		"all</button>\n<table>\n<tr><th class=\"t\">type</th><th class=\"t\">name</th>"
		"{}<th>cycles</th><th>MACs</th><th>MAC use</th><th>DRAM kB</th><th>SRAM kB</th>"
		"<th>bound</th><th class=\"t\">where, how</th></tr>\n",
		calibrated ? "<th>all</th><th>own</th><th>largest</th>" : "");

	for (const Layer &layer : report.layers) {
		html += "<tbody>" + layerRow(report, layer, calibrated);
		for (const Step &step : layer.steps)
			html += stepRow(step, calibrated);
		html += "</tbody>\n";
	}
	html += "</table>\n";
	for (const LayerReport *layer : losers(report.model.report))
		html += fmt::format("<p>loses most: {} {}, {} by itself</p>\n",
				    escapeXml(layer->type), escapeXml(layer->name),
				    decibels(layer->error->ownRatio));
	return section("Layers", html);
}

std::string memoryTable(const CompiledModel &model)
{
	std::string html = "<table>\n<tr><th>memory</th><th class=\"t\">where</th>"
			   "<th class=\"t\">what</th><th>ranges</th><th>kB</th><th>kB at the same "
			   "time</th></tr>\n";

	for (const MemoryUse &use : memoryUses(model))
		html += fmt::format("<tr><td>@{}</td><td class=\"t\">{}</td><td class=\"t\">{}</td>"
				    "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
				    use.memory->id, domainName(use.memory->domain), use.what,
				    use.ranges.size(), chip::kilobytes(use.memory->size),
				    chip::kilobytes(use.inUse));
	return section("Memory", html + "</table>\n");
}

/* Returns the elements of the array steps, which the page's script reads (report_page.h): for each
 * step the name of its operation, 'TASK.INDEX'. */
std::string stepNames(const CompileReport &report)
{
	std::string names;

	for (const AssembledStep &step : report.steps)
		names += fmt::format("{}'{}.{}'", names.empty() ? "" : ",", step.task, step.index);
	return names;
}

} /* namespace */

Result<std::string> reportHtml(const ModelReport &report)
{
	const std::string title = escapeXml(report.name);
	auto graphs = graphsPicture(report);
	if (!graphs)
		return forward(graphs);
	return fmt::format(
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<title>{}</title>\n<style>\n{}</style></head>\n<body>\n<h1>{}</h1>\n<p>{}</p>\n"
		"{}{}{}{}{}<script>\nconst steps = [{}];\n{}</script>\n</body></html>\n",
		title, pageStyle, title, escapeXml(chip::predictionSummary(report.prediction)),
		layerTable(report), memoryTable(report.model),
		picture("Surfaces", memoryPicture(report.model).finish()),
		picture("Time", prof::timelineSvg(chip::predictionProfile(report.prediction))),
		picture("Model and network", graphs->finish()), stepNames(report.model.report),
		pageScript);
}

} /* namespace nvdla::report */

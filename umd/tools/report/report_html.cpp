/* SPDX-License-Identifier: MIT */
#include <span>

#include <fmt/core.h>

#include "base64/base64.h"
#include "tools/prof/prediction_profile.h"
#include "tools/prof/prediction_table.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/timeline_svg.h"
#include "tools/report/pictures.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using inspect::escapeXml;

constexpr const char *pageStyle =
	"body{font-family:'DejaVu Sans','Helvetica Neue',Arial,sans-serif;font-size:13px;"
	"color:#222;margin:24px}\n"
	"table{border-collapse:collapse}\n"
	"th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #ddd}\n"
	"th{border-bottom:2px solid #999}\n"
	".t{text-align:left}\n"
	".layer{background:#f3f3f3;font-weight:bold}\n"
	".cpu{color:#aa3377}\n"
	".picture{overflow:auto;max-height:90vh;border:1px solid #ddd}\n";

/* A picture in a document of its own, so that styles stay apart. */
std::string picture(const std::string &title, const std::string &svg)
{
	return fmt::format("<h2>{}</h2>\n<div class=\"picture\"><object type=\"image/svg+xml\" "
			   "data=\"data:image/svg+xml;base64,{}\"></object></div>\n",
			   escapeXml(title), sim::encodeBase64(std::as_bytes(std::span(svg))));
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

std::string layerRow(const Layer &layer, bool calibrated)
{
	return fmt::format("<tr class=\"layer\"><td class=\"t\">{}</td><td class=\"t\">{}</td>{}{}"
			   "<td class=\"t{}\">{}</td></tr>\n",
			   escapeXml(layer.what.type), escapeXml(layer.what.name),
			   calibrated ? errorCells(layer.what.error) : "",
			   costCells(layer.cost, ""), layer.what.cpu.empty() ? "" : " cpu",
			   escapeXml(whereOf(layer.what)));
}

std::string stepRow(const Step &step, bool calibrated)
{
	return fmt::format(
		"<tr><td class=\"t\">{}</td><td class=\"t\">{}</td>{}{}<td "
		"class=\"t\">{}</td></tr>\n",
		escapeXml(step.engines), escapeXml(step.shape + " " + step.types),
		calibrated ? errorCells(std::nullopt) : "",
		costCells(step.cost,
			  step.predicted ? sim::boundName(step.predicted->timing.bound) : ""),
		escapeXml(step.mode));
}

std::string layerTable(const ModelReport &report)
{
	const bool calibrated = isCalibrated(report.model.report);
	std::string html = fmt::format(
		"<h2>Layers</h2>\n<table>\n<tr><th class=\"t\">type</th><th class=\"t\">name</th>"
		"{}<th>cycles</th><th>MACs</th><th>MAC use</th><th>DRAM kB</th><th>SRAM kB</th>"
		"<th>bound</th><th class=\"t\">where, how</th></tr>\n",
		calibrated ? "<th>all</th><th>own</th><th>largest</th>" : "");

	for (const Layer &layer : report.layers) {
		html += layerRow(layer, calibrated);
		for (const Step &step : layer.steps)
			html += stepRow(step, calibrated);
	}
	html += "</table>\n";
	for (const LayerReport *layer : losers(report.model.report))
		html += fmt::format("<p>loses most: {} {}, {} by itself</p>\n",
				    escapeXml(layer->type), escapeXml(layer->name),
				    decibels(layer->error->ownRatio));
	return html;
}

std::string memoryTable(const CompiledModel &model)
{
	std::string html = "<h2>Memory</h2>\n<table>\n<tr><th>memory</th><th class=\"t\">where</th>"
			   "<th class=\"t\">what</th><th>ranges</th><th>kB</th><th>kB at the same "
			   "time</th></tr>\n";

	for (const MemoryUse &use : memoryUses(model))
		html += fmt::format("<tr><td>@{}</td><td class=\"t\">{}</td><td class=\"t\">{}</td>"
				    "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
				    use.memory->id, domainName(use.memory->domain), use.what,
				    use.ranges.size(), chip::kilobytes(use.memory->size),
				    chip::kilobytes(use.inUse));
	return html + "</table>\n";
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
		"{}{}{}{}{}</body></html>\n",
		title, pageStyle, title, escapeXml(chip::predictionSummary(report.prediction)),
		layerTable(report), memoryTable(report.model),
		picture("Surfaces", memoryPicture(report.model).finish()),
		picture("Time", prof::timelineSvg(chip::predictionProfile(report.prediction))),
		picture("Model and network", graphs->finish()));
}

} /* namespace nvdla::report */

/* SPDX-License-Identifier: MIT */
#include <nvdla/compiler.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "io/printable.h"

namespace nvdla
{

namespace
{

using Json = nlohmann::ordered_json;

std::string whereOf(const LayerReport &layer)
{
	if (layer.operations.empty())
		return "nothing to do";
	return layer.cpu.empty() ? fmt::format("core, {} operations", layer.operations.size())
				 : "CPU: " + layer.cpu;
}

std::string decibels(double ratio)
{
	return std::isinf(ratio) && ratio > 0 ? "exact" : fmt::format("{:.1f} dB", ratio);
}

std::string errorText(const LayerError &error)
{
	return fmt::format("{:>9} {:>9} {:>11.4g}  ", decibels(error.ratio),
			   decibels(error.ownRatio), error.largest);
}

/* Those of calibrated layers that lose most by themselves, most first. */
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

Json errorJson(const LayerError &error)
{
	return { { "ratio", error.ratio },
		 { "ownRatio", error.ownRatio },
		 { "largest", error.largest } };
}

} /* namespace */

std::string toText(const CompileReport &report)
{
	std::string text;
	size_t type = 4, name = 4;
	bool calibrated = false;

	for (const LayerReport &layer : report.layers) {
		type = std::max(type, layer.type.size());
		name = std::max(name, layer.name.size());
		calibrated = calibrated || layer.error;
	}
	if (calibrated)
		text += fmt::format("{:<{}}  {:<{}}  {:>9} {:>9} {:>11}\n", "type", type, "name",
				    name, "all", "own", "largest");
	for (const LayerReport &layer : report.layers)
		text += fmt::format("{:<{}}  {:<{}}  {}{}\n", layer.type, type, layer.name, name,
				    layer.error ? errorText(*layer.error) : "", whereOf(layer));
	for (const LayerReport *layer : losers(report))
		text += fmt::format("loses most: {} {}, {} by itself\n", layer->type, layer->name,
				    decibels(layer->error->ownRatio));
	return text;
}

std::string toJson(const CompileReport &report)
{
	Json layers = Json::array();

	for (const LayerReport &layer : report.layers) {
		layers.push_back({ { "name", layer.name },
				   { "type", layer.type },
				   { "operations", layer.operations },
				   { "cpu", layer.cpu } });
		if (layer.error)
			layers.back()["error"] = errorJson(*layer.error);
	}
	/* Names come from a file: what is no UTF-8 is replaced. */
	return Json{ { "layers", layers } }.dump(2, ' ', false, Json::error_handler_t::replace) +
	       "\n";
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <nvdla/compiler.h>

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "io/printable.h"

namespace nvdla
{

std::string toText(const CompileReport &report)
{
	std::string text;
	size_t type = 0, name = 0;

	for (const LayerReport &layer : report.layers) {
		type = std::max(type, layer.type.size());
		name = std::max(name, layer.name.size());
	}
	for (const LayerReport &layer : report.layers) {
		const std::string where = layer.operations.empty() ? "nothing to do"
					  : layer.cpu.empty() ? fmt::format("core, {} operations",
									    layer.operations.size())
							      : "CPU: " + layer.cpu;
		text += fmt::format("{:<{}}  {:<{}}  {}\n", layer.type, type, layer.name, name,
				    where);
	}
	return text;
}

std::string toJson(const CompileReport &report)
{
	nlohmann::ordered_json layers = nlohmann::ordered_json::array();

	for (const LayerReport &layer : report.layers)
		layers.push_back({ { "name", layer.name },
				   { "type", layer.type },
				   { "operations", layer.operations },
				   { "cpu", layer.cpu } });
	/* Names come from a file: what is no UTF-8 is replaced. */
	return nlohmann::ordered_json{ { "layers", layers } }.dump(
		       2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
	       "\n";
}

} /* namespace nvdla */

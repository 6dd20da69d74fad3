/* SPDX-License-Identifier: MIT */
#include "trace_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nvdla::prof
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr int process = 1;

/* The format counts in microseconds; fractions are allowed. */
double microseconds(uint64_t ns)
{
	return static_cast<double>(ns) / 1e3;
}

Json nameEvent(const char *what, size_t thread, const std::string &name)
{
	return { { "ph", "M" },
		 { "name", what },
		 { "pid", process },
		 { "tid", thread },
		 { "args", { { "name", name } } } };
}

Json counters(const drm_nvdla_operation_result &result)
{
	return { { "read_stall", result.read_stall },
		 { "write_stall", result.write_stall },
		 { "weight_read_stall", result.weight_read_stall },
		 { "read_latency", result.read_latency },
		 { "weight_read_latency", result.weight_read_latency },
		 { "operand_read_stall", result.operand_read_stall },
		 { "saturation", result.saturation },
		 { "nan_input", result.nan_input },
		 { "inf_input", result.inf_input },
		 { "nan_output", result.nan_output },
		 { "nan_weight", result.nan_weight },
		 { "inf_weight", result.inf_weight },
		 { "unequal", result.unequal },
		 { "lut_underflow", result.lut.underflow },
		 { "lut_overflow", result.lut.overflow },
		 { "lut_le_hit", result.lut.le_hit },
		 { "lut_lo_hit", result.lut.lo_hit },
		 { "lut_hybrid", result.lut.hybrid } };
}

Json operationEvent(const OperationProfile &operation, size_t thread)
{
	Json arguments = { { "operation", fmt::format("{}.{}", operation.task, operation.index) },
			   { "shape", operation.text.shape },
			   { "types", operation.text.types },
			   { "places", operation.text.places } };
	if (operation.counted())
		arguments["counters"] = counters(operation.counters);
	return { { "ph", "X" },
		 { "name", operation.text.action },
		 { "cat", operation.text.engine },
		 { "ts", microseconds(operation.startNs) },
		 { "dur", microseconds(operation.durationNs()) },
		 { "pid", process },
		 { "tid", thread },
		 { "args", std::move(arguments) } };
}

} /* namespace */

std::string traceJson(const Profile &profile)
{
	Json events = Json::array();
	const auto all = lanes(profile);

	events.push_back(nameEvent("process_name", 0, profile.name));
	for (size_t i = 0; i < all.size(); i++) {
		const size_t thread = i + 1;
		std::string name = all[i].engine;
		if (all[i].row)
			name += fmt::format(" ({})", all[i].row + 1);
		events.push_back(nameEvent("thread_name", thread, name));
		events.push_back({ { "ph", "M" },
				   { "name", "thread_sort_index" },
				   { "pid", process },
				   { "tid", thread },
				   { "args", { { "sort_index", thread } } } });
		for (size_t index : all[i].operations)
			events.push_back(operationEvent(profile.operations[index], thread));
	}
	const Json trace = { { "displayTimeUnit", "ns" }, { "traceEvents", std::move(events) } };
	return trace.dump(1, '\t', true, Json::error_handler_t::replace) + "\n";
}

} /* namespace nvdla::prof */

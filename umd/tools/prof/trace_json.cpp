/* SPDX-License-Identifier: MIT */
#include "trace_json.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "profile_json.h"

namespace nvdla::prof
{

namespace
{

constexpr int process = 1;

/* The trace format has times in microseconds; fractions are allowed. */
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

Json operationEvent(const OperationProfile &operation, size_t thread)
{
	Json arguments = { { "operation", fmt::format("{}.{}", operation.task, operation.index) },
			   { "layer", operation.text.layer },
			   { "action", operation.text.action },
			   { "shape", operation.text.shape },
			   { "types", operation.text.types },
			   { "places", operation.text.places } };
	if (operation.counted())
		arguments["counters"] = countersJson(operation.counters);
	return { { "ph", "X" },
		 { "name",
		   operation.text.layer.empty() ? operation.text.action : operation.text.layer },
		 { "cat", operation.text.engine },
		 { "ts", microseconds(operation.startNs) },
		 { "dur", microseconds(operation.durationNs()) },
		 { "pid", process },
		 { "tid", thread },
		 { "args", std::move(arguments) } };
}

/* Adds a counter event ("C") for each step; Perfetto draws counters as curves. */
void addGauge(Json &events, const Gauge &gauge)
{
	for (const Gauge::Step &step : gauge.steps)
		events.push_back({ { "ph", "C" },
				   { "name", gauge.name },
				   { "ts", microseconds(step.startNs) },
				   { "pid", process },
				   { "args", { { "%", 100 * step.share } } } });
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
	for (const Gauge &gauge : profile.gauges)
		addGauge(events, gauge);
	const Json trace = { { "displayTimeUnit", "ns" }, { "traceEvents", std::move(events) } };
	return trace.dump(1, '\t', true, Json::error_handler_t::replace) + "\n";
}

} /* namespace nvdla::prof */

/* SPDX-License-Identifier: MIT */
#include "measurement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvdla::bench
{

namespace
{

using Json = nlohmann::json;

struct Figure {
	const char *field; /* name of the figure in JSON */
	const char *name;
	double Measurement::*value;
};

constexpr Figure times[] = {
	{ "mean_ms", "mean", &Measurement::mean }, { "min_ms", "least", &Measurement::least },
	{ "p50_ms", "p50", &Measurement::p50 },	   { "p90_ms", "p90", &Measurement::p90 },
	{ "p99_ms", "p99", &Measurement::p99 },	   { "max_ms", "most", &Measurement::most },
};

std::string ratioText(double now, const double *before)
{
	return before && *before > 0 ? fmt::format("  {:.3f} x", now / *before) : "";
}

} /* namespace */

void Measurement::take(std::vector<double> all)
{
	std::ranges::sort(all);
	const auto percentile = [&](double percent) {
		const double rank = std::ceil(percent / 100 * static_cast<double>(all.size()));
		return all[static_cast<size_t>(std::max(rank, 1.0)) - 1];
	};

	runs = all.size();
	mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
	least = all.front();
	p50 = percentile(50);
	p90 = percentile(90);
	p99 = percentile(99);
	most = all.back();
}

std::string measurementText(const Measurement &measured, const Measurement *before)
{
	std::string text = fmt::format(
		"{} on {}, {} in flight: {} run{} in {:.2f} s\n", measured.network, measured.device,
		measured.inFlight, measured.runs, measured.runs == 1 ? "" : "s", measured.seconds);
	const double throughputBefore = before ? before->throughput() : 0;

	text += fmt::format("{:<12}{:>10.2f} runs/s{}\n", "throughput", measured.throughput(),
			    ratioText(measured.throughput(), before ? &throughputBefore : nullptr));
	for (const Figure &time : times)
		text += fmt::format(
			"{:<12}{:>10.3f} ms    {}\n", time.name, measured.*time.value,
			ratioText(measured.*time.value, before ? &(before->*time.value) : nullptr));
	return text;
}

std::string measurementJson(const Measurement &measured)
{
	Json json = {
		{ "network", measured.network },    { "device", measured.device },
		{ "in_flight", measured.inFlight }, { "runs", measured.runs },
		{ "seconds", measured.seconds },    { "runs_per_second", measured.throughput() }
	};

	for (const Figure &time : times)
		json[time.field] = measured.*time.value;
	return json.dump(1, '\t', true, Json::error_handler_t::replace) + "\n";
}

Result<Measurement> measurementFromJson(std::string_view text, const std::string &name)
{
	const Json json = Json::parse(text, nullptr, false);
	Measurement measured;
	std::string wrong;
	const auto number = [&](const char *field) {
		if (json.contains(field) && json[field].is_number())
			return json[field].get<double>();
		wrong = field;
		return 0.0;
	};
	const auto word = [&](const char *field) {
		if (json.contains(field) && json[field].is_string())
			return json[field].get<std::string>();
		wrong = field;
		return std::string();
	};

	if (!json.is_object())
		return fail(ErrorCode::InvalidFile, "read measurement", name,
			    "is not the output of nvdla-bench --json");
	measured.network = word("network");
	measured.device = word("device");
	measured.inFlight = static_cast<unsigned>(std::clamp(number("in_flight"), 0.0, 1e6));
	measured.runs = static_cast<uint64_t>(std::clamp(number("runs"), 0.0, 1e15));
	measured.seconds = number("seconds");
	for (const Figure &time : times)
		measured.*time.value = number(time.field);
	if (!wrong.empty())
		return fail(ErrorCode::InvalidFile, "read measurement", name,
			    fmt::format("has no {}, which the output of nvdla-bench --json has",
					wrong));
	return measured;
}

} /* namespace nvdla::bench */

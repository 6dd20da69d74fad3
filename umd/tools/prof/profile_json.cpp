/* SPDX-License-Identifier: MIT */
#include "profile_json.h"

#include <nlohmann/json.hpp>

namespace nvdla::prof
{

namespace
{

/* Adds the numbers of \a more to those of \a sum. Both have the same members: numbers, and lists
 * of numbers. */
void addCounters(Json &sum, const Json &more)
{
	for (auto &[name, value] : sum.items()) {
		if (!value.is_array()) {
			value = value.get<uint64_t>() + more[name].get<uint64_t>();
			continue;
		}
		for (size_t i = 0; i < value.size(); i++)
			value[i] = value[i].get<uint64_t>() + more[name][i].get<uint64_t>();
	}
}

Json countersOf(const Profile &profile, const Row &row)
{
	Json sum;

	for (size_t index : row.operations) {
		const OperationProfile &operation = profile.operations[index];
		if (!operation.counted())
			continue;
		if (sum.is_null())
			sum = countersJson(operation.counters);
		else
			addCounters(sum, countersJson(operation.counters));
	}
	return sum;
}

} /* namespace */

Json countersJson(const OperationReport &result)
{
	return { { "read_stall", result.readStall },
		 { "write_stall", result.writeStall },
		 { "weight_read_stall", result.weightReadStall },
		 { "read_latency", result.readLatency },
		 { "weight_read_latency", result.weightReadLatency },
		 { "operand_read_stall", result.operandReadStall },
		 { "saturation", result.saturation },
		 { "nan_input", result.nanInput },
		 { "inf_input", result.infInput },
		 { "nan_output", result.nanOutput },
		 { "nan_weight", result.nanWeight },
		 { "inf_weight", result.infWeight },
		 { "unequal", result.unequal },
		 { "lut_underflow", result.lut.underflow },
		 { "lut_overflow", result.lut.overflow },
		 { "lut_le_hit", result.lut.leHit },
		 { "lut_lo_hit", result.lut.loHit },
		 { "lut_hybrid", result.lut.hybrid } };
}

Json profileJson(const Profile &profile)
{
	Json operations = Json::array();

	for (const OperationProfile &operation : profile.operations) {
		Json json = { { "task", operation.task },
			      { "operation", operation.index },
			      { "engine", operation.text.engine },
			      { "layer", operation.text.layer },
			      { "action", operation.text.action },
			      { "shape", operation.text.shape },
			      { "start_ns", nullptr },
			      { "duration_ns", nullptr } };
		if (operation.timed) {
			json["start_ns"] = operation.startNs;
			json["duration_ns"] = operation.durationNs();
		}
		if (operation.counted())
			json["counters"] = countersJson(operation.counters);
		operations.push_back(std::move(json));
	}
	return operations;
}

Json rowsJson(const Profile &profile, const View &view)
{
	Json rows = Json::array();

	for (const Row &row : rowsOf(profile, view)) {
		Json json = { { "op", row.name },      { "engine", row.engines },
			      { "layer", row.layer },  { "action", row.action },
			      { "shape", row.shape },  { "types", row.types },
			      { "start_ns", nullptr }, { "duration_ns", nullptr } };
		if (row.timed) {
			json["start_ns"] = row.startNs;
			json["duration_ns"] = row.durationNs;
		}
		json["counters"] = countersOf(profile, row);
		rows.push_back(std::move(json));
	}
	return { { "name", profile.name },
		 { "duration_ns", profile.durationNs },
		 { "rows", std::move(rows) } };
}

std::string rowsJsonText(const Profile &profile, const View &view)
{
	return rowsJson(profile, view).dump(1, '\t', true, Json::error_handler_t::replace) + "\n";
}

} /* namespace nvdla::prof */

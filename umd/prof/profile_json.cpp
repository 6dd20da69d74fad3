/* SPDX-License-Identifier: MIT */
#include "profile_json.h"

#include <nlohmann/json.hpp>

namespace nvdla::prof
{

Json countersJson(const drm_nvdla_operation_result &result)
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

Json profileJson(const Profile &profile)
{
	Json operations = Json::array();

	for (const OperationProfile &operation : profile.operations) {
		Json json = {
			{ "task", operation.task },	     { "operation", operation.index },
			{ "engine", operation.text.engine }, { "action", operation.text.action },
			{ "shape", operation.text.shape },   { "start_ns", nullptr },
			{ "duration_ns", nullptr }
		};
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

} /* namespace nvdla::prof */

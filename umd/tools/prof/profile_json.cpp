/* SPDX-License-Identifier: MIT */
#include "profile_json.h"

#include <nlohmann/json.hpp>

namespace nvdla::prof
{

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

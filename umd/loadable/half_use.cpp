/* SPDX-License-Identifier: MIT */
#include "half_use.h"

#include <algorithm>
#include <variant>

#include <nvdla/task.h>

namespace nvdla
{

namespace
{

bool isHalf(unsigned engine, const nvdla_operation_desc &operation)
{
	switch (engine) {
	case NVDLA_OP_CONV:
		return operation.conv.out_precision == NVDLA_PRECISION_FP16;
	case NVDLA_OP_SDP:
		return operation.sdp.src_precision == NVDLA_PRECISION_FP16 ||
		       operation.sdp.dst_precision == NVDLA_PRECISION_FP16;
	case NVDLA_OP_PDP:
		return operation.pdp.precision == NVDLA_PRECISION_FP16;
	case NVDLA_OP_CDP:
		return operation.cdp.in_precision == NVDLA_PRECISION_FP16;
	}
	return false;
}

bool isHalf(const AnyTask &any)
{
	if (const auto *cpu = std::get_if<EmuTask>(&any))
		return std::ranges::any_of(cpu->operations, [](const EmuOperation &operation) {
			return operation.dst.type == DataType::Half;
		});
	const auto *task = std::get_if<DlaTask>(&any);
	for (size_t i = 0; task && i < task->graph.size(); i++) {
		if (isHalf(task->graph[i].op_type, task->operations[i]))
			return true;
	}
	return false;
}

} /* namespace */

Result<void> checkComputesHalf(const Loadable &loadable)
{
	auto tasks = tasksInOrder(loadable);

	if (!tasks)
		return forward(tasks);
	if (tasks->empty() ||
	    std::ranges::any_of(*tasks, [](const AnyTask &task) { return isHalf(task); }))
		return {};
	return fail(ErrorCode::InvalidArgument, "compile model", "precision",
		    "is a model of integers, and fp16 is for float models only");
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/* Checks the driver's rules and reports violations with the names of the graph. */
#include <algorithm>

#include <fmt/core.h>

#include "device/refusal.h"
#include "device/embedded/task_rules.h"
#include "plan.h"

namespace nvdla::assembly
{

namespace
{

/* Turns the driver's "src_data.width" into "src_data.width of 'x'" if the cube is the surface x. */
std::string describeField(const Node &node, const std::string &field)
{
	for (const auto &[cube, surface] : node.cubes) {
		if (field.find(cube) != std::string::npos)
			return fmt::format("{} of '{}'", field, surface);
	}
	return field;
}

} /* namespace */

Result<void> judge(const CoreGeometry &core, const Plan &plan, const TaskRange &range,
		   const DlaTask &task)
{
	const nvdla_variant variant = engineVariant(core);
	const auto checked = checkTask(variant, task, [&](uint16_t memory) {
		return std::ranges::any_of(plan.regions, [&](const Region &region) {
			return region.memory == memory && region.domain == MemoryDomain::Sram;
		});
	});

	if (checked)
		return {};
	if (checked.error().noMemory)
		return fail(ErrorCode::NoMemory, what, "", "the host has no memory left");
	const nvdla_refusal &refusal = checked.error().error;
	const uint32_t operation = refusal.error.operation;
	const std::string field = refusedField(refusal);
	const std::string reason = refusalReason(refusal);
	if (operation == NVDLA_TASK_NO_OPERATION)
		return fail(ErrorCode::InvalidArgument, what,
			    fmt::format("task of operations {} to {}", range.first, range.last - 1),
			    fmt::format("{}: {}", field, reason));
	const Node &node = plan.nodes[range.first + operation];
	return fail(ErrorCode::InvalidArgument, what, where(node),
		    fmt::format("{}: {}", describeField(node, field), reason));
}

} /* namespace nvdla::assembly */

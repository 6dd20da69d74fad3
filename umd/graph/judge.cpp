/* SPDX-License-Identifier: MIT */
/*
 * The driver's rules, told in the names of the graph.
 */
#include <fmt/core.h>

#include "device/refusal.h"
#include "embedded/engine.h"
#include "plan.h"

namespace nvdla::assembly
{

namespace
{

/* Where the memories are does not matter to the rules, as long as they are apart. */
constexpr uint64_t firstAddress = uint64_t{ 1 } << 32;
constexpr uint64_t memorySpacing = uint64_t{ 1 } << 40;

std::vector<nvdla_task_extent> extents(const Plan &plan, const DlaTask &task)
{
	std::vector<nvdla_task_extent> extents;

	for (const TaskAddress &address : task.addresses) {
		nvdla_task_extent extent = {};
		extent.dma_addr = firstAddress + address.memory * memorySpacing + address.offset;
		extent.size = address.size;
		extent.present = address.used;
		for (const Region &region : plan.regions) {
			if (region.memory == address.memory && region.domain == MemoryDomain::Sram)
				extent.mem_type = NVDLA_MEM_CV;
		}
		extents.push_back(extent);
	}
	return extents;
}

/* "src_data.width" of an operation that reads 'x' is "src_data.width of 'x'". */
std::string describeField(const Node &node, const std::string &field)
{
	for (const auto &[cube, surface] : node.cubes) {
		if (field.find(cube) != std::string::npos)
			return fmt::format("{} of '{}'", field, surface);
	}
	return field;
}

} /* namespace */

Result<void> judge(const Plan &plan, const TaskRange &range, const DlaTask &task)
{
	const auto memory = extents(plan, task);
	nvdla_task_source source = {};
	drm_nvdla_error error = {};
	nvdla_task *created = nullptr;

	source.graph = task.graph.data();
	source.operations = task.operations.data();
	source.surfaces = task.surfaces.data();
	source.luts = task.luts.data();
	source.extents = memory.data();
	source.num_operations = static_cast<u32>(task.graph.size());
	source.num_luts = static_cast<u32>(task.luts.size());
	source.num_extents = static_cast<u32>(memory.size());
	const int result = nvdla_task_create(nvdla_variant_nv_full(), &source, &error, &created);
	const EngineTask owner(created);

	if (!result)
		return {};
	if (result != -EINVAL)
		return fail(ErrorCode::NoMemory, what, "", "the host has no memory left");
	const std::string field = refusedField(error);
	const std::string reason = refusalReason(error);
	if (error.operation == NVDLA_TASK_NO_OPERATION)
		return fail(ErrorCode::InvalidArgument, what,
			    fmt::format("task of operations {} to {}", range.first, range.last - 1),
			    fmt::format("{}: {}", field, reason));
	const Node &node = plan.nodes[range.first + error.operation];
	return fail(ErrorCode::InvalidArgument, what, where(node),
		    fmt::format("{}: {}", describeField(node, field), reason));
}

} /* namespace nvdla::assembly */

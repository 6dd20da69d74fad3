/* SPDX-License-Identifier: MIT */
#include "device/embedded/task_rules.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

namespace nvdla
{

namespace
{

constexpr uint64_t firstMemory = uint64_t{ 1 } << 16;
constexpr uint64_t memoryAlignment = uint64_t{ 1 } << 16;

/* Returns addresses for the task's memories: one after the other, within the core's address
 * range. */
std::map<uint16_t, uint64_t> memoriesOf(const DlaTask &task)
{
	std::map<uint16_t, uint64_t> memories;
	uint64_t next = firstMemory;

	for (const TaskAddress &address : task.addresses) {
		uint64_t &size = memories[address.memory];
		size = std::max(size, address.offset + address.size);
	}
	for (auto &[memory, size] : memories)
		next += alignUp(std::exchange(size, next), memoryAlignment);
	return memories;
}

std::vector<nvdla_task_extent> extentsOf(const DlaTask &task,
					 const std::function<bool(uint16_t)> &onChip)
{
	const auto memories = memoriesOf(task);
	std::vector<nvdla_task_extent> extents;

	for (const TaskAddress &address : task.addresses) {
		nvdla_task_extent extent = {};
		extent.dma_addr = memories.at(address.memory) + address.offset;
		extent.size = address.size;
		extent.present = address.used;
		extent.mem_type = onChip(address.memory) ? NVDLA_MEM_CV : NVDLA_MEM_MC;
		extents.push_back(extent);
	}
	return extents;
}

/* Describes the task without the extents (address and size) of its buffers, which the caller
 * adds. */
nvdla_task_source sourceOf(const DlaTask &task)
{
	nvdla_task_source source = {};

	source.graph = task.graph.data();
	source.operations = task.operations.data();
	source.surfaces = task.surfaces.data();
	source.luts = task.luts.data();
	source.num_operations = static_cast<u32>(task.graph.size());
	source.num_luts = static_cast<u32>(task.luts.size());
	source.num_extents = static_cast<u32>(task.addresses.size());
	return source;
}

} /* namespace */

nvdla_variant engineVariant(const CoreGeometry &core)
{
	nvdla_variant variant = nvdla_variants[core.variant];

	variant.name = core.name;
	variant.atom_bytes = core.atomBytes;
	variant.weight_alignment = core.weightAlignment;
	variant.weight_size_alignment = core.weightSizeAlignment;
	variant.mac_channels = core.macChannels;
	variant.int8_kernels = core.int8Kernels;
	variant.cbuf_banks = core.bufferBanks;
	variant.cbuf_bank_entries = core.bankEntries;
	variant.cbuf_entry_bytes = core.entryBytes;
	variant.pdp_line_bytes = core.poolingLineBytes;
	return variant;
}

tl::expected<EngineTask, TaskRefusal> checkTask(const nvdla_variant &variant, const DlaTask &task,
						const std::function<bool(uint16_t)> &onChip)
{
	const auto memory = extentsOf(task, onChip);
	nvdla_task_source source = sourceOf(task);
	TaskRefusal refusal;
	nvdla_task *created = nullptr;

	source.extents = memory.data();
	const int result = nvdla_task_create(&variant, &source, &refusal.error, &created);
	if (!result)
		return EngineTask(created);
	refusal.noMemory = result != -EINVAL;
	return tl::unexpected(refusal);
}

bool canRun(const nvdla_variant &variant, const DlaTask &task)
{
	const nvdla_task_source source = sourceOf(task);
	nvdla_prepared *prepared = nullptr;

	if (nvdla_prepared_create(&variant, &source, nullptr, &prepared))
		return false;
	nvdla_prepared_destroy(prepared);
	return true;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "resident_memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

#include "device/embedded/task_rules.h"

namespace nvdla
{

namespace
{

constexpr const char *loadingNetwork = "load network";

/* Timeout for accesses to newly allocated buffers. They do not wait in practice, because no job
 * uses such a buffer. */
constexpr std::chrono::milliseconds idleTimeout(1000);

uint64_t roundUp(uint64_t size)
{
	return alignUp(size, memoryGranule);
}

} /* namespace */

uint64_t residentBytes(const Memory &memory)
{
	return roundUp(memory.size);
}

std::vector<BufferRange> resolveAddresses(std::span<const TaskAddress> addresses,
					  const std::function<MemoryPlace(uint16_t)> &place)
{
	std::vector<BufferRange> ranges;

	ranges.reserve(addresses.size());
	for (const TaskAddress &address : addresses) {
		const MemoryPlace at = address.used ? place(address.memory) : MemoryPlace{};
		if (!at.handle) {
			ranges.emplace_back();
			continue;
		}
		/* If a range reaches the end of its memory, it also gets the bytes by which the
		 * memory's buffer is rounded up. Other ranges keep their size, because other data
		 * follows them. */
		const uint64_t end = address.offset + address.size;
		const uint64_t limit = roundUp(end) >= at.size ? at.size : end;
		ranges.push_back({ at.handle, at.offset + address.offset, limit - address.offset });
	}
	return ranges;
}

MemoryIds usedMemories(std::span<const AnyTask> tasks, std::span<const TensorDesc> tensors)
{
	MemoryIds ids;

	for (const AnyTask &task : tasks) {
		const auto &addresses = std::visit(
			[](const auto &any) -> const auto & { return any.addresses; }, task);
		for (const TaskAddress &address : addresses) {
			if (address.used)
				ids.insert(address.memory);
		}
	}
	for (const TensorDesc &tensor : tensors)
		ids.insert(tensor.memory);
	return ids;
}

Result<ResidentMemory> ResidentMemory::create(const Device &device, const Loadable &loadable,
					      const MemoryIds &memories)
{
	ResidentMemory resident;

	for (uint16_t id : memories) {
		if (auto added = resident.add(device, loadable, id); !added)
			return forward(added);
	}
	return resident;
}

Result<void> ResidentMemory::add(const Device &device, const Loadable &loadable, uint16_t id)
{
	const Memory &memory = *loadable.memory(id);
	const std::string where = fmt::format("memory_list id {}", id);
	const bool onChip = memory.domain == MemoryDomain::Sram;
	if (onChip && !memory.contents.empty())
		return fail(ErrorCode::Unsupported, loadingNetwork, where + ".domain",
			    "is on-chip memory with contents, which the CPU cannot write");

	const uint64_t size = residentBytes(memory);
	auto buffer = onChip ? device.allocateOnChip(size) : device.allocate(size);
	if (!buffer) {
		buffer.error().where = where + ": " + buffer.error().where;
		return forward(buffer);
	}
	if (!memory.contents.empty()) {
		auto access = buffer->access(CpuAccess::Write, idleTimeout);
		if (!access)
			return forward(access);
		for (const MemoryContent &content : memory.contents) {
			const auto &data = loadable.blob(content.blob)->data;
			std::copy(data.begin(), data.end(),
				  access->bytes().begin() + static_cast<ptrdiff_t>(content.offset));
		}
	}
	buffers_.emplace(id, std::move(*buffer));
	return {};
}

Buffer *ResidentMemory::find(uint16_t memory)
{
	const auto entry = buffers_.find(memory);
	return entry == buffers_.end() ? nullptr : &entry->second;
}

MemoryPlace ResidentMemory::place(uint16_t memory)
{
	const Buffer *buffer = find(memory);

	return buffer ? MemoryPlace{ buffer->handle(), 0, buffer->size() } : MemoryPlace{};
}

} /* namespace nvdla */

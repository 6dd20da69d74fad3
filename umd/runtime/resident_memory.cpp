/* SPDX-License-Identifier: MIT */
#include "resident_memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace nvdla
{

namespace
{

constexpr const char *what = "load network";

/* Sizes of weight surfaces are multiples of this, and so are all atoms. */
constexpr uint64_t granule = 128;

/* A buffer that was just allocated is idle; this is never waited for. */
constexpr std::chrono::milliseconds idleTimeout(1000);

uint64_t roundUp(uint64_t size)
{
	return (size + granule - 1) / granule * granule;
}

} /* namespace */

Result<ResidentMemory> ResidentMemory::create(const Device &device, const Loadable &loadable,
					      std::span<const AnyTask> tasks,
					      std::span<const TensorDesc> tensors)
{
	ResidentMemory resident;

	for (const AnyTask &task : tasks) {
		const auto &addresses = std::visit(
			[](const auto &any) -> const auto & { return any.addresses; }, task);
		for (const TaskAddress &address : addresses) {
			if (!address.used)
				continue;
			if (auto added = resident.add(device, loadable, address.memory); !added)
				return forward(added);
		}
	}
	for (const TensorDesc &tensor : tensors) {
		if (auto added = resident.add(device, loadable, tensor.memory); !added)
			return forward(added);
	}
	return resident;
}

Result<void> ResidentMemory::add(const Device &device, const Loadable &loadable, uint16_t id)
{
	if (buffers_.contains(id))
		return {};

	const Memory &memory = *loadable.memory(id);
	const std::string where = fmt::format("memory_list id {}", id);
	if (memory.domain == MemoryDomain::Sram)
		return fail(ErrorCode::Unsupported, what, where + ".domain",
			    fmt::format("is on-chip memory, which {} does not hand out",
					device.path()));

	auto buffer = device.allocate(roundUp(memory.size));
	if (!buffer) {
		buffer.error().where = where + ": " + buffer.error().where;
		return forward(buffer);
	}
	if (!memory.contents.empty()) {
		auto access = buffer->access(DRM_NVDLA_BO_WRITE, idleTimeout);
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

std::vector<BufferRange> ResidentMemory::resolve(std::span<const TaskAddress> addresses)
{
	std::vector<BufferRange> ranges;

	ranges.reserve(addresses.size());
	for (const TaskAddress &address : addresses) {
		const Buffer *buffer = address.used ? find(address.memory) : nullptr;
		if (!buffer) {
			ranges.emplace_back();
			continue;
		}
		/* Addresses that end inside a memory share it with others: exact. */
		const uint64_t end = address.offset + address.size;
		const uint64_t limit = roundUp(end) >= buffer->size() ? buffer->size() : end;
		ranges.push_back({ buffer->handle(), address.offset, limit - address.offset });
	}
	return ranges;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "gem_handles.h"

#include "drm_calls.h"

namespace nvdla
{

void GemHandles::add(uint32_t handle, const GemMemory &memory)
{
	const std::lock_guard guard(lock_);
	Entry &entry = entries_[handle];

	if (!entry.owners++)
		entry.memory = memory;
}

/*
 * Holds the lock during the driver's calls; otherwise an import could return a handle that
 * release() is about to close.
 */
tl::expected<uint32_t, int> GemHandles::import(DeviceBackend &backend, int fd, uint64_t bytes)
{
	const std::lock_guard guard(lock_);
	auto handle = importDmaBuf(backend, fd);

	if (handle && !entries_[*handle].owners++)
		entries_[*handle].memory.bytes = bytes;
	return handle;
}

void GemHandles::release(DeviceBackend &backend, uint32_t handle)
{
	const std::lock_guard guard(lock_);
	const auto entry = entries_.find(handle);

	if (--entry->second.owners)
		return;
	entries_.erase(entry);
	closeHandle(backend, handle);
}

std::optional<GemMemory> GemHandles::find(uint32_t handle) const
{
	const std::lock_guard guard(lock_);
	const auto entry = entries_.find(handle);

	if (entry == entries_.end())
		return std::nullopt;
	return entry->second.memory;
}

} /* namespace nvdla */

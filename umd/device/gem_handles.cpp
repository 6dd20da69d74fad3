/* SPDX-License-Identifier: MIT */
#include "gem_handles.h"

#include "drm_calls.h"

namespace nvdla
{

void GemHandles::add(uint32_t handle)
{
	const std::lock_guard guard(lock_);
	owners_[handle]++;
}

/* The lock is held over the calls, or an import could get what is about to be closed. */
tl::expected<uint32_t, int> GemHandles::import(DeviceBackend &backend, int fd)
{
	const std::lock_guard guard(lock_);
	auto handle = importDmaBuf(backend, fd);

	if (handle)
		owners_[*handle]++;
	return handle;
}

void GemHandles::release(DeviceBackend &backend, uint32_t handle)
{
	const std::lock_guard guard(lock_);
	const auto entry = owners_.find(handle);

	if (--entry->second)
		return;
	owners_.erase(entry);
	closeHandle(backend, handle);
}

} /* namespace nvdla */

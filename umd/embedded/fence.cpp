/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include <cerrno>

namespace nvdla
{

int SyncobjTable::create(drm_syncobj_create &args)
{
	if (args.flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;

	std::shared_ptr<EmbeddedFence> fence;
	if (args.flags & DRM_SYNCOBJ_CREATE_SIGNALED)
		fence = std::make_shared<EmbeddedFence>(EmbeddedFence{ true, 0 });
	while (fences_.contains(nextHandle_) || !nextHandle_)
		nextHandle_++;
	args.handle = nextHandle_++;
	fences_.emplace(args.handle, std::move(fence));
	return 0;
}

int SyncobjTable::destroy(const drm_syncobj_destroy &args)
{
	return !args.pad && fences_.erase(args.handle) ? 0 : -EINVAL;
}

int SyncobjTable::reset(const drm_syncobj_array &args)
{
	const auto *handles = reinterpret_cast<const uint32_t *>(args.handles);

	if (args.pad || !args.count_handles)
		return -EINVAL;
	for (uint32_t i = 0; i < args.count_handles; i++) {
		if (!contains(handles[i]))
			return -ENOENT;
	}
	for (uint32_t i = 0; i < args.count_handles; i++)
		replace(handles[i], nullptr);
	return 0;
}

std::shared_ptr<EmbeddedFence> SyncobjTable::fence(uint32_t handle) const
{
	const auto entry = fences_.find(handle);
	return entry == fences_.end() ? nullptr : entry->second;
}

void SyncobjTable::replace(uint32_t handle, std::shared_ptr<EmbeddedFence> fence)
{
	fences_[handle] = std::move(fence);
}

} /* namespace nvdla */

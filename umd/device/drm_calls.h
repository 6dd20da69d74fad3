/* SPDX-License-Identifier: MIT */
/*
 * DRM's own ioctls that the runtime needs.
 */
#pragma once

#include <drm.h>

#include "backend.h"

namespace nvdla
{

inline int closeHandle(DeviceBackend &backend, uint32_t handle)
{
	drm_gem_close close = {};
	close.handle = handle;
	return backend.ioctl(DRM_IOCTL_GEM_CLOSE, &close);
}

/** \return a syncobj without a fence, or a negative errno */
inline tl::expected<uint32_t, int> createSyncobj(DeviceBackend &backend)
{
	drm_syncobj_create create = {};
	const int error = backend.ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &create);
	if (error)
		return tl::unexpected(error);
	return create.handle;
}

inline int destroySyncobj(DeviceBackend &backend, uint32_t handle)
{
	drm_syncobj_destroy destroy = {};
	destroy.handle = handle;
	return backend.ioctl(DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

/** \brief Wait for the fence of one syncobj until an absolute CLOCK_MONOTONIC time */
inline int waitSyncobj(DeviceBackend &backend, uint32_t handle, int64_t deadline)
{
	drm_syncobj_wait wait = {};
	wait.handles = reinterpret_cast<uintptr_t>(&handle);
	wait.count_handles = 1;
	wait.timeout_nsec = deadline;
	wait.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	return backend.ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

} /* namespace nvdla */

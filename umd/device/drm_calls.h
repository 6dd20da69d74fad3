/* SPDX-License-Identifier: MIT */
/*
 * DRM's own ioctls that the runtime needs.
 */
#pragma once

#include <drm.h>
#include <fcntl.h>

#include "backend.h"

namespace nvdla
{

/**
 * \brief drm_syncobj_eventfd: arguments of the ioctl that signals an eventfd at a fence's end
 *
 * Linux has this ioctl since 6.6. The host's headers may be older, so it is declared here.
 */
struct SyncobjEventfd {
	uint32_t handle;
	uint32_t flags; /**< 0: signal the eventfd when the fence is signalled */
	uint64_t point; /**< point of a timeline, 0 for a binary syncobj */
	int32_t fd;
	uint32_t pad;
};
constexpr unsigned long syncobjEventfdRequest = DRM_IOWR(0xcf, SyncobjEventfd);

inline int closeHandle(DeviceBackend &backend, uint32_t handle)
{
	drm_gem_close close = {};
	close.handle = handle;
	return backend.call(DRM_IOCTL_GEM_CLOSE, &close);
}

/**
 * \return the handle of a dma-buf, or a negative errno; importing the same dma-buf again returns
 * the same handle
 */
inline tl::expected<uint32_t, int> importDmaBuf(DeviceBackend &backend, int fd)
{
	drm_prime_handle prime = {};
	prime.fd = fd;
	const int error = backend.call(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	if (error)
		return tl::unexpected(error);
	return prime.handle;
}

/** \return a new file descriptor of a dma-buf, or a negative errno */
inline tl::expected<int, int> exportDmaBuf(DeviceBackend &backend, uint32_t handle)
{
	drm_prime_handle prime = {};
	prime.handle = handle;
	prime.flags = DRM_CLOEXEC | DRM_RDWR;
	const int error = backend.call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (error)
		return tl::unexpected(error);
	return prime.fd;
}

/** \return the handle of a new syncobj without a fence, or a negative errno */
inline tl::expected<uint32_t, int> createSyncobj(DeviceBackend &backend)
{
	drm_syncobj_create create = {};
	const int error = backend.call(DRM_IOCTL_SYNCOBJ_CREATE, &create);
	if (error)
		return tl::unexpected(error);
	return create.handle;
}

inline int destroySyncobj(DeviceBackend &backend, uint32_t handle)
{
	drm_syncobj_destroy destroy = {};
	destroy.handle = handle;
	return backend.call(DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

/** \brief Wait for the fence of one syncobj until an absolute CLOCK_MONOTONIC time */
inline int waitSyncobj(DeviceBackend &backend, uint32_t handle, int64_t deadline)
{
	drm_syncobj_wait wait = {};
	wait.handles = reinterpret_cast<uintptr_t>(&handle);
	wait.count_handles = 1;
	wait.timeout_nsec = deadline;
	wait.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	return backend.call(DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

/** \brief Let the driver add 1 to \a eventfd once the fence of \a syncobj is signalled */
inline int notifyEventfd(DeviceBackend &backend, uint32_t syncobj, int eventfd)
{
	SyncobjEventfd args = {};
	args.handle = syncobj;
	args.fd = eventfd;
	return backend.call(syncobjEventfdRequest, &args);
}

} /* namespace nvdla */

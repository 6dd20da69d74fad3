/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "device/clock.h"

namespace nvdla
{

void EmbeddedFence::signal(int error)
{
	done_ = true;
	error_ = error;
	for (const UniqueFd &fd : eventfds_)
		eventfd_write(fd.get(), 1);
	eventfds_.clear();
}

void EmbeddedFence::notify(UniqueFd eventfd)
{
	if (done_)
		eventfd_write(eventfd.get(), 1);
	else
		eventfds_.push_back(std::move(eventfd));
}

int SyncobjTable::create(drm_syncobj_create &args)
{
	if (args.flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;

	Syncobj syncobj;
	if (args.flags & DRM_SYNCOBJ_CREATE_SIGNALED) {
		syncobj.fence = std::make_shared<EmbeddedFence>();
		syncobj.fence->signal(0);
	}
	while (syncobjs_.contains(nextHandle_) || !nextHandle_)
		nextHandle_++;
	args.handle = nextHandle_++;
	syncobjs_.emplace(args.handle, std::move(syncobj));
	return 0;
}

int SyncobjTable::destroy(const drm_syncobj_destroy &args)
{
	return !args.pad && syncobjs_.erase(args.handle) ? 0 : -EINVAL;
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

int SyncobjTable::notify(const SyncobjEventfd &args)
{
	if (args.flags || args.pad)
		return -EINVAL;
	if (args.point)
		return -EOPNOTSUPP;
	const auto entry = syncobjs_.find(args.handle);
	if (entry == syncobjs_.end())
		return -ENOENT;
	UniqueFd eventfd(fcntl(args.fd, F_DUPFD_CLOEXEC, 0));
	if (!eventfd)
		return -errno;

	Syncobj &syncobj = entry->second;
	if (syncobj.fence)
		syncobj.fence->notify(std::move(eventfd));
	else
		syncobj.eventfds.push_back(std::move(eventfd));
	return 0;
}

int SyncobjTable::wait(drm_syncobj_wait &args, std::unique_lock<std::mutex> &guard,
		       std::condition_variable &changed)
{
	constexpr uint32_t known =
		DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	const auto *handles = reinterpret_cast<const uint32_t *>(args.handles);
	const bool all = args.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;

	if (args.flags & ~known || !args.count_handles)
		return -EINVAL;
	for (uint32_t i = 0; i < args.count_handles; i++) {
		if (!contains(handles[i]))
			return -ENOENT;
		if (!(args.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) && !fence(handles[i]))
			return -EINVAL;
	}

	auto done = [&] {
		uint32_t count = 0;
		for (uint32_t i = 0; i < args.count_handles; i++) {
			const auto one = fence(handles[i]);
			if (!one || !one->done())
				continue;
			if (!count++)
				args.first_signaled = i;
		}
		return all ? count == args.count_handles : count > 0;
	};
	return changed.wait_until(guard, timePoint(args.timeout_nsec), done) ? 0 : -ETIME;
}

std::shared_ptr<EmbeddedFence> SyncobjTable::fence(uint32_t handle) const
{
	const auto entry = syncobjs_.find(handle);
	return entry == syncobjs_.end() ? nullptr : entry->second.fence;
}

void SyncobjTable::replace(uint32_t handle, std::shared_ptr<EmbeddedFence> fence)
{
	Syncobj &syncobj = syncobjs_[handle];

	syncobj.fence = std::move(fence);
	if (!syncobj.fence)
		return;
	for (UniqueFd &eventfd : syncobj.eventfds)
		syncobj.fence->notify(std::move(eventfd));
	syncobj.eventfds.clear();
}

} /* namespace nvdla */

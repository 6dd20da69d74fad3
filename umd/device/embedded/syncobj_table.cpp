/* SPDX-License-Identifier: MIT */
#include "syncobj_table.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>

#include "device/clock.h"

namespace nvdla
{

namespace
{

constexpr uint32_t waitAll = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
constexpr uint32_t waitForSubmit = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
constexpr uint32_t waitAvailable = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;

bool reached(const EmbeddedFences &fences)
{
	return std::ranges::all_of(fences, [](const auto &fence) { return fence->done(); });
}

} /* namespace */

int SyncobjTable::create(drm_syncobj_create &args)
{
	if (args.flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;

	auto syncobj = std::make_shared<Syncobj>();
	if (args.flags & DRM_SYNCOBJ_CREATE_SIGNALED)
		syncobj->replace(EmbeddedFence::signalled());
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

std::shared_ptr<Syncobj> SyncobjTable::find(uint32_t handle) const
{
	const auto entry = syncobjs_.find(handle);
	return entry == syncobjs_.end() ? nullptr : entry->second;
}

int SyncobjTable::findAll(uint64_t handles, uint32_t count,
			  std::vector<std::shared_ptr<Syncobj>> &found) const
{
	const auto *numbers = reinterpret_cast<const uint32_t *>(handles);

	if (!count)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++) {
		found.push_back(find(numbers[i]));
		if (!found.back())
			return -ENOENT;
	}
	return 0;
}

void SyncobjTable::put(Syncobj &syncobj, uint64_t point, std::shared_ptr<EmbeddedFence> fence)
{
	if (point)
		syncobj.addPoint(point, std::move(fence));
	else
		syncobj.replace(std::move(fence));
	changed_.notify_all(); /* wakes threads that wait until a point is submitted */
}

int SyncobjTable::reset(const drm_syncobj_array &args)
{
	std::vector<std::shared_ptr<Syncobj>> syncobjs;

	if (args.pad)
		return -EINVAL;
	if (const int error = findAll(args.handles, args.count_handles, syncobjs))
		return error;
	for (const auto &syncobj : syncobjs)
		syncobj->replace(nullptr);
	return 0;
}

int SyncobjTable::signal(const drm_syncobj_array &args)
{
	std::vector<std::shared_ptr<Syncobj>> syncobjs;

	if (args.pad)
		return -EINVAL;
	if (const int error = findAll(args.handles, args.count_handles, syncobjs))
		return error;
	for (const auto &syncobj : syncobjs)
		put(*syncobj, 0, EmbeddedFence::signalled());
	return 0;
}

int SyncobjTable::signal(const drm_syncobj_timeline_array &args)
{
	const auto *points = reinterpret_cast<const uint64_t *>(args.points);
	std::vector<std::shared_ptr<Syncobj>> syncobjs;

	if (args.flags)
		return -EINVAL;
	if (const int error = findAll(args.handles, args.count_handles, syncobjs))
		return error;
	for (size_t i = 0; i < syncobjs.size(); i++)
		put(*syncobjs[i], points ? points[i] : 0, EmbeddedFence::signalled());
	return 0;
}

int SyncobjTable::query(const drm_syncobj_timeline_array &args) const
{
	auto *points = reinterpret_cast<uint64_t *>(args.points);
	std::vector<std::shared_ptr<Syncobj>> syncobjs;

	if (args.flags & ~DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED)
		return -EINVAL;
	if (const int error = findAll(args.handles, args.count_handles, syncobjs))
		return error;
	for (size_t i = 0; i < syncobjs.size(); i++)
		points[i] = args.flags ? syncobjs[i]->submitted() : syncobjs[i]->reached();
	return 0;
}

int SyncobjTable::notify(const SyncobjEventfd &args)
{
	if (args.flags & ~waitAvailable || args.pad)
		return -EINVAL;
	const auto syncobj = find(args.handle);
	if (!syncobj)
		return -ENOENT;
	UniqueFd eventfd(fcntl(args.fd, F_DUPFD_CLOEXEC, 0));
	if (!eventfd)
		return -errno;
	syncobj->notify(args.point, args.flags, std::move(eventfd));
	return 0;
}

int SyncobjTable::wait(drm_syncobj_wait &args, std::unique_lock<std::mutex> &guard)
{
	if (args.flags & ~(waitAll | waitForSubmit))
		return -EINVAL;
	return wait({ args.handles, 0, args.count_handles, args.flags, args.timeout_nsec,
		      args.first_signaled },
		    guard);
}

int SyncobjTable::wait(drm_syncobj_timeline_wait &args, std::unique_lock<std::mutex> &guard)
{
	if (args.flags & ~(waitAll | waitForSubmit | waitAvailable))
		return -EINVAL;
	return wait({ args.handles, args.points, args.count_handles, args.flags, args.timeout_nsec,
		      args.first_signaled },
		    guard);
}

int SyncobjTable::wait(const Wait &wait, std::unique_lock<std::mutex> &guard)
{
	const auto *points = reinterpret_cast<const uint64_t *>(wait.points);
	std::vector<std::shared_ptr<Syncobj>> syncobjs;

	if (const int error = findAll(wait.handles, wait.count, syncobjs))
		return error;
	/* Wait for the fences that the syncobj holds when the point first appears. */
	std::vector<std::optional<EmbeddedFences>> fences(syncobjs.size());
	auto look = [&](size_t i) {
		if (!fences[i])
			fences[i] = syncobjs[i]->find(points ? points[i] : 0);
		return fences[i].has_value();
	};
	for (size_t i = 0; i < syncobjs.size(); i++) {
		if (!look(i) && !(wait.flags & (waitForSubmit | waitAvailable)))
			return -EINVAL;
	}

	auto done = [&] {
		size_t count = 0;
		for (size_t i = 0; i < syncobjs.size(); i++) {
			if (!look(i) || !(wait.flags & waitAvailable || reached(*fences[i])))
				continue;
			if (!count++)
				wait.first = static_cast<uint32_t>(i);
		}
		return wait.flags & waitAll ? count == syncobjs.size() : count > 0;
	};
	return changed_.wait_until(guard, timePoint(wait.deadlineNs), done) ? 0 : -ETIME;
}

} /* namespace nvdla */

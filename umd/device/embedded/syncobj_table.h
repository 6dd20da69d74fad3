/* SPDX-License-Identifier: MIT */
/*
 * DRM's ioctls for syncobjs on the embedded device.
 */
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <drm.h>

#include "device/drm_calls.h"
#include "device/embedded/syncobj.h"

namespace nvdla
{

/**
 * \brief Syncobjs of one open device
 *
 * Functions that take the arguments of an ioctl return 0 or a negative errno, as the kernel does.
 * Callers of all functions hold the device's lock.
 */
class SyncobjTable
{
public:
	/**
	 * \param[in] changed notified by the device when a fence is done, and by put() when a
	 * syncobj gets a fence
	 */
	explicit SyncobjTable(std::condition_variable &changed) : changed_(changed) {}

	int create(drm_syncobj_create &args);
	int destroy(const drm_syncobj_destroy &args);
	int reset(const drm_syncobj_array &args);
	int signal(const drm_syncobj_array &args);
	int signal(const drm_syncobj_timeline_array &args);
	int query(const drm_syncobj_timeline_array &args) const;
	int notify(const SyncobjEventfd &args);
	/** \param[in] guard the device's lock, which is released during the wait */
	int wait(drm_syncobj_wait &args, std::unique_lock<std::mutex> &guard);
	int wait(drm_syncobj_timeline_wait &args, std::unique_lock<std::mutex> &guard);

	/** \return nullptr if there is no such syncobj */
	std::shared_ptr<Syncobj> find(uint32_t handle) const;
	/** \brief Add \a point to the timeline of a syncobj, or if the point is 0, replace the
	 * syncobj's fence */
	void put(Syncobj &syncobj, uint64_t point, std::shared_ptr<EmbeddedFence> fence);

private:
	/*
	 * Arguments that DRM_IOCTL_SYNCOBJ_WAIT and DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT have in common.
	 */
	struct Wait {
		uint64_t handles;
		uint64_t points; /* address of an array of points; null: all points are 0 */
		uint32_t count;
		uint32_t flags;
		int64_t deadlineNs;
		uint32_t &first;
	};

	int wait(const Wait &wait, std::unique_lock<std::mutex> &guard);
	/* Looks up syncobjs. \return 0, or a negative errno for a wrong handle */
	int findAll(uint64_t handles, uint32_t count,
		    std::vector<std::shared_ptr<Syncobj>> &found) const;

	std::condition_variable &changed_;
	std::unordered_map<uint32_t, std::shared_ptr<Syncobj>> syncobjs_;
	uint32_t nextHandle_ = 1;
};

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * Fences and the syncobjs that hold them.
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
#include "io/unique_fd.h"

namespace nvdla
{

/** \brief Completion of a job; guarded by the device's lock */
class EmbeddedFence
{
public:
	bool done() const { return done_; }
	/** \return 0 or a negative errno, once it is done */
	int error() const { return error_; }

	void signal(int error);
	/** \brief Write 1 to \a eventfd once it is done, or now if it is */
	void notify(UniqueFd eventfd);

private:
	bool done_ = false;
	int error_ = 0;
	std::vector<UniqueFd> eventfds_;
};

/**
 * \brief Syncobjs of one open device; the caller has the lock
 *
 * Binary ones; timelines are refused with -EOPNOTSUPP.
 */
class SyncobjTable
{
public:
	int create(drm_syncobj_create &args);
	int destroy(const drm_syncobj_destroy &args);
	int reset(const drm_syncobj_array &args);
	/** \brief As in the kernel: a syncobj without a fence waits for one */
	int notify(const SyncobjEventfd &args);
	/**
	 * \brief Wait for the fences of syncobjs
	 * \param[in] guard the device's lock
	 * \param[in] changed notified when a fence is done or replaced
	 */
	int wait(drm_syncobj_wait &args, std::unique_lock<std::mutex> &guard,
		 std::condition_variable &changed);

	bool contains(uint32_t handle) const { return syncobjs_.contains(handle); }
	/** \return the fence in a syncobj; nullptr if there is none, or no such syncobj */
	std::shared_ptr<EmbeddedFence> fence(uint32_t handle) const;
	/** \brief Put a fence into an existing syncobj */
	void replace(uint32_t handle, std::shared_ptr<EmbeddedFence> fence);

private:
	struct Syncobj {
		std::shared_ptr<EmbeddedFence> fence;
		std::vector<UniqueFd> eventfds; /* for the fence that is to come */
	};

	std::unordered_map<uint32_t, Syncobj> syncobjs_;
	uint32_t nextHandle_ = 1;
};

} /* namespace nvdla */

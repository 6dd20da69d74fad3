/* SPDX-License-Identifier: MIT */
/*
 * Fences and the syncobjs that hold them.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include <drm.h>

namespace nvdla
{

/** \brief Completion of a job; guarded by the device's lock */
struct EmbeddedFence {
	bool done = false;
	int error = 0; /**< 0 or a negative errno, once it is done */
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

	bool contains(uint32_t handle) const { return fences_.contains(handle); }
	/** \return the fence in a syncobj; nullptr if there is none, or no such syncobj */
	std::shared_ptr<EmbeddedFence> fence(uint32_t handle) const;
	/** \brief Put a fence into an existing syncobj */
	void replace(uint32_t handle, std::shared_ptr<EmbeddedFence> fence);

private:
	std::unordered_map<uint32_t, std::shared_ptr<EmbeddedFence>> fences_;
	uint32_t nextHandle_ = 1;
};

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * Prepared tasks of an open embedded device.
 */
#pragma once

#include <cstdint>
#include <map>

#include <drm/nvdla_accel.h>
#include <tl/expected.hpp>

#include "device/embedded/engine.h"

namespace nvdla
{

/** \brief Prepared tasks by their handles. Callers of all functions hold the device's lock */
class TaskTable
{
public:
	/**
	 * \brief Check a task, and keep it under a new handle
	 * \return 0 with the handle set in \a args, or a negative errno
	 */
	int create(const nvdla_variant &variant, drm_nvdla_task_create &args);
	/** \return 0, or -ENOENT for an unknown handle. Jobs that use the task keep it */
	int destroy(const drm_nvdla_task_destroy &args);
	/** \return the prepared task or nullptr */
	EnginePrepared find(uint32_t handle) const;

private:
	std::map<uint32_t, EnginePrepared> tasks_;
	uint32_t nextHandle_ = 1;
	uint64_t bytes_ = 0; /* memory of all tasks that have a handle, in bytes */
};

} /* namespace nvdla */

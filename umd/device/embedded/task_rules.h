/* SPDX-License-Identifier: MIT */
/*
 * The checks by which the driver accepts or refuses a task, usable without a device.
 */
#pragma once

#include <functional>

#include <drm/nvdla_accel.h>
#include <nvdla/core_geometry.h>
#include <nvdla/task.h>
#include <tl/expected.hpp>

#include "device/embedded/engine.h"

namespace nvdla
{

/**
 * \brief A memory's buffer has a multiple of this number of bytes, because the core transfers whole
 * atoms and whole lines of weights
 */
inline constexpr uint64_t memoryGranule = 128;

/**
 * \brief Reason why checkTask() made no task: the host has no memory left, or the task violates the
 * rule that \a error describes
 */
struct TaskRefusal {
	bool noMemory = false;
	nvdla_refusal error = {};
};

/** \return the description of \a core in the form that the driver's checks need */
nvdla_variant engineVariant(const CoreGeometry &core);

/**
 * \brief Check \a task by the driver's rules
 *
 * The task's memories get any addresses that the core can reach, because the rules do not depend on
 * them.
 * \param variant must outlive the returned task
 * \param onChip returns whether the memory with this id is on-chip memory
 * \return the checked task
 */
tl::expected<EngineTask, TaskRefusal> checkTask(const nvdla_variant &variant, const DlaTask &task,
						const std::function<bool(uint16_t)> &onChip);

/** \return true if a core of \a variant can run \a task; does not check ranges in memories */
bool canRun(const nvdla_variant &variant, const DlaTask &task);

} /* namespace nvdla */

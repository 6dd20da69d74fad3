/* SPDX-License-Identifier: MIT */
/*
 * The driver's checks of a task, without a device.
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
 * \brief The size of a memory's buffer is a multiple of these bytes, because the core moves whole
 * atoms and whole lines of weights
 */
inline constexpr uint64_t memoryGranule = 128;

/**
 * \brief Reason why a task was not made: the host has no memory left, or \a error describes the
 * violated rule
 */
struct TaskRefusal {
	bool noMemory = false;
	nvdla_refusal error = {};
};

/** \return the description of \a core that the driver's rules take */
nvdla_variant engineVariant(const CoreGeometry &core);

/**
 * \brief Check \a task by the driver's rules
 *
 * The check places the task's memories one after the other, because rules do not depend on
 * addresses, as long as the core can reach them.
 * \param variant must outlive the returned task
 * \param onChip whether the memory of that index is on the chip
 * \return the task, checked, with its programs
 */
tl::expected<EngineTask, TaskRefusal> checkTask(const nvdla_variant &variant, const DlaTask &task,
						const std::function<bool(uint16_t)> &onChip);

/** \return whether a core of \a variant can run \a task; ranges in its memories are not checked */
bool canRun(const nvdla_variant &variant, const DlaTask &task);

} /* namespace nvdla */

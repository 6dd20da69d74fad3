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

/** \brief A memory's buffer has a multiple of these bytes: the core moves whole atoms and whole
 * lines of weights, so it may touch a bit more than a memory has */
inline constexpr uint64_t memoryGranule = 128;

/** \brief Reason why there is no task: the host has no memory left, or \a error says what
 * is wrong with it */
struct TaskRefusal {
	bool noMemory = false;
	nvdla_refusal error = {};
};

/** \return \a core for the driver's rules */
nvdla_variant engineVariant(const CoreGeometry &core);

/**
 * \brief Hold \a task against the driver's rules
 *
 * Its memories lie one behind the other: no rule asks where, but for what the core can address.
 * \param variant has to be there as long as the task
 * \param onChip whether the memory of that index is on the chip
 * \return the task, checked, with its programs
 */
tl::expected<EngineTask, TaskRefusal> checkTask(const nvdla_variant &variant, const DlaTask &task,
						const std::function<bool(uint16_t)> &onChip);

/** \return whether a core of \a variant can run \a task, whatever its memory is like */
bool canRun(const nvdla_variant &variant, const DlaTask &task);

} /* namespace nvdla */

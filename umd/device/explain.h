/* SPDX-License-Identifier: MIT */
/*
 * Explains in words why the driver refused a task, by running its checks again here.
 */
#pragma once

#include <optional>

#include <drm/nvdla_accel.h>

#include "backend.h"
#include "user/nvdla_engine.h"

namespace nvdla
{

/**
 * \param[in] variant enum drm_nvdla_variant
 * \param[in] args the task that DRM_IOCTL_NVDLA_TASK_CREATE was given, with structures of this version
 * \return what is wrong with it, or nothing if all is well as far as this version knows
 */
std::optional<nvdla_refusal> explain(uint32_t variant, const drm_nvdla_task &args);

/**
 * \param[in] variant enum drm_nvdla_variant
 * \param[in] args what DRM_IOCTL_NVDLA_SUBMIT was given, with structures of this version
 * \return what is wrong with it, or nothing if all is well as far as this version knows
 */
std::optional<nvdla_refusal> explain(uint32_t variant, DeviceBackend &backend,
				     const drm_nvdla_submit &args);

} /* namespace nvdla */

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
 * \param[in] args arguments of DRM_IOCTL_NVDLA_TASK_CREATE, with structures of this version
 * \return the violated rule; nothing if the checks of this library find none
 */
std::optional<nvdla_refusal> explain(uint32_t variant, const drm_nvdla_task &args);

/**
 * \param[in] variant enum drm_nvdla_variant
 * \param[in] args arguments of DRM_IOCTL_NVDLA_SUBMIT, with structures of this version
 * \return the violated rule; nothing if the checks of this library find none
 */
std::optional<nvdla_refusal> explain(uint32_t variant, DeviceBackend &backend,
				     const drm_nvdla_submit &args);

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/* Steps of a network that a library of the host computes. */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <nvdla/task.h>

#include "base/host/host_model.h"

namespace nvdla
{

/** \brief For each task, its model opened by a library of the host; nothing for a task without a
 * model */
using HostModels = std::vector<std::optional<HostModel>>;

/**
 * \brief Open the models of tasks for the host
 * \param[in] loadable loadable of \a tasks
 * \return an error naming the operators if the library is missing or lacks an operator
 */
Result<HostModels> openHostModels(const Loadable &loadable, std::span<const AnyTask> tasks);

/**
 * \brief Carry out a task
 * \param[in] model model of the task, nullptr if it has none
 * \param[in] inputs,outputs bytes of each input and of each output
 * \param[out] results objects for outputs whose size is known only after the run; null for other
 * outputs
 */
Result<void> runHost(const HostTask &task, const HostModel *model,
		     std::span<const std::span<std::byte>> inputs,
		     std::span<const std::span<std::byte>> outputs,
		     std::span<HostResult *const> results);

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * Describes the operations of a task to the timing model, without running it.
 */
#pragma once

#include <cstddef>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>

#include "timing/work.h"

namespace nvdla::chip
{

/** \brief Operations of a task that pass data to each other on the fly, or a single operation */
struct FusedWork {
	std::vector<size_t>
		members; /**< indices of operations in the task, in the order of the data flow */
	sim::OperationWork work;
	std::vector<size_t> after; /**< indices, all smaller, of works that end before this one */
};

/**
 * \brief Compute the work of a task's operations
 *
 * The driver's own check turns descriptors into register values, and the device model's decoders
 * turn these into operations. So the timing model gets the same input as when the device model
 * runs the task.
 *
 * \param[in] loadable the loadable of the task, which says which memories are on chip
 * \return the operations in a possible order; InvalidArgument if the driver would refuse the task
 */
Result<std::vector<FusedWork>> taskWork(const Loadable &loadable, const DlaTask &task);

} /* namespace nvdla::chip */

/* SPDX-License-Identifier: MIT */
/* The steps of a run: a loadable's tasks, grouped once when the network is loaded. */
#pragma once

#include <optional>
#include <vector>

#include <nvdla/device.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>
#include <nvdla/tensor.h>

#include "runtime/resident_memory.h"

namespace nvdla
{

/** \brief Tasks of one step: a job for the device, or a task for the CPU */
struct ProgramStep {
	bool cpu = false;
	size_t first = 0; /**< index of the first task in Program::tasks */
	size_t count = 0;
	unsigned operations = 0;
	/** \brief True if the driver may run the job again after a reset of the core, because the
	 * job overwrites no data that existed before its start */
	bool restartable = false;
};

/** \brief The device's prepared task for each task of a Program; nothing if it has none */
using PreparedTasks = std::vector<std::optional<PreparedTask>>;

/** \brief A loadable's tasks and tensors, the steps of a run, and the use of the loadable's
 * memories */
struct Program : NetworkParts {
	std::vector<ProgramStep> steps;
	MemoryIds written; /**< memories that operations write */
	MemoryIds shared;  /**< memories that no run writes, such as those of parameters; all runs
			      share them */
	MemoryIds own;	   /**< memories that each run needs for itself: tensors and intermediate
			      results */

	/**
	 * \param[in] loadable a loadable that passed Loadable::check()
	 * \param[in] maxTasks largest number of tasks in a job
	 */
	static Result<Program> create(const Loadable &loadable, size_t maxTasks);

	/** \return inputs, outputs and the tensors of states */
	std::vector<TensorDesc> tensors() const;

	/** \return memories that CPU tasks read or write */
	MemoryIds cpuMemories() const;
	/** \return memories that the core's tasks read or write */
	MemoryIds coreMemories() const;

	/** \return the largest number of operations in a job */
	unsigned maxOperations() const;

	/**
	 * \brief Let the driver prepare the tasks, as many as it has room for
	 * \return the prepared tasks, or the driver's refusal of a task
	 */
	Result<PreparedTasks> prepare(const Device &device) const;
};

/** \return InvalidArgument if tensor \a index does not exist; \a kind is "input" or "output" */
Result<void> checkIndex(const char *what, const char *kind, size_t index,
			const std::vector<TensorDesc> &tensors);

/** \return memories that the operations of a task write */
MemoryIds writtenMemories(const AnyTask &task);

} /* namespace nvdla */

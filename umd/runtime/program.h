/* SPDX-License-Identifier: MIT */
/*
 * Steps that a loadable asks a device to do, prepared once.
 */
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

/** \brief Tasks that go together: one job for the device, or one task for the CPU */
struct ProgramStep {
	bool cpu = false;
	size_t first = 0; /**< into Program::tasks */
	size_t count = 0;
	unsigned operations = 0;
	/** \brief The job overwrites nothing that was there before, so it may be run again */
	bool restartable = false;
};

/** \brief The device's prepared task for each task of a Program; nothing if it has none */
using PreparedTasks = std::vector<std::optional<PreparedTask>>;

/** \brief A loadable's tasks, tensors and the use of its memories */
struct Program : NetworkParts {
	std::vector<ProgramStep> steps;
	MemoryIds written; /**< by operations */
	MemoryIds shared;  /**< memories that no run writes: parameters */
	MemoryIds own;	   /**< of each run: tensors and intermediate results */

	/**
	 * \param[in] loadable checked
	 * \param[in] maxTasks tasks that fit into a job
	 */
	static Result<Program> create(const Loadable &loadable, size_t maxTasks);

	/** \return memories that CPU tasks read or write */
	MemoryIds cpuMemories() const;
	/** \return memories that the core's tasks read or write */
	MemoryIds coreMemories() const;

	/** \return operations of the job that has most of them */
	unsigned maxOperations() const;

	/**
	 * \brief Have the device check the tasks once, as far as it can keep them
	 * \return the device's refusal of a task
	 */
	Result<PreparedTasks> prepare(const Device &device) const;
};

/** \return InvalidArgument if there is no tensor \a index; \a kind is input or output */
Result<void> checkIndex(const char *what, const char *kind, size_t index,
			const std::vector<TensorDesc> &tensors);

/** \return memories that the operations of a task write */
MemoryIds writtenMemories(const AnyTask &task);

} /* namespace nvdla */

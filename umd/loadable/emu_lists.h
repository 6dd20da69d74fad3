/* SPDX-License-Identifier: MIT */
/* Descriptor lists of a task for the CPU, as the current compilers write them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/task.h>

namespace nvdla
{

/** \brief Kind of a CPU task's list in a blob (Blob::subInterface) */
enum EmuSubInterface : uint32_t {
	EmuAddr0 = 1,
	EmuOps = 3,
	EmuSurfs = 4,
};

struct EmuLists {
	std::vector<std::byte> network;
	std::vector<std::byte> operations;
	std::vector<std::byte> buffers;
};

/**
 * \brief Write the lists that emuTask() reads
 * \param[in] operationIndex position of the operation list in the task's address table
 * \param[in] bufferIndex position of the buffer list in this table
 */
EmuLists emuLists(std::span<const EmuOperation> operations, int16_t operationIndex,
		  int16_t bufferIndex);

} /* namespace nvdla */

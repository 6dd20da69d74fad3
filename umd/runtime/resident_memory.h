/* SPDX-License-Identifier: MIT */
/* A loadable's memories on a device. */
#pragma once

#include <functional>
#include <set>
#include <unordered_map>

#include <nvdla/device.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>

namespace nvdla
{

/** \brief Ids of memories */
using MemoryIds = std::set<uint16_t>;

/** \brief Place of a loadable's memory on a device */
struct MemoryPlace {
	uint32_t handle = 0; /**< GEM handle of the buffer; 0 if there is none */
	uint64_t offset = 0; /**< offset of the first byte in the buffer */
	uint64_t size = 0;   /**< bytes of the memory from offset on */
};

/**
 * \brief Bytes that a buffer for a memory needs
 *
 * This is more than the memory's size, because the core transfers whole atoms and whole lines of
 * weights, and so may access bytes behind the end of the memory.
 */
uint64_t residentBytes(const Memory &memory);

/**
 * \brief Turn a task's address table into ranges of buffers
 *
 * A range that reaches the end of its memory is rounded up in the same way as the memory's buffer.
 */
std::vector<BufferRange> resolveAddresses(std::span<const TaskAddress> addresses,
					  const std::function<MemoryPlace(uint16_t)> &place);

/** \return the memories that operations of \a tasks access, and those of \a tensors */
MemoryIds usedMemories(std::span<const AnyTask> tasks, std::span<const TensorDesc> tensors);

/** \brief Buffers for memories of a loadable */
class ResidentMemory
{
public:
	/**
	 * \brief Allocate and fill memories
	 * \return Unsupported for on-chip memory with contents, which the CPU cannot write
	 */
	static Result<ResidentMemory> create(const Device &device, const Loadable &loadable,
					     const MemoryIds &memories);

	/** \return the buffer of a memory, nullptr if there is none */
	Buffer *find(uint16_t memory);

	/** \return the place of a memory; its handle is 0 if there is none */
	MemoryPlace place(uint16_t memory);

private:
	Result<void> add(const Device &device, const Loadable &loadable, uint16_t memory);

	std::unordered_map<uint16_t, Buffer> buffers_;
};

} /* namespace nvdla */

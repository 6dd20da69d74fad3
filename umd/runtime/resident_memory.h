/* SPDX-License-Identifier: MIT */
/*
 * A loadable's memories on a device.
 */
#pragma once

#include <unordered_map>

#include <nvdla/device.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>

namespace nvdla
{

/** \brief Buffers for those memories of a loadable that tasks or tensors use */
class ResidentMemory
{
public:
	/**
	 * \brief Allocate and fill the memories
	 * \param[in] tasks whose used addresses have to be resident
	 * \param[in] tensors that have to be resident
	 */
	static Result<ResidentMemory> create(const Device &device, const Loadable &loadable,
					     std::span<const AnyTask> tasks,
					     std::span<const TensorDesc> tensors);

	/** \return the buffer of a memory, nullptr if it is not resident */
	Buffer *find(uint16_t memory);

	/**
	 * \brief Resolve an address table
	 *
	 * The core moves whole atoms and whole lines of weights, so what an
	 * address covers is rounded up; the buffer has that much.
	 */
	std::vector<BufferRange> resolve(std::span<const TaskAddress> addresses);

private:
	Result<void> add(const Device &device, const Loadable &loadable, uint16_t memory);

	std::unordered_map<uint16_t, Buffer> buffers_;
};

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend.h"

namespace nvdla
{

/** \brief GEM handle and mapping of a buffer, which all copies of a Buffer share */
class BufferMemory
{
public:
	/**
	 * \param[in] gemHandle GEM handle, of which this object is a counted owner in the backend's
	 * handles(); the destructor releases it
	 * \param[in] bytes requested size
	 * \param[in] allBytes allocated size, in whole pages
	 */
	BufferMemory(std::shared_ptr<DeviceBackend> device, uint32_t gemHandle, uint64_t bytes,
		     size_t allBytes)
		: backend(std::move(device)), handle(gemHandle), size(bytes), mappingSize(allBytes)
	{
	}
	~BufferMemory();

	BufferMemory(const BufferMemory &) = delete;
	BufferMemory &operator=(const BufferMemory &) = delete;

	/**
	 * \brief Map the memory for the CPU
	 * \return 0 or a negative errno
	 */
	int map();

	const std::shared_ptr<DeviceBackend> backend;
	const uint32_t handle;
	const uint64_t size;
	const size_t mappingSize;
	std::byte *mapping = nullptr; /**< null if not mapped for the CPU */
};

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <tl/expected.hpp>

namespace nvdla
{

class DeviceBackend;

/**
 * \brief How many owners each GEM handle of an open device file has
 *
 * Importing the same dma-buf again gives the same handle (drm_prime.c,
 * "drm_gem_prime_fd_to_handle"), which one GEM_CLOSE ends for everybody: only the last owner may
 * close it. All functions may be called from several threads at once.
 */
class GemHandles
{
public:
	/** \brief Note the owner of a handle that was created */
	void add(uint32_t handle);

	/** \return the handle of a dma-buf with one more owner, or a negative errno */
	tl::expected<uint32_t, int> import(DeviceBackend &backend, int fd);

	/** \brief End one ownership */
	void release(DeviceBackend &backend, uint32_t handle);

private:
	std::mutex lock_;
	std::unordered_map<uint32_t, unsigned> owners_;
};

} /* namespace nvdla */

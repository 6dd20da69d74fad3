/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <tl/expected.hpp>

namespace nvdla
{

class DeviceBackend;

/** \brief The memory of a GEM handle */
struct GemMemory {
	uint64_t bytes = 0;
	bool onChip = false;
};

/**
 * \brief The GEM handles of an open device file: their memory, and how many owners each has
 *
 * Importing the same dma-buf again gives the same handle (drm_prime.c,
 * "drm_gem_prime_fd_to_handle"). A single GEM_CLOSE ends the handle for all its owners, so only the
 * last owner may close it. All functions may be called from several threads at once.
 */
class GemHandles
{
public:
	/** \brief Count the first owner of a newly created handle */
	void add(uint32_t handle, const GemMemory &memory);

	/** \return the handle of a dma-buf of \a bytes with one more owner, or a negative errno */
	tl::expected<uint32_t, int> import(DeviceBackend &backend, int fd, uint64_t bytes);

	/** \brief Count one owner less; the last one closes the handle */
	void release(DeviceBackend &backend, uint32_t handle);

	/** \return the memory of a handle that has owners */
	std::optional<GemMemory> find(uint32_t handle) const;

private:
	struct Entry {
		unsigned owners = 0;
		GemMemory memory;
	};

	mutable std::mutex lock_;
	std::unordered_map<uint32_t, Entry> entries_;
};

} /* namespace nvdla */

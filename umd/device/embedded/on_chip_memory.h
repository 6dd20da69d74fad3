/* SPDX-License-Identifier: MIT */
/* Allocation of buffers in the CVSRAM, the on-chip memory of the device model. */
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace nvdla
{

/** \brief Allocates ranges of the CVSRAM. Callers of all functions hold the device's lock */
class OnChipMemory
{
public:
	/** \param base first address, as the device model addresses it */
	OnChipMemory(uint64_t base, uint64_t size) : base_(base), size_(size) {}

	uint64_t size() const { return size_; }

	/** \return address of \a size free bytes; nothing if there is no such range */
	std::optional<uint64_t> allocate(uint64_t size);
	void free(uint64_t address) { ranges_.erase(address); }

private:
	const uint64_t base_;
	const uint64_t size_;
	std::map<uint64_t, uint64_t> ranges_; /* address of an allocated range -> its size in
						 bytes */
};

} /* namespace nvdla */

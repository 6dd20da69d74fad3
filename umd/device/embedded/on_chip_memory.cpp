/* SPDX-License-Identifier: MIT */
#include "on_chip_memory.h"

namespace nvdla
{

std::optional<uint64_t> OnChipMemory::allocate(uint64_t size)
{
	uint64_t address = base_;

	for (const auto &[start, bytes] : ranges_) {
		if (start - address >= size)
			break;
		address = start + bytes;
	}
	if (size > base_ + size_ - address)
		return std::nullopt;
	ranges_.emplace(address, size);
	return address;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "config_space.h"

#include <bit>
#include <cassert>

namespace nvdla::sim::vfiouser::pci
{

ConfigSpace::ConfigSpace(const Identity &identity)
{
	set(kVendorId, identity.vendorId, 2);
	set(kDeviceId, identity.deviceId, 2);
	set(kRevision, identity.revision, 1);
	set(kClass, identity.classCode, 3);
	set(kSubsystemVendorId, identity.subsystemVendorId, 2);
	set(kSubsystemId, identity.subsystemId, 2);

	allow(kCommand,
	      kCommandMemory | kCommandMaster | kCommandParity | kCommandSerr | kCommandIntxDisable,
	      2);
	allow(kCacheLineSize, 0xff, 1);
	allow(kLatencyTimer, 0xff, 1);
	allow(kInterruptLine, 0xff, 1);
	seal();
}

void ConfigSpace::addMemoryBar(unsigned int bar, uint32_t size)
{
	assert(bar < kBarCount && size >= 16 && std::has_single_bit(size));
	/* The low four bits stay zero: they mean a 32-bit memory BAR, not prefetchable. */
	allow(kBar0 + 4 * bar, ~(size - 1), 4);
}

uint8_t ConfigSpace::addCapability(uint8_t id, std::span<const uint8_t> body,
				   std::span<const uint8_t> writable)
{
	const size_t at = nextFree_;
	assert(at + 2 + body.size() <= kSize && writable.size() <= body.size());

	set(lastPointer_, at, 1);
	set(kStatus, get16(kStatus) | kStatusCapabilities, 2);
	bytes_[at] = id;
	for (size_t i = 0; i < body.size(); i++)
		bytes_[at + 2 + i] = body[i];
	for (size_t i = 0; i < writable.size(); i++)
		writable_[at + 2 + i] = writable[i];
	lastPointer_ = at + 1;
	/* The next capability begins at a multiple of four. */
	nextFree_ = (at + 2 + body.size() + 3) & ~size_t{ 3 };
	return static_cast<uint8_t>(at);
}

void ConfigSpace::read(size_t offset, std::span<std::byte> data) const
{
	for (size_t i = 0; i < data.size(); i++)
		data[i] = offset + i < kSize ? std::byte{ bytes_[offset + i] } : std::byte{ 0xff };
}

void ConfigSpace::write(size_t offset, std::span<const std::byte> data)
{
	for (size_t i = 0; i < data.size() && offset + i < kSize; i++) {
		const uint8_t mask = writable_[offset + i];
		uint8_t &byte = bytes_[offset + i];
		byte = static_cast<uint8_t>((byte & ~mask) |
					    (std::to_integer<uint8_t>(data[i]) & mask));
	}
}

uint16_t ConfigSpace::get16(size_t offset) const
{
	return static_cast<uint16_t>(bytes_[offset] | bytes_[offset + 1] << 8);
}

void ConfigSpace::set(size_t offset, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes_[offset + i] = static_cast<uint8_t>(value >> (8 * i));
}

void ConfigSpace::allow(size_t offset, uint64_t mask, size_t size)
{
	for (size_t i = 0; i < size; i++)
		writable_[offset + i] = static_cast<uint8_t>(mask >> (8 * i));
}

} /* namespace nvdla::sim::vfiouser::pci */

/* SPDX-License-Identifier: MIT */
#include "guest_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nvdla::sim::vfiouser
{

namespace
{

/*
 * Copies all parts of an access: first those in mapped memory, then the others by messages to the
 * client. All leases are released before the first message, because no lease may be held while
 * waiting for the client.
 */
template<typename Bytes, typename Local, typename Remote>
bool copyParts(std::vector<DmaMap::Lease> leases, Bytes bytes, Local local, Remote remote)
{
	std::vector<std::pair<uint64_t, Bytes>> later;

	if (leases.empty())
		return bytes.empty();
	for (DmaMap::Lease &lease : leases) {
		const Bytes part = bytes.first(lease.size());
		bytes = bytes.subspan(lease.size());
		if (!lease.local())
			later.emplace_back(lease.address(), part);
		else if (!local(lease, part))
			return false;
		lease.release();
	}
	return std::ranges::all_of(
		later, [&](const auto &part) { return remote(part.first, part.second); });
}

} /* namespace */

bool GuestMemory::read(uint64_t address, std::span<std::byte> out)
{
	return copyParts(
		map_.acquire(address, out.size(), Access::Read), out,
		[](const DmaMap::Lease &lease, std::span<std::byte> part) {
			return lease.read(part);
		},
		[this](uint64_t at, std::span<std::byte> part) { return channel_.read(at, part); });
}

bool GuestMemory::write(uint64_t address, std::span<const std::byte> data)
{
	return copyParts(
		map_.acquire(address, data.size(), Access::Write), data,
		[](const DmaMap::Lease &lease, std::span<const std::byte> part) {
			return lease.write(part);
		},
		[this](uint64_t at, std::span<const std::byte> part) {
			return channel_.write(at, part);
		});
}

} /* namespace nvdla::sim::vfiouser */

/* SPDX-License-Identifier: MIT */
#include "guest_memory.h"

#include <vector>

namespace nvdla::sim::vfiouser
{

namespace
{

struct RemotePart {
	uint64_t address;
	size_t offset;
	size_t size;
};

/*
 * Do the parts of an access that lie in mapped memory, and return the others:
 * those must wait for the client, and nothing may be leased meanwhile.
 */
template<typename Copy>
bool copyLocal(std::vector<DmaMap::Lease> leases, std::vector<RemotePart> &remote, Copy copy)
{
	size_t offset = 0;
	for (DmaMap::Lease &lease : leases) {
		if (!lease.local())
			remote.push_back({ lease.address(), offset, lease.size() });
		else if (!copy(lease, offset))
			return false;
		offset += lease.size();
		lease.release();
	}
	return true;
}

} /* namespace */

bool GuestMemory::read(uint64_t address, std::span<std::byte> out)
{
	if (out.empty())
		return true;
	std::vector<DmaMap::Lease> leases = map_.acquire(address, out.size(), Access::Read);
	if (leases.empty())
		return false;

	std::vector<RemotePart> remote;
	const auto copy = [&](const DmaMap::Lease &lease, size_t offset) {
		return lease.read(out.subspan(offset, lease.size()));
	};
	if (!copyLocal(std::move(leases), remote, copy))
		return false;
	for (const RemotePart &part : remote) {
		if (!channel_.read(part.address, out.subspan(part.offset, part.size)))
			return false;
	}
	return true;
}

bool GuestMemory::write(uint64_t address, std::span<const std::byte> data)
{
	if (data.empty())
		return true;
	std::vector<DmaMap::Lease> leases = map_.acquire(address, data.size(), Access::Write);
	if (leases.empty())
		return false;

	std::vector<RemotePart> remote;
	const auto copy = [&](const DmaMap::Lease &lease, size_t offset) {
		return lease.write(data.subspan(offset, lease.size()));
	};
	if (!copyLocal(std::move(leases), remote, copy))
		return false;
	for (const RemotePart &part : remote) {
		if (!channel_.write(part.address, data.subspan(part.offset, part.size)))
			return false;
	}
	return true;
}

} /* namespace nvdla::sim::vfiouser */

/* SPDX-License-Identifier: MIT */
#include "core/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

namespace nvdla::sim
{

std::span<std::byte> MemoryPort::find(RamType type, uint64_t address, size_t size)
{
	Memory::Region &near = near_[static_cast<size_t>(type)];
	const std::span<std::byte> there = near.at(address, size);

	if (!there.empty())
		return there;
	near = select(type).region(address);
	return near.at(address, size);
}

void MemoryPort::read(RamType type, uint64_t address, std::span<std::byte> out)
{
	const std::span<std::byte> there = find(type, address, out.size());

	if (!there.empty() && !cancelled()) {
		std::memcpy(out.data(), there.data(), out.size());
	} else if (cancelled() || !select(type).read(address, out)) {
		std::fill(out.begin(), out.end(), std::byte{ 0 });
		if (!cancelled())
			fault(type, address);
		return;
	}
	countRead(type, out.size());
}

std::span<const std::byte> MemoryPort::view(RamType type, uint64_t address, size_t size,
					    std::vector<std::byte> &buffer)
{
	const std::span<const std::byte> there = find(type, address, size);

	if (!there.empty() && !cancelled()) {
		countRead(type, size);
		return there;
	}
	buffer.resize(size);
	read(type, address, buffer);
	return buffer;
}

void MemoryPort::write(RamType type, uint64_t address, std::span<const std::byte> data)
{
	if (cancelled())
		return;
	/* \a data may be part of the same memory, and may even be in place already. */
	if (const std::span<std::byte> there = find(type, address, data.size()); !there.empty()) {
		if (there.data() != data.data())
			std::memmove(there.data(), data.data(), data.size());
	} else if (!select(type).write(address, data)) {
		fault(type, address);
		return;
	}
	traffic_[static_cast<size_t>(type)].writeBytes += data.size();
}

void MemoryPort::fault(RamType type, uint64_t address)
{
	if (faulted_ && std::tie(address, type) >= std::tie(faultAddress_, faultType_))
		return;
	faulted_ = true;
	faultType_ = type;
	faultAddress_ = address;
}

void MemoryPort::join(const MemoryPort &other)
{
	for (size_t i = 0; i < std::size(traffic_); i++)
		traffic_[i] += other.traffic_[i];
	if (other.faulted_)
		fault(other.faultType_, other.faultAddress_);
}

void ReadRange::read(uint64_t offset, std::span<std::byte> out)
{
	if (all_.empty()) {
		port_.read(type_, address_ + offset, out);
		return;
	}
	count(out.size());
	std::copy_n(all_.subspan(offset, out.size()).data(), out.size(), out.data());
}

std::span<const std::byte> ReadRange::view(uint64_t offset, size_t size,
					   std::vector<std::byte> &buffer)
{
	if (!all_.empty()) {
		count(size);
		return all_.subspan(offset, size);
	}
	buffer.resize(size);
	port_.read(type_, address_ + offset, buffer);
	return buffer;
}

} /* namespace nvdla::sim */

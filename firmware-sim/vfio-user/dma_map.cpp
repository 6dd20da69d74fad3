/* SPDX-License-Identifier: MIT */
#include "dma_map.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "wire.h"

namespace nvdla::sim::vfiouser
{

namespace
{

/* Returns the last address of a range, as its end may be 2^64. */
uint64_t lastAddress(uint64_t address, uint64_t size)
{
	const uint64_t room = std::numeric_limits<uint64_t>::max() - address;
	return address + std::min(size - 1, room);
}

bool aligned(uint64_t value)
{
	return value % wire::kPageSize == 0;
}

} /* namespace */

bool DmaMap::Lease::read(std::span<std::byte> out) const
{
	const DmaRange &range = region_->range;
	return region_->backing->read(range.offset + (address_ - range.address), out);
}

bool DmaMap::Lease::write(std::span<const std::byte> data) const
{
	const DmaRange &range = region_->range;
	return region_->backing->write(range.offset + (address_ - range.address), data);
}

void DmaMap::Lease::release()
{
	if (!region_)
		return;
	{
		const std::lock_guard lock(map_->mutex_);
		if (--region_->users == 0)
			map_->idle_.notify_all();
	}
	region_.reset();
}

int DmaMap::map(const DmaRange &range, UniqueFd fd)
{
	if (range.size == 0 || !aligned(range.address) || !aligned(range.size) ||
	    range.size - 1 > std::numeric_limits<uint64_t>::max() - range.address)
		return EINVAL;

	std::shared_ptr<Backing> backing;
	if (fd.valid()) {
		if (!aligned(range.offset))
			return EINVAL;
		auto found = backingFor(std::move(fd));
		if (!found)
			return found.error();
		backing = std::move(*found);
		if (range.offset > backing->size() || range.size > backing->size() - range.offset)
			return EINVAL;
		if (range.writable && !backing->writable())
			return EACCES;
	}

	const uint64_t last = lastAddress(range.address, range.size);
	const std::lock_guard lock(mutex_);
	if (regions_.size() >= wire::kMaxDmaMaps)
		return ENOSPC;
	const auto next = regions_.upper_bound(last);
	if (next != regions_.begin()) {
		const DmaRange &before = std::prev(next)->second->range;
		if (lastAddress(before.address, before.size) >= range.address)
			return EEXIST;
	}
	regions_.emplace(range.address, std::make_shared<Region>(Region{ range, backing }));
	return 0;
}

/* Returns the existing mapping of a file if it covers the requested range, else a new one. */
tl::expected<std::shared_ptr<Backing>, int> DmaMap::backingFor(UniqueFd fd)
{
	const auto identity = Backing::identify(fd.get());
	if (!identity)
		return tl::unexpected(identity.error());
	const auto known = backings_.find(identity->key);
	if (known != backings_.end()) {
		std::shared_ptr<Backing> backing = known->second.lock();
		if (backing && backing->size() == identity->size)
			return backing;
	}
	auto opened = Backing::open(std::move(fd), *identity);
	if (opened) {
		std::erase_if(backings_, [](const auto &entry) { return entry.second.expired(); });
		backings_[identity->key] = *opened;
	}
	return opened;
}

int DmaMap::unmap(uint64_t address, uint64_t size)
{
	if (size == 0)
		return 0;
	const uint64_t last = lastAddress(address, size);
	std::vector<std::shared_ptr<Region>> removed;

	std::unique_lock lock(mutex_);
	auto it = regions_.upper_bound(address);
	if (it != regions_.begin())
		--it;
	/* The number of ranges grows only if the middle of a range is unmapped. */
	if (it != regions_.end() && regions_.size() >= wire::kMaxDmaMaps && it->first < address &&
	    lastAddress(it->first, it->second->range.size) > last)
		return ENOSPC;
	while (it != regions_.end() && it->first <= last) {
		const std::shared_ptr<Region> region = it->second;
		const uint64_t regionLast = lastAddress(region->range.address, region->range.size);
		if (regionLast < address) {
			++it;
			continue;
		}
		it = regions_.erase(it);
		removed.push_back(region);
		if (region->range.address < address)
			keepPart(*region, region->range.address, address - 1);
		if (regionLast > last)
			keepPart(*region, last + 1, regionLast);
	}
	idle_.wait(lock, [&] {
		return std::all_of(removed.begin(), removed.end(),
				   [](const auto &region) { return region->users == 0; });
	});
	return 0;
}

/* Keeps a part of a region of which the client unmaps the rest. */
void DmaMap::keepPart(const Region &region, uint64_t first, uint64_t last)
{
	DmaRange part = region.range;
	part.offset += first - region.range.address;
	part.address = first;
	part.size = last - first + 1;
	regions_.emplace(first, std::make_shared<Region>(Region{ part, region.backing }));
}

void DmaMap::clear()
{
	/* Two calls, because a 64-bit size cannot hold 2^64. */
	unmap(0, uint64_t{ 1 } << 63);
	unmap(uint64_t{ 1 } << 63, uint64_t{ 1 } << 63);
}

std::vector<DmaMap::Lease> DmaMap::acquire(uint64_t address, uint64_t size, Access access)
{
	if (size == 0 || size - 1 > std::numeric_limits<uint64_t>::max() - address)
		return {};
	const uint64_t last = address + (size - 1);
	std::vector<std::pair<std::shared_ptr<Region>, size_t>> parts;

	{
		const std::lock_guard lock(mutex_);
		auto it = regions_.upper_bound(address);
		if (it == regions_.begin())
			return {};
		--it;
		for (uint64_t at = address;; ++it) {
			if (it == regions_.end() || it->first > at)
				return {};
			const DmaRange &range = it->second->range;
			const uint64_t rangeLast = lastAddress(range.address, range.size);
			const bool allowed =
				access == Access::Read ? range.readable : range.writable;
			if (rangeLast < at || !allowed)
				return {};
			const uint64_t partLast = std::min(last, rangeLast);
			parts.emplace_back(it->second, partLast - at + 1);
			if (partLast == last)
				break;
			at = partLast + 1;
		}
		for (auto &part : parts)
			part.first->users++;
	}

	std::vector<Lease> leases;
	leases.reserve(parts.size());
	for (auto &[region, length] : parts) {
		leases.emplace_back(*this, std::move(region), address, length);
		address += length;
	}
	return leases;
}

size_t DmaMap::size() const
{
	const std::lock_guard lock(mutex_);
	return regions_.size();
}

} /* namespace nvdla::sim::vfiouser */

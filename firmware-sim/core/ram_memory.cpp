/* SPDX-License-Identifier: MIT */
#include "core/ram_memory.h"

#include <algorithm>
#include <mutex>

namespace nvdla::sim
{

bool RamMemory::inside(uint64_t address, size_t size) const
{
	return address >= base_ && address - base_ <= bytes_.size() &&
	       size <= bytes_.size() - (address - base_);
}

bool RamMemory::read(uint64_t address, std::span<std::byte> out)
{
	if (!inside(address, out.size()))
		return false;
	std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(address - base_), out.size(),
		    out.begin());
	return true;
}

bool RamMemory::write(uint64_t address, std::span<const std::byte> data)
{
	if (!inside(address, data.size()))
		return false;
	std::copy(data.begin(), data.end(),
		  bytes_.begin() + static_cast<ptrdiff_t>(address - base_));
	return true;
}

SparseMemory::Page *SparseMemory::find(uint64_t number)
{
	std::shared_lock lock(mutex_);
	const auto page = pages_.find(number);
	return page == pages_.end() ? nullptr : page->second.get();
}

SparseMemory::Page *SparseMemory::findOrMake(uint64_t number)
{
	if (Page *page = find(number))
		return page;
	std::unique_lock lock(mutex_);
	auto &page = pages_[number];
	if (!page) {
		if (pages_.size() > maximumPages_) {
			pages_.erase(number);
			return nullptr;
		}
		page = std::make_unique<Page>();
		page->fill(std::byte{ 0 });
	}
	return page.get();
}

bool SparseMemory::read(uint64_t address, std::span<std::byte> out)
{
	if (out.size() > UINT64_MAX - address)
		return false;
	while (!out.empty()) {
		const size_t offset = address % pageSize;
		const size_t step = std::min(out.size(), pageSize - offset);
		if (const Page *page = find(address / pageSize))
			std::copy_n(page->begin() + offset, step, out.begin());
		else
			std::fill_n(out.begin(), step, std::byte{ 0 });
		address += step;
		out = out.subspan(step);
	}
	return true;
}

Memory::Region SparseMemory::region(uint64_t address)
{
	Page *page = find(address / pageSize);

	return page ? Region{ address - address % pageSize, *page } : Region{};
}

bool SparseMemory::write(uint64_t address, std::span<const std::byte> data)
{
	if (data.empty())
		return true;
	if (data.size() > UINT64_MAX - address)
		return false;
	/* Allocates all pages before it writes: a write that lacks a page changes nothing. */
	for (uint64_t page = address / pageSize; page <= (address + data.size() - 1) / pageSize;
	     page++)
		if (!findOrMake(page))
			return false;
	while (!data.empty()) {
		const size_t offset = address % pageSize;
		const size_t step = std::min(data.size(), pageSize - offset);
		std::copy_n(data.begin(), step, find(address / pageSize)->begin() + offset);
		address += step;
		data = data.subspan(step);
	}
	return true;
}

} /* namespace nvdla::sim */

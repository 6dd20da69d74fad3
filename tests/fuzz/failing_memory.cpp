/* SPDX-License-Identifier: MIT */
#include "failing_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace
{

constexpr int64_t kNever = INT64_MAX / 2;

std::atomic<int64_t> left = kNever; /* allocations in front of the one that fails */
std::atomic<bool> forEver = false;
std::atomic<uint64_t> failures = 0;
std::atomic<size_t> held = 0;
std::atomic<size_t> peak = 0;
std::atomic<size_t> heldBefore = 0;

bool fails()
{
	const int64_t before = left.fetch_sub(1);

	if (before > 0 || (before < 0 && !forEver))
		return false;
	failures++;
	return true;
}

void *noted(void *memory)
{
	const size_t now = held += malloc_usable_size(memory);

	for (size_t most = peak; most < now && !peak.compare_exchange_weak(most, now);)
		;
	return memory;
}

void *allocate(size_t size, size_t alignment)
{
	constexpr size_t kUsual = alignof(std::max_align_t);
	const size_t whole = (std::max<size_t>(size, 1) + alignment - 1) / alignment * alignment;

	if (fails())
		throw std::bad_alloc();
	void *memory =
		alignment <= kUsual ? std::malloc(whole) : std::aligned_alloc(alignment, whole);
	if (!memory)
		throw std::bad_alloc();
	return noted(memory);
}

void release(void *memory)
{
	if (memory)
		held -= malloc_usable_size(memory);
	std::free(memory);
}

} /* namespace */

void *operator new(size_t size)
{
	return allocate(size, 1);
}

void *operator new[](size_t size)
{
	return allocate(size, 1);
}

void *operator new(size_t size, std::align_val_t alignment)
{
	return allocate(size, static_cast<size_t>(alignment));
}

void *operator new[](size_t size, std::align_val_t alignment)
{
	return allocate(size, static_cast<size_t>(alignment));
}

void operator delete(void *memory) noexcept
{
	release(memory);
}

void operator delete[](void *memory) noexcept
{
	release(memory);
}

void operator delete(void *memory, size_t) noexcept
{
	release(memory);
}

void operator delete[](void *memory, size_t) noexcept
{
	release(memory);
}

void operator delete(void *memory, std::align_val_t) noexcept
{
	release(memory);
}

void operator delete[](void *memory, std::align_val_t) noexcept
{
	release(memory);
}

void operator delete(void *memory, size_t, std::align_val_t) noexcept
{
	release(memory);
}

void operator delete[](void *memory, size_t, std::align_val_t) noexcept
{
	release(memory);
}

namespace nvdla::fuzz
{

void failAllocation(uint64_t count, Fails fails)
{
	failures = 0;
	forEver = fails == Fails::ForEver;
	left = static_cast<int64_t>(count);
}

uint64_t stopFailing()
{
	left = kNever;
	return failures;
}

void watchPeak()
{
	heldBefore = held.load();
	peak = held.load();
}

size_t peakBytes()
{
	return peak - heldBefore;
}

} /* namespace nvdla::fuzz */

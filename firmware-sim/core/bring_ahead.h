/* SPDX-License-Identifier: MIT */
/* Prefetches memory into the cache while earlier data are processed. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/base.h>

namespace nvdla::sim
{

/**
 * \brief Prefetches the cache line at a fixed distance after \a bytes
 *
 * Data that is read only once is not in the cache, and the host's own prefetcher stops at the end
 * of a page. The address may be beyond the data, or invalid. The function is inlined because
 * compilers take it for a function without effect, and drop calls.
 */
HWY_INLINE void bringAhead(const void *bytes)
{
	constexpr uintptr_t kAhead = 2 << 10;

	__builtin_prefetch(
		reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(bytes) + kAhead));
}

/** \brief Prefetches the beginning of \a bytes, which will be read soon */
HWY_INLINE void bringNear(std::span<const std::byte> bytes)
{
	constexpr size_t kLine = 64;
	constexpr size_t kMost = 4 << 10; /* more would evict data that is needed sooner */

	for (size_t at = 0; at < std::min(bytes.size(), kMost); at += kLine)
		__builtin_prefetch(&bytes[at]);
}

/** \brief Prefetches the next bytes little by little, while the bytes before them are processed */
class Ahead
{
public:
	/** \param times number of calls of bring() after which all of \a bytes are prefetched */
	Ahead(std::span<const std::byte> bytes, size_t times)
		: rest_(bytes), atOnce_(times ? bytes.size() / times / kLine * kLine + kLine : 0)
	{
	}

	HWY_INLINE void bring()
	{
		constexpr int kRead = 0;
		constexpr int kNotTheNearest = 2;
		if (rest_.empty())
			return;
		const size_t bytes = std::min(atOnce_, rest_.size());
		for (size_t at = 0; at < bytes; at += kLine)
			__builtin_prefetch(&rest_[at], kRead, kNotTheNearest);
		rest_ = rest_.subspan(bytes);
	}

private:
	static constexpr size_t kLine = 64;

	std::span<const std::byte> rest_;
	size_t atOnce_;
};

} /* namespace nvdla::sim */

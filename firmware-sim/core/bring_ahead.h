/* SPDX-License-Identifier: MIT */
/*
 * Memory that comes nearer while what is in front of it is worked on.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/base.h>

namespace nvdla::sim
{

/**
 * \brief Brings what follows \a bytes nearer, some of it behind them
 *
 * What is read only once comes from far away, and the host does not look beyond a page. Behind the
 * last bytes there may be anything, or nothing. \a kTimes as far where as many streams are read at
 * once, one behind the other. A compiler takes the function to have no effect,
 * and drops calls of it that it has not made part of the caller before.
 */
template<size_t kTimes = 1>
HWY_INLINE void bringAhead(const void *bytes)
{
	constexpr uintptr_t kAhead = kTimes * (2 << 10);

	__builtin_prefetch(
		reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(bytes) + kAhead));
}

/** \brief Brings the first of \a bytes nearer, which will be read some time later */
HWY_INLINE void bringNear(std::span<const std::byte> bytes)
{
	constexpr size_t kLine = 64;
	constexpr size_t kMost = 4 << 10; /* more would drive out what comes before it */

	for (size_t at = 0; at < std::min(bytes.size(), kMost); at += kLine)
		__builtin_prefetch(&bytes[at]);
}

/** \brief Prefetches the next bytes little by little, while the ones before them are worked on */
class Ahead
{
public:
	/** \param times that bring() is called until all of \a bytes are near */
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

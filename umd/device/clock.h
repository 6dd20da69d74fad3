/* SPDX-License-Identifier: MIT */
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

namespace nvdla
{

/** \return \a timeout from now as absolute CLOCK_MONOTONIC nanoseconds, as ioctls take it */
inline int64_t deadlineNs(std::chrono::milliseconds timeout)
{
	constexpr int64_t perSecond = 1000000000;
	struct timespec now;
	int64_t span;

	clock_gettime(CLOCK_MONOTONIC, &now);
	const int64_t start = now.tv_sec * perSecond + now.tv_nsec;
	if (__builtin_mul_overflow(timeout.count(), int64_t{ 1000000 }, &span) ||
	    __builtin_add_overflow(span, start, &span))
		return std::numeric_limits<int64_t>::max();
	return span;
}

/** \return absolute CLOCK_MONOTONIC nanoseconds as a time of steady_clock, the same clock */
inline std::chrono::steady_clock::time_point timePoint(int64_t nanoseconds)
{
	return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

/** \return CLOCK_MONOTONIC in nanoseconds */
inline uint64_t nowNs()
{
	return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

} /* namespace nvdla */

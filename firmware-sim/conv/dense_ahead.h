/* SPDX-License-Identifier: MIT */
/*
 * What dense_sums and dense_floats read next.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::sim
{

/**
 * \brief Brings weights nearer that are looked at soon
 *
 * A few kernels' are some bytes of every block, which the host does not foresee. Behind the last
 * ones there may be anything, or nothing.
 */
inline void bringAhead(const std::byte *weights)
{
	constexpr uintptr_t kAhead = 16 << 10;

	__builtin_prefetch(
		reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(weights) + kAhead));
}

} /* namespace nvdla::sim */

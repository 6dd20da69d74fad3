/* SPDX-License-Identifier: MIT */
/* SDP by a table of the result of each of 256 or 65536 numbers. */
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nvdla::sim
{

/** \brief Result of each element; elements are indices without a sign */
struct SdpTable {
	size_t elementBytes; /**< 1 or 2 */
	std::vector<std::byte> results;

	/** \return how many different elements there are */
	static constexpr size_t numbers(size_t elementBytes)
	{
		return size_t{ 1 } << (8 * elementBytes);
	}
};

/**
 * \brief \a out of \a in, whole atoms
 * \return true if one of \a out is not zero
 */
bool lookUpSdpTable(const SdpTable &table, std::span<const std::byte> in, std::span<std::byte> out);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Elements of sparse weights with the zeroes between them, at the speed of the host.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/control_data.h"

namespace nvdla::sim
{

/** \brief Bytes behind the packed elements that expandSparse() may look at */
inline constexpr size_t kSparseSlack = 64;

/** \return ones in \a masks */
size_t countOnes(ControlView masks);

/**
 * \brief Eight elements for each byte of \a masks: the next packed one for each one, else zero
 *
 * \param masks least significant bit first
 * \param packed countOnes() elements, and kSparseSlack bytes of anything
 * \param elementBytes 1 or 2
 * \param out eight elements for each byte of \a masks
 */
void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out);

/** \brief The same to \a out, which gets as many elements */
inline void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes,
			 std::vector<std::byte> &out)
{
	out.resize(masks.size() * 8 * elementBytes);
	expandSparse(masks, packed, elementBytes, out.data());
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/* Comparison of memory with the expected results of a trace. */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "trace/trace.h"

namespace nvdla::sim
{

/** \brief The first difference between memory and expectation */
struct Difference {
	size_t offset;	      /**< offset in bytes */
	std::string expected; /**< expected value as text: a byte, or an FP16 number and its bits */
	std::string got;
};

/** \return the number that \a bits represent as FP16 */
double halfValue(uint16_t bits);

/**
 * \brief Compare within a tolerance
 *
 * FP16 thresholds are those of the precision document ("CC DC", "CDP", "PDP").
 * For pooling, the document's formula needs the largest value of the window, which a
 * trace does not contain. The expected value is used instead: it is never larger, so the
 * comparison is never more permissive than the document.
 * Equal bytes always pass. A NaN passes only if all of its bits are those of the expected NaN.
 *
 * \return the first element outside the tolerance, if there is one
 */
std::optional<Difference> compare(std::span<const std::byte> expected,
				  std::span<const std::byte> got, const Tolerance &tolerance);

} /* namespace nvdla::sim */

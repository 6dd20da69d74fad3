/* SPDX-License-Identifier: MIT */
/*
 * Comparison of memory with what a trace expects.
 */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "trace/trace.h"

namespace nvdla::sim
{

/** \brief The first place where memory is not as expected */
struct Difference {
	size_t offset;	      /**< in bytes */
	std::string expected; /**< as text: a byte, or an FP16 number and its bits */
	std::string got;
};

/** \return the value of FP16 bits */
double halfValue(uint16_t bits);

/**
 * \brief Compare within a tolerance
 *
 * FP16 thresholds are those of the precision document ("CC DC", "CDP", "PDP").
 * Where its formula needs the largest value of a pooling window, which a trace
 * does not tell, the expected value itself stands for it: it is never larger
 * than that, so that nothing passes that the document would not let pass.
 * Bytes that are equal always pass; NaN passes for the same NaN only.
 *
 * \return the first element outside the tolerance, if there is one
 */
std::optional<Difference> compare(std::span<const std::byte> expected,
				  std::span<const std::byte> got, const Tolerance &tolerance);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Checks that all weight layouts share.
 */
#pragma once

#include <nvdla/weights.h>

namespace nvdla
{

/** \return InvalidArgument or Unsupported if no core supports weights of this shape and type */
Result<void> checkWeights(const WeightDesc &desc, const char *what);

/** \brief Call checkWeights(), and check that the size \a have equals \a need. The error names the
 * \a unit, "bytes" or "elements" */
Result<void> checkWeights(const WeightDesc &desc, const char *what, uint64_t have, uint64_t need,
			  const char *unit = "bytes");

} /* namespace nvdla */

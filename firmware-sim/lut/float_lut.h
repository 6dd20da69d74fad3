/* SPDX-License-Identifier: MIT */
/*
 * Look-up of floating-point numbers at the speed of the host.
 */
#pragma once

#include <cstdint>

#include "lut/lut_fast.h"

namespace nvdla::sim
{

/**
 * \brief Lut::lookupFloat() of CDP for vectors of numbers
 *
 * Numbers of tables and registers as FP32 bits, none of them infinite, denormal or a NaN.
 * float_lut-inl.h has the look-up.
 */
struct FloatLut {
	using Edge = LutEdge<int32_t>;
	using Table = LutTable<int32_t, float>;

	/** \return false if a number is not as above, or a step beyond 2^60 */
	static bool accepts(const LutConfig &config, const LutTables &tables);

	FloatLut(const LutConfig &config, const LutTables &tables);

	FastLut::Rules rules;
	Table le;
	Table lo;
	LutPairs pairs;
};

} /* namespace nvdla::sim */

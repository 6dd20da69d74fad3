/* SPDX-License-Identifier: MIT */
/*
 * Look-up of floating-point numbers at the speed of the host.
 */
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lut/lut_fast.h"

namespace nvdla::sim
{

/**
 * \brief Lut::lookupFloat() for vectors of numbers
 *
 * Numbers of tables and registers as FP32 bits, none of them infinite, denormal or a NaN.
 * float_lut-inl.h has the look-up.
 */
struct FloatLut {
	using Edge = LutEdge<int32_t>;
	using Table = LutTable<int32_t, float>;

	/** \return false if a number is not as above, or a step beyond 2^60 */
	static bool accepts(const LutConfig &config, const LutTables &tables);

	/** \param variant sdpLut or cdpLut \param counts somebody reads the counters */
	FloatLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		 bool counts);

	FastLut::Rules rules;
	Table le;
	Table lo;
	/** LE's entries, then LO's */
	std::array<int32_t, std::tuple_size_v<LutPairs>> entries;
	/** The one after each; of CDP how much larger it is, in FP17 */
	std::array<int32_t, std::tuple_size_v<LutPairs>> nexts;
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Look-up of floating-point numbers at the speed of the host.
 */
#pragma once

#include <array>
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
	/** \brief How the function goes on beyond an edge: entry + (x - edge) * slope */
	struct Edge {
		int32_t edge;
		int32_t slope;
		int32_t entry;
	};

	/** \brief LE or LO */
	struct Table {
		bool exponential;
		int32_t start;	     /**< input before the first entry's */
		int32_t indexOffset; /**< exponential: power of two of the first entry's input */
		float indexScale;    /**< linear: steps of the index per unit of the input */
		int32_t last;	     /**< index of the last entry */
		int32_t firstPair;   /**< where the table begins in pairs */
		Edge underflow;
		Edge overflow;
	};

	/** \return false if a number is not as above, or a step beyond 2^60 */
	static bool accepts(const LutConfig &config, const LutTables &tables);

	FloatLut(const LutConfig &config, const LutTables &tables);

	FastLut::Rules rules;
	Table le;
	Table lo;
	LutPairs pairs;
};

} /* namespace nvdla::sim */

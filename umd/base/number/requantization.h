/* SPDX-License-Identifier: MIT */
/*
 * Integers of 8 bits that stand for something else.
 */
#pragma once

#include <cstdint>
#include <optional>

#include <nvdla/quantization.h>

namespace nvdla
{

/** \brief Product and shift that convert integers from one quantization to another */
struct Requantization {
	Quantization from;
	Quantization to;
	int16_t multiply = 0;
	uint8_t shift = 0;

	/** \return to.quantize(from.real(q)) of an integer of 8 bits, as SDP computes it */
	int64_t operator()(int64_t q) const;
};

/**
 * \brief The product of the fewest bits that makes the right integer of each one of 8 bits
 * \return nothing if none of 15 bits does
 */
std::optional<Requantization> requantization(const Quantization &from, const Quantization &to);

/** \return a number of which one rounding leaves some bits behind the point, and another none; 0
 * for NaN */
int64_t roundedTwice(double number, int firstBits);

/**
 * \brief An integer times a real number, as TFLite's kernels for 8 bits round it: twice
 *
 * The factor has 31 bits. The first rounding leaves so many bits behind the point as the factor has
 * zeros there in front.
 *
 * \param[in] integer of 22 bits at most
 */
int64_t multipliedTwice(int64_t integer, double factor);

} /* namespace nvdla */

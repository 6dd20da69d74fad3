/* SPDX-License-Identifier: MIT */
/*
 * Conversion of 8-bit integers from one quantization to another.
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
 * \brief The product of the fewest bits that converts each 8-bit integer exactly
 * \return nothing if no product of 15 bits does
 */
std::optional<Requantization> requantization(const Quantization &from, const Quantization &to);

/** \return \a number rounded to \a firstBits fraction bits, and then to an integer; 0
 * for NaN */
int64_t roundedTwice(double number, int firstBits);

/**
 * \brief An integer times a real number, as TFLite's kernels for 8 bits round it: twice
 *
 * The factor has 31 bits. The first rounding leaves as many fraction bits as the factor's fraction
 * has leading zeros.
 *
 * \param[in] integer of 22 bits at most
 */
int64_t multipliedTwice(int64_t integer, double factor);

} /* namespace nvdla */

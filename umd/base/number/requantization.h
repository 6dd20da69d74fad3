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

/** \brief Factor and shift that convert integers from one quantization to another */
struct Requantization {
	Quantization from;
	Quantization to;
	int16_t multiply = 0;
	uint8_t shift = 0;

	/** \return the integer of 8 bits \a q converted by SDP's arithmetic; it equals
	 * to.quantize(from.real(q)) */
	int64_t operator()(int64_t q) const;
};

/**
 * \brief Find the factor of the fewest bits that converts each 8-bit integer exactly
 * \return std::nullopt if no factor of up to 15 bits does
 */
std::optional<Requantization> requantization(const Quantization &from, const Quantization &to);

/** \return \a number, rounded first to \a firstBits fraction bits, then to an integer; NaN
 * becomes 0 */
int64_t roundedTwice(double number, int firstBits);

/**
 * \brief Multiply an integer by a real number, and round twice, as TensorFlow Lite's 8-bit kernels
 * do
 *
 * The mantissa of the factor is rounded to 31 bits. The first rounding leaves as many fraction bits
 * as the factor has zeros after the binary point.
 *
 * \param[in] integer an integer of at most 22 bits
 */
int64_t multipliedTwice(int64_t integer, double factor);

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * Convolution MAC array: sums of up to 64 products, per kernel.
 *
 * Integers are exact. FP16 is not IEEE 754: products are shifted to the step's largest exponent,
 * and bits that are shifted out are lost (see Fp16Vector).
 */
#pragma once

#include <array>
#include <cstdint>

#include "conv/csc.h"

namespace nvdla::sim
{

/** \return the sum of \a lanes products */
int64_t macInteger(const int16_t *data, const int16_t *weights, uint32_t lanes);

/**
 * \brief The inverse Winograd transform, A^T * m * A
 *
 * Rows of A^T: (1 1 1 0), (0 1 -1 -1).
 *
 * \param m 16 sums by lines
 * \return the 2x2 outputs by lines
 */
std::array<int64_t, 4> winogradOutput(const std::array<int64_t, 16> &m);

/** \return the 2x2 outputs of a 4-channel tile in integers */
std::array<int64_t, 4> macIntegerWinograd(const int16_t *data, const int16_t *weights);

/**
 * \brief Sum of an FP16 step in CACC's input format: mantissa * 2^(exponent - 50)
 *
 * An exponent of kNan marks a NaN; its mantissa then holds sign and fraction at the top of 38 bits.
 */
struct Fp16Sum {
	static constexpr uint32_t kNan = 63;
	static constexpr unsigned kMantissaBits = 38;

	uint32_t exponent = 0;
	int64_t mantissa = 0;
};

/**
 * \brief Up to 64 FP16 numbers, split into the parts that the multipliers take
 *
 * The low two bits of the exponent shift the 11-bit significand left. The rest ("quarter") is for
 * the alignment, which therefore shifts products by multiples of four bits. A zero of either sign
 * has a large negative quarter, so that it does not affect the largest exponent. Infinities
 * are ordinary numbers here: +-65536.
 */
struct Fp16Vector {
	alignas(64) uint32_t significand[kMacLanes];
	alignas(64) int32_t quarter[kMacLanes];
	alignas(64) uint32_t negative[kMacLanes]; /**< all ones for a negative number, or 0 */
	uint32_t nan = 0;			  /**< bits of the first NaN, 0 if there is none */

	/** \brief Split \a lanes numbers; all further lanes become zero */
	void load(const int16_t *numbers, uint32_t lanes);
};

/** \return the first NaN of \a count FP16 numbers, 0 if there is none */
uint16_t firstNan(const int16_t *numbers, size_t count);

/** \return the sum of the products of \a lanes lanes; further lanes must be zero */
Fp16Sum macFp16(const Fp16Vector &data, const Fp16Vector &weights, uint32_t lanes = kMacLanes);

/** \return the 2x2 outputs of a 4-channel tile */
std::array<Fp16Sum, 4> macFp16Winograd(const Fp16Vector &data, const Fp16Vector &weights);

} /* namespace nvdla::sim */

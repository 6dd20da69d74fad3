/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point tensors in Qm.n (fx8 and fx16), and the shifts for convolving them.
 *
 * The document on fixed-point data formats (of the embARC MLI library) is the source; its
 * sections are named below.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/quantization.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief A format Qm.n: a value of the container's type represents value / 2^fractionBits ("Data
 * storage")
 */
struct FixedFormat {
	DataType container = DataType::Int8; /**< Int8 (fx8) or Int16 (fx16) */
	uint32_t fractionBits = 0;	     /**< n; may be more than the container has bits */

	/** \return significant bits of the container, without the sign: 7 or 15 */
	uint32_t bits() const { return container == DataType::Int8 ? 7 : 15; }
	/** \return m of Qm.n; negative if the highest fraction bits are copies of the sign */
	int32_t integerBits() const
	{
		return static_cast<int32_t>(bits()) - static_cast<int32_t>(fractionBits);
	}
	/** \return this format as a quantization; the zero point is 0 */
	Quantization quantization() const
	{
		return { std::ldexp(1.0, -static_cast<int>(fractionBits)), 0 };
	}

	bool operator==(const FixedFormat &) const = default;
};

/** \return the format with the most fraction bits that holds \a low to \a high */
Result<FixedFormat> fixedFormatOf(double low, double high, DataType container);

/** \return Round(real * 2^fractionBits), saturated ("Data Format Conversion") */
int16_t toFixed(double real, const FixedFormat &format,
		Rounding rounding = Rounding::HalfAwayFromZero);

/** \return value / 2^fractionBits, exactly ("Data Format Conversion") */
double fromFixed(int16_t value, const FixedFormat &format);

/**
 * \brief Convert a value from one format to another ("Data Format Conversion")
 *
 * Shifts left for more fraction bits, right with rounding for fewer; saturates.
 */
int16_t convertFixed(int16_t value, const FixedFormat &from, const FixedFormat &to,
		     Rounding rounding = Rounding::HalfAwayFromZero);

/** \brief convertFixed() for whole tensors; elements have the types of the formats' containers */
std::vector<std::byte> convertFixed(std::span<const std::byte> elements, const FixedFormat &from,
				    const FixedFormat &to,
				    Rounding rounding = Rounding::HalfAwayFromZero);

/** \return ceil(log2(additions)): additional bits that a sum needs, compared with its terms
 * ("Accumulation") */
uint32_t accumulationBits(uint64_t additions);

/** \brief Result of accumulatorHeadRoom(): whether an accumulator can overflow, and formats that
 * avoid it */
struct HeadRoom {
	uint32_t available = 0; /**< bits of the accumulator above those of the largest product */
	uint32_t needed = 0;	/**< bits that the sum needs: accumulationBits() */
	FixedFormat input, weights; /**< formats with fewer fraction bits that avoid overflow */

	/** \return true if a sum of the given number of products cannot overflow */
	bool enough() const { return available >= needed; }
};

/**
 * \brief Head-room of a multiply-accumulate ("Quantization: Influence of Accumulator Bit Depth")
 *
 * HeadRoom::input and weights give up the missing bits in equal parts; an odd bit is the input's.
 * The document counts a product of fx8 as 14 bits. Only (-128) * (-128) needs 15, so a sum of such
 * products alone exceeds the accumulator's largest value by one.
 *
 * \param[in] additions number of products plus one for the bias: R * S * C + 1
 *
 * \param[in] accumulatorBits with sign; accumulatorWidth() for NVDLA
 * \return InvalidArgument if the accumulator does not hold a product; Unsupported if the operands
 * have fewer fraction bits than they would have to give up
 */
Result<HeadRoom> accumulatorHeadRoom(const FixedFormat &input, const FixedFormat &weights,
				     uint64_t additions, uint32_t accumulatorBits);

/**
 * \brief Width in bits, sign included, of the largest sum that neither CACC nor SDP saturates
 *
 * CACC's accumulators have 34 bits for INT8 and 48 for INT16; after dropping \a truncate bits
 * (CLIP_TRUNCATE) 32 go to SDP.
 */
constexpr uint32_t accumulatorWidth(DataType type, uint32_t truncate)
{
	return std::min(type == DataType::Int8 ? 34U : 48U, 32 + truncate);
}

/**
 * \brief Left shift of a bias before it is added ("Bias for MAC-based Kernels")
 *
 * The shift is the fraction bits of the input plus those of the weights, minus those of the bias
 * and minus \a accumulatorTruncate, the bits that CACC has dropped before. It is the value of SDP's
 * BS_ALU_SHIFT_VALUE.
 *
 * \return InvalidArgument if the bias has more fraction bits than the sum
 */
Result<uint32_t> biasPreShift(const FixedFormat &input, const FixedFormat &weights,
			      const FixedFormat &bias, uint32_t accumulatorTruncate = 0);

/**
 * \brief Right shift that brings the sum to the output's format
 *
 * The shift is the fraction bits of the input plus those of the weights, minus
 * \a accumulatorTruncate and minus those of the output.
 *
 * \return InvalidArgument if the output has more fraction bits than the sum
 */
Result<uint32_t> outputShift(const FixedFormat &input, const FixedFormat &weights,
			     const FixedFormat &output, uint32_t accumulatorTruncate = 0);

} /* namespace nvdla */

#pragma GCC visibility pop

/* SPDX-License-Identifier: MIT */
/*
 * Computes the parameters of converters and multipliers from scales and zero points.
 *
 * The comments cite two documents: "precision", NVDLA's precision document, and "VTA", on
 * quantized operations of the VTA accelerator. The precision document writes
 * x' = (x - offset) * SF. With real = scale * (q - zeroPoint), SF is 1 / scale, and offset is
 * -zeroPoint * scale.
 * Documentation/umd/numbers.md has all formulas.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/quantization.h>
#include <nvdla/rounding.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief A converter, y = saturation_round((x - offset) * scale >> shift)
 *
 * Precision, "Convertor": scale has 16 bits, shift 5 bits, rounding is half away from zero.
 */
struct Converter {
	int32_t offset = 0;
	int16_t scale = 1;
	uint8_t shift = 0;
	/** \brief Relative difference between gain() and the argument \a gain of makeConverter() */
	double error = 0;

	/** \return y before saturation; \a x has at most 40 bits */
	constexpr int64_t apply(int64_t x) const { return shiftRight((x - offset) * scale, shift); }
	/** \return change of y for a change of x by 1 */
	double gain() const { return std::ldexp(scale, -shift); }

	/** \brief Compares all members except \a error */
	bool operator==(const Converter &other) const
	{
		return offset == other.offset && scale == other.scale && shift == other.shift;
	}
};

/**
 * \brief The converter nearest to (x - offset) * gain
 *
 * Uses the largest shift at which gain * 2^shift fits the scale, then halves an even scale and
 * lowers the shift as often as possible. The relative error is 2^-15 at most, except for gains
 * below 2^-17, where the shift is 31 and the scale has fewer bits; see Converter::error.
 *
 * \return Unsupported if the gain is 0, beyond 32767 or below 2^-32, or the offset beyond 32 bits
 */
Result<Converter> makeConverter(double offset, double gain);

/**
 * \brief The converter from the integers of one tensor to those of another
 *
 * gain = from.scale / to.scale, offset = from.zeroPoint - to.zeroPoint / gain, rounded: the result
 * is off by gain / 2 steps at most. For pixels p that represent the real number scale * (p - mean),
 * \a from is { scale, mean } (NVDLA's in-memory format document, "Precision Conversion").
 */
Result<Converter> makeConverter(const Quantization &from, const Quantization &to);

/** \brief Parameters of a look-up table's input: the converter, and the quantization of its output,
 * the table's index */
struct LutInput {
	Converter converter;
	Quantization quantization; /**< quantization of the table's index */
};

/**
 * \brief Make the converter that maps the real numbers \a low to \a high to the table's inputs 0 to
 * 2^\a bits
 *
 * Precision, "LUT" coverage: x' = (x - O) * SF; O is the start of the range, and SF the table's
 * length divided by the range's. (The document's example has a range of 200 and prints SF =
 * 200/256; only 256/200 maps 100..300 to 0..256.)
 */
Result<LutInput> lutInput(const Quantization &from, double low, double high, uint32_t bits);

/** \brief A scale in the form of VTA: multiplier * 2^(shift - 15) */
struct Multiplier {
	int16_t multiplier = 0; /**< 2^14 to 2^15 - 1, or 0 */
	int16_t shift = 0;
};

/**
 * \brief Split a scale as VTA does: frexp() splits it into a mantissa and an exponent, which is the
 * shift. The multiplier is the mantissa times 2^15, rounded; if that is 2^15, the multiplier is
 * halved and the shift grows by one
 * \param[in] scale not negative, finite
 */
Multiplier quantizeMultiplier(double scale);

/** \brief Multiplier operands of X1, X2 or Y: y = x * operand >> shift, rounded */
struct SdpMultipliers {
	std::vector<int16_t> operands; /**< one, or one per channel */
	uint8_t shift = 0;	       /**< right shift, the same for all channels */
	double error = 0;	       /**< largest relative error of a scale that is not 0 */
};

/**
 * \brief SDP operands for VTA's requantization, x * multiplier >> (15 - shift)
 *
 * SDP rounds the shifted product, VTA truncates it. All channels share one shift register: the
 * largest scale determines the shift, so smaller scales lose bits; see SdpMultipliers::error.
 *
 * \param[in] scales one, or one per channel; of any sign, but not all 0
 * \return Unsupported if the largest magnitude is 2^15 or more, or below 2^-32
 */
Result<SdpMultipliers> sdpMultipliers(std::span<const double> scales);

} /* namespace nvdla */

#pragma GCC visibility pop

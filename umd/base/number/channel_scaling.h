/* SPDX-License-Identifier: MIT */
/*
 * Requantization with both multipliers of SDP.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief Operands of X1 and X2 for y = (x + bias) * scale, channel by channel
 *
 * The shift of a multiplier is a register, the same for all channels, so one multiplier leaves
 * small scales few bits. Here X1 multiplies each channel by about a power of two, which brings all
 * channels to the same size, and X2 by the remaining 15 bits of the scale; of the pairs near these,
 * the one with the product nearest to the scale is taken. X2's adder adds the part of a bias that
 * exceeds the 16 bits of X1's adder.
 */
struct ChannelScaling {
	/** \brief Parameters of a unit: (x + add << addShift) * multiply >> shift */
	struct Unit {
		std::vector<int16_t> add;
		std::vector<int16_t> multiply;
		uint8_t addShift = 0;
		uint8_t shift = 0;
	};
	Unit x1;
	Unit x2;
	Unit y; /**< multiplies only; unused if the results are rounded once */
};

/** \brief Number of times that a result is rounded */
enum class ScaleRounding : uint8_t {
	Once,
	Twice,
	/**
	 * \brief Once, with the amount added that a first rounding adds to a non-negative result
	 *
	 * Needs no unit Y. Results that are not negative equal those of Twice.
	 */
	TwiceIfPositive,
};

/**
 * \brief Compute the parameters of both units
 *
 * With the rounding of TFLite's kernels for 8 bits, x is first multiplied by the scale without its
 * power of two and rounded, and then divided by that power and rounded again (Y).
 *
 * A scale keeps 15 significant bits as long as it is not below 2^-14 of the largest one. Scales
 * beyond 2^14 are 2^14: every result except 0 saturates.
 *
 * \param[in] scales one for each channel (or element), of any sign
 * \param[in] biases as many as scales, in steps of x
 * \param[in] resultBits 8 or 16: width to which results saturate; narrower results leave more bits
 * to the numbers between X1 and X2
 * \param[in] firstBits fraction bits that the first of two roundings keeps, for all channels;
 * without: for each channel those that bring its scale into 1/2 to 1
 * \return Unsupported if all scales are below 2^-44
 */
Result<ChannelScaling> scaleChannels(std::span<const double> scales, std::span<const double> biases,
				     ScaleRounding rounding, unsigned resultBits,
				     std::optional<int> firstBits = {});

} /* namespace nvdla */

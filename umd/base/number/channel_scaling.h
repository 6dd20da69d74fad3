/* SPDX-License-Identifier: MIT */
/* Requantization with both multipliers of SDP. */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief Operands of SDP's units X1 and X2 for y = (x + bias) * scale, channel by channel
 *
 * All channels share the right shift of a multiplier, because the shift is a register. A single
 * multiplier would thus have few bits for small scales. With two, X1 multiplies each channel by
 * about a power of two, so that X2 multiplies all channels by factors of 15 bits. Of the
 * pairs of operands near these, the pair whose product is nearest to the scale is taken. If a
 * bias exceeds the 16 bits of X1's adder, X2's adder adds the rest.
 */
struct ChannelScaling {
	/** \brief Parameters of a unit: (x + (add << addShift)) * multiply >> shift */
	struct Unit {
		std::vector<int16_t> add;
		std::vector<int16_t> multiply;
		uint8_t addShift = 0;
		uint8_t shift = 0;
	};
	Unit x1;
	Unit x2;
	Unit y; /**< only multiplies and shifts; unused if the results are rounded once */
};

/** \brief Number of times that a result is rounded */
enum class ScaleRounding : uint8_t {
	Once,
	Twice,
	/**
	 * \brief Once, with biases that include half a step of the omitted first rounding
	 *
	 * Needs no unit Y. Results that are not negative equal those of Twice.
	 */
	TwiceIfPositive,
};

/**
 * \brief Compute the parameters of all units
 *
 * ScaleRounding::Twice is the rounding of TensorFlow Lite's 8-bit kernels: x is multiplied by the
 * mantissa of the scale and rounded (X1, X2), and then divided by a power of two and rounded again
 * (Y).
 *
 * A scale keeps 15 significant bits as long as it is not below 2^-14 of the largest one. Scales
 * beyond 2^14 are 2^14: every result except 0 saturates.
 *
 * \param[in] scales one for each channel (or element), of any sign
 * \param[in] biases as many as scales, in steps of x
 * \param[in] resultBits 8 or 16: number of bits to which results saturate. With narrower results,
 * the numbers between X1 and X2 may have more bits
 * \param[in] firstBits number of fraction bits that the first of two roundings keeps in all
 * channels; nothing: in each channel as many as bring its scale into the range from 1/2 to 1
 * \param[in] largest upper limit of the magnitudes of x + bias; a smaller limit gives more exact
 * results
 * \return Unsupported if all scales are below 2^-44
 */
Result<ChannelScaling> scaleChannels(std::span<const double> scales, std::span<const double> biases,
				     ScaleRounding rounding, unsigned resultBits,
				     std::optional<int> firstBits = {}, double largest = 0x1p31);

/** \brief Operands of X1 and X2, which multiply one after the other */
struct FactorPair {
	double coarse = 1;
	double fine = 0;
};

/**
 * \brief Find two operands whose product is nearest to a number, or has a relative error of at most
 * 2^-28
 *
 * \param[in] product the number; its magnitude is below 2^(power + 15)
 * \param[in] power 0 to 14: the coarse factor is from 2^power to twice as much
 */
FactorPair nearestFactors(double product, int power);

} /* namespace nvdla */

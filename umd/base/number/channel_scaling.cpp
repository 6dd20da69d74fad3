/* SPDX-License-Identifier: MIT */
#include "channel_scaling.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nvdla/rounding.h>

#include "sdp_operands.h"

namespace nvdla
{

namespace
{

constexpr int fractionBits = 15;
constexpr int maxPower = 14; /* 2^14: largest power of two in a signed operand of 16 bits */
/* Largest right shifts of X2, SDP's second multiplier, for results of 16 and of 8 bits. With these,
 * the input of X2 stays below 2^31 unless the result saturates. */
constexpr int maxFineShift16 = 28;
constexpr int maxFineShift8 = 36;
constexpr int maxCoarseShift = 31;
constexpr int maxProductShift = 47; /* a larger right shift leaves nothing of a 48-bit product */
/* Limit of the sum of X2's and Y's right shifts if 8-bit results are rounded twice. X2's result
 * then has the fraction bits that Y rounds off, and X2's input still has to stay below 2^31. */
constexpr int sharedShift = 36;
/*
 * The first of two roundings keeps more fraction bits for a layer's small scales than for its
 * largest scale: at most this number of bits more.
 */
constexpr int mostSpread = maxPower;

/* Least right shift of X1 with which its results stay below 2^31, for inputs up to \a largest and
 * operands below 2^15. */
int leastCoarseShift(double largest)
{
	return std::max(std::ilogb(std::max(largest, 1.0)) + 1 + fractionBits - 31, 0);
}

struct Fraction {
	/* Mantissa of the scale as an integer: magnitude 2^14 to 2^15 - 1, or 0. */
	double fraction = 0;
	int shift = 0; /* scale = fraction / 2^shift */
};

Fraction split(double scale)
{
	int exponent = 0;
	double fraction = roundReal(std::ldexp(std::frexp(scale, &exponent), fractionBits));

	if (std::fabs(fraction) == std::ldexp(1, fractionBits)) {
		fraction /= 2;
		exponent++;
	}
	return { fraction, fractionBits - exponent };
}

Result<ChannelScaling> scaleOnce(std::span<const double> scales, std::span<const double> biases,
				 int largestFineShift, double largestInput)
{
	std::vector<Fraction> fractions;
	const Fraction *largest = nullptr;

	for (const double scale : scales)
		fractions.push_back(split(scale));
	for (const Fraction &fraction : fractions) {
		if (fraction.fraction != 0 && (!largest || fraction.shift < largest->shift))
			largest = &fraction;
	}
	const int total = largest ? std::max(largest->shift, 0) + maxPower : maxPower;
	if (total > largestFineShift + maxCoarseShift)
		return fail(ErrorCode::Unsupported, "scale channels", "largest scale",
			    fmt::format("2^{} is beyond what multipliers and shifts reach",
					fractionBits - largest->shift));

	ChannelScaling scaling;
	/* Keep the right shift of X1 small: each step of it rounds off a bit of X1's results. */
	const int coarse = std::max(
		std::min(std::max(total - largestFineShift, 0), leastCoarseShift(largestInput)),
		total - maxProductShift);
	const int fine = total - coarse;
	std::vector<double> coarseFactors;
	scaling.x1.shift = static_cast<uint8_t>(coarse);
	scaling.x2.shift = static_cast<uint8_t>(fine);
	FactorPair factors;
	for (size_t i = 0; i < scales.size(); i++) {
		/* Compute the factors again only if the scale differs, because most layers have one
		 * scale for all channels. */
		if (i == 0 || scales[i] != scales[i - 1])
			factors = nearestFactors(std::ldexp(scales[i], total),
						 total - fractions[i].shift);
		coarseFactors.push_back(factors.coarse);
		scaling.x1.multiply.push_back(static_cast<int16_t>(factors.coarse));
		scaling.x2.multiply.push_back(static_cast<int16_t>(factors.fine));
	}
	scaling.x1.addShift = toOperands(biases, scaling.x1.add);
	std::vector<double> rest;
	for (size_t i = 0; i < biases.size(); i++)
		rest.push_back((biases[i] - std::ldexp(scaling.x1.add[i], scaling.x1.addShift)) *
			       std::ldexp(coarseFactors[i], -coarse));
	scaling.x2.addShift = toOperands(rest, scaling.x2.add);
	return scaling;
}

/* Returns, for each scale, the number of fraction bits that the first of two roundings keeps. */
std::vector<int> firstBitsOf(std::span<const double> scales)
{
	std::vector<int> bits;
	int smallest = maxCoarseShift;

	for (const double scale : scales) {
		int exponent = 0;
		std::frexp(scale, &exponent);
		bits.push_back(std::max(-exponent, 0));
		if (scale != 0)
			smallest = std::min(smallest, bits.back());
	}
	/* Limit the bits of the tiny scales of kernels whose weights are nearly zero: with all of
	 * them, scaleTwice() would lose precision in other kernels, or round only once. */
	for (int &one : bits)
		one = std::min(one, smallest + mostSpread);
	return bits;
}

Result<ChannelScaling> scaleTwice(std::span<const double> scales, std::span<const double> biases,
				  int maxFineShift, const std::vector<int> &powers,
				  double largestInput)
{
	const int largest = *std::ranges::max_element(powers);
	std::vector<double> fractions;

	if (largest <= 0 || largest > maxCoarseShift)
		return scaleOnce(scales, biases, maxFineShift, largestInput);
	std::vector<int16_t> factors;
	for (size_t i = 0; i < scales.size(); i++) {
		const int power = std::clamp(powers[i], largest - maxPower, largest);
		fractions.push_back(std::ldexp(scales[i], power));
		factors.push_back(static_cast<int16_t>(1 << (largest - power)));
	}
	auto scaling = scaleOnce(fractions, biases, std::min(maxFineShift16, sharedShift - largest),
				 largestInput);
	if (!scaling)
		return scaling;
	scaling->y.multiply = std::move(factors);
	scaling->y.shift = static_cast<uint8_t>(largest);
	return scaling;
}

/*
 * Returns the biases with half a step of the first rounding added. A single rounding then gives the
 * results of two: of two roundings, the first one already lifts a value to a tie of the second one,
 * which rounds up, if the value is at most half a step below the tie.
 */
std::vector<double> withFirstRounding(std::span<const double> biases,
				      std::span<const double> scales, const std::vector<int> &bits)
{
	std::vector<double> all(biases.begin(), biases.end());

	for (size_t i = 0; i < all.size(); i++) {
		if (bits[i] > 0 && scales[i] != 0)
			all[i] += std::ldexp(0.5, -bits[i]) / scales[i];
	}
	return all;
}

} /* namespace */

FactorPair nearestFactors(double product, int power)
{
	const uint32_t first = 1U << std::clamp(power, 0, maxPower);
	const auto wanted = static_cast<uint32_t>(std::llround(std::fabs(product)));
	const uint32_t nearEnough = wanted >> 28;
	uint32_t bestCoarse = first, bestFine = 0, least = wanted;

	/* Try only first operands from 2^power on: with a larger first operand, the second one is
	 * smaller, and stays within its range. */
	for (uint32_t coarse = first; coarse < 2 * first && least > nearEnough; coarse++) {
		const uint32_t fine = (wanted + coarse / 2) / coarse, made = fine * coarse;
		const uint32_t error = made > wanted ? made - wanted : wanted - made;
		if (error < least && fine <= operandLimits.highest) {
			least = error;
			bestCoarse = coarse;
			bestFine = fine;
		}
	}
	return { static_cast<double>(bestCoarse), std::copysign(bestFine, product) };
}

Result<ChannelScaling> scaleChannels(std::span<const double> scales, std::span<const double> biases,
				     ScaleRounding rounding, unsigned resultBits,
				     std::optional<int> firstBits, double largest)
{
	constexpr double largestScale = 1 << maxPower;
	const int maxFineShift = resultBits <= 8 ? maxFineShift8 : maxFineShift16;
	std::vector<double> possible(scales.begin(), scales.end());

	for (double &scale : possible)
		scale = std::clamp(scale, -largestScale, largestScale);
	if (rounding == ScaleRounding::Once)
		return scaleOnce(possible, biases, maxFineShift, largest);
	const auto bits =
		firstBits ? std::vector<int>(possible.size(), *firstBits) : firstBitsOf(possible);
	if (rounding == ScaleRounding::Twice)
		return scaleTwice(possible, biases, maxFineShift, bits, largest);
	return scaleOnce(possible, withFirstRounding(biases, possible, bits), maxFineShift,
			 largest);
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <nvdla/converter.h>

#include <algorithm>

#include <fmt/core.h>

#include "invalid.h"

namespace nvdla
{

namespace
{

constexpr int maxConverterShift = 31; /* the register field has five bits, unsigned */
/* A product has 48 bits, of which a larger shift would leave none. */
constexpr int maxMultiplierShift = 47;
constexpr double maxScale = 32767;

tl::unexpected<Error> outOfRange(const char *what, const char *where, std::string why)
{
	return fail(ErrorCode::Unsupported, what, where, std::move(why));
}

} /* namespace */

Result<Converter> makeConverter(double offset, double gain)
{
	constexpr const char *what = "make converter";
	int shift = maxConverterShift;

	if (!std::isfinite(gain) || std::fabs(roundReal(gain)) > maxScale)
		return outOfRange(what, "scale",
				  fmt::format("gain {}: magnitude is at most {}", gain, maxScale));
	while (std::fabs(roundReal(std::ldexp(gain, shift))) > maxScale)
		shift--;
	auto scale = static_cast<int16_t>(roundReal(std::ldexp(gain, shift)));
	if (scale == 0)
		return outOfRange(what, "scale",
				  fmt::format("gain {} is 0 with 31 bits of shift", gain));
	for (; scale % 2 == 0 && shift > 0; shift--)
		scale /= 2;

	const double rounded = roundReal(offset);
	const IntegerLimits limits = integerLimits(32U);
	if (!(rounded >= static_cast<double>(limits.lowest) &&
	      rounded <= static_cast<double>(limits.highest)))
		return outOfRange(what, "offset", fmt::format("{} does not fit 32 bits", offset));
	Converter converter{ static_cast<int32_t>(rounded), scale, static_cast<uint8_t>(shift) };
	converter.error = std::fabs(converter.gain() / gain - 1);
	return converter;
}

Result<Converter> makeConverter(const Quantization &from, const Quantization &to)
{
	const double gain = from.scale / to.scale;

	return makeConverter(from.zeroPoint - to.zeroPoint / gain, gain);
}

Result<LutInput> lutInput(const Quantization &from, double low, double high, uint32_t bits)
{
	if (!(low < high) || bits > 31)
		return invalid("scale LUT input", "range",
			       fmt::format("{} to {} in {} bits is no range", low, high, bits));

	const double scale = std::ldexp(high - low, -static_cast<int>(bits));
	const double zero = roundReal(-low / scale);
	const IntegerLimits limits = integerLimits(32U);
	if (std::fabs(zero) > static_cast<double>(limits.highest))
		return outOfRange("scale LUT input", "range",
				  fmt::format("0 is {} steps from {}", zero, low));

	const Quantization to{ scale, static_cast<int32_t>(zero) };
	auto converter = makeConverter(from, to);
	if (!converter)
		return forward(converter);
	return LutInput{ *converter, to };
}

Multiplier quantizeMultiplier(double scale)
{
	constexpr double one = 1 << 15;
	int shift;
	double fixed = std::round(std::frexp(scale, &shift) * one);

	if (fixed == one) {
		fixed /= 2;
		shift++;
	}
	return { static_cast<int16_t>(fixed), static_cast<int16_t>(shift) };
}

Result<SdpMultipliers> sdpMultipliers(std::span<const double> scales)
{
	constexpr const char *what = "make SDP multipliers";
	double largest = 0;

	for (double scale : scales) {
		if (!std::isfinite(scale))
			return invalid(what, "scale", fmt::format("{} is not a number", scale));
		largest = std::max(largest, std::fabs(scale));
	}
	if (largest == 0)
		return invalid(what, "scale", "there is none, or all are 0");

	const int shift = 15 - quantizeMultiplier(largest).shift;
	if (shift < 0 || shift > maxMultiplierShift)
		return outOfRange(what, "scale",
				  fmt::format("{} needs a right shift of {}, 0 to {} are there",
					      largest, shift, maxMultiplierShift));

	SdpMultipliers multipliers;
	multipliers.shift = static_cast<uint8_t>(shift);
	for (double scale : scales) {
		const double operand = roundReal(std::ldexp(scale, shift));
		multipliers.operands.push_back(static_cast<int16_t>(operand));
		if (scale != 0)
			multipliers.error =
				std::max(multipliers.error,
					 std::fabs(std::ldexp(operand, -shift) / scale - 1));
	}
	return multipliers;
}

} /* namespace nvdla */

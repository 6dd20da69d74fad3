/* SPDX-License-Identifier: MIT */
#include "requantization.h"

#include <algorithm>
#include <cmath>

#include <nvdla/rounding.h>

#include "sdp_operands.h"

namespace nvdla
{

int64_t Requantization::operator()(int64_t q) const
{
	const int64_t product = shiftRight((q - from.zeroPoint) * multiply, shift);

	return integerLimits(8U).saturate(product + to.zeroPoint);
}

std::optional<Requantization> requantization(const Quantization &from, const Quantization &to)
{
	const IntegerLimits limits = integerLimits(8U);
	const auto isRight = [&](const Requantization &candidate) {
		for (int64_t q = limits.lowest; q <= limits.highest; q++) {
			if (candidate(q) != to.quantize(from.real(static_cast<double>(q)), limits))
				return false;
		}
		return true;
	};

	for (uint8_t shift = 0;; shift++) {
		const double multiply = roundReal(std::ldexp(from.scale / to.scale, shift));
		if (multiply > static_cast<double>(operandLimits.highest) || shift > 31)
			return std::nullopt;
		const Requantization candidate{ from, to, static_cast<int16_t>(multiply), shift };
		if (multiply > 0 && isRight(candidate))
			return candidate;
	}
}

int64_t roundedTwice(double number, int firstBits)
{
	const int64_t first =
		integerLimits(62U).saturate(std::ldexp(number, firstBits), Rounding::HalfUp);

	return shiftRight(first, static_cast<uint32_t>(firstBits));
}

int64_t multipliedTwice(int64_t integer, double factor)
{
	constexpr int factorBits = 31;
	int exponent = 0;
	const double mantissa = roundReal(std::ldexp(std::frexp(factor, &exponent), factorBits));

	return roundedTwice(static_cast<double>(integer) *
				    std::ldexp(mantissa, exponent - factorBits),
			    std::clamp(-exponent, 0, factorBits));
}

} /* namespace nvdla */

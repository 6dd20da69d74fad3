/* SPDX-License-Identifier: MIT */
#include "trace/compare.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace nvdla::sim
{

namespace
{

uint16_t half(std::span<const std::byte> bytes, size_t offset)
{
	return static_cast<uint16_t>(static_cast<uint16_t>(bytes[offset]) |
				     static_cast<uint16_t>(bytes[offset + 1]) << 8);
}

bool isFinite(uint16_t bits)
{
	return (bits & 0x7c00) != 0x7c00;
}

/* Exponent field without bias, as the precision document's exp(a). */
int exponent(uint16_t bits)
{
	return (bits >> 10 & 0x1f) - 15;
}

bool within(uint16_t expected, uint16_t got, const Tolerance &tolerance)
{
	if (expected == got)
		return true;
	if (!isFinite(expected) || !isFinite(got))
		return false;
	const double a = halfValue(expected);
	const double error = std::fabs(a - halfValue(got));
	if (tolerance.kind == Tolerance::Kind::Convolution)
		return error <= std::exp2(tolerance.maxExponent - 20) * tolerance.products * 2 +
					std::exp2(exponent(expected) - 10);
	return error <= tolerance.absolute && error <= tolerance.relative * std::fabs(a);
}

std::string describe(uint16_t bits)
{
	return fmt::format("{:g} ({:#06x})", halfValue(bits), bits);
}

} /* namespace */

double halfValue(uint16_t bits)
{
	const int mantissa = bits & 0x3ff;
	const int biased = bits >> 10 & 0x1f;
	double value;
	if (biased == 0x1f)
		value = mantissa ? NAN : INFINITY;
	else if (biased)
		value = std::ldexp(mantissa | 0x400, biased - 25);
	else
		value = std::ldexp(mantissa, -24);
	return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
}

std::optional<Difference> compare(std::span<const std::byte> expected,
				  std::span<const std::byte> got, const Tolerance &tolerance)
{
	const size_t size = std::min(expected.size(), got.size());
	const bool exact = tolerance.kind == Tolerance::Kind::Exact || size % 2;
	for (size_t offset = 0; offset < size; offset += exact ? 1 : 2) {
		if (exact) {
			if (expected[offset] != got[offset])
				return Difference{
					.offset = offset,
					.expected = fmt::format(
						"{:#04x}", static_cast<unsigned>(expected[offset])),
					.got = fmt::format("{:#04x}",
							   static_cast<unsigned>(got[offset])),
				};
		} else if (!within(half(expected, offset), half(got, offset), tolerance)) {
			return Difference{ .offset = offset,
					   .expected = describe(half(expected, offset)),
					   .got = describe(half(got, offset)) };
		}
	}
	return std::nullopt;
}

} /* namespace nvdla::sim */

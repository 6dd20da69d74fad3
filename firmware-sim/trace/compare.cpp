/* SPDX-License-Identifier: MIT */
#include "trace/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>

#include "arith/float.h"

namespace nvdla::sim
{

namespace
{

using arith::Fp16;

uint16_t half(std::span<const std::byte> bytes, size_t offset)
{
	return static_cast<uint16_t>(static_cast<uint16_t>(bytes[offset]) |
				     static_cast<uint16_t>(bytes[offset + 1]) << 8);
}

bool within(uint16_t expected, uint16_t got, const Tolerance &tolerance)
{
	if (expected == got)
		return true;
	if (Fp16::exponent(expected) == Fp16::kExponentMax ||
	    Fp16::exponent(got) == Fp16::kExponentMax)
		return false;
	const double a = halfValue(expected);
	const double error = std::fabs(a - halfValue(got));
	/* The precision document's exp(a) is the exponent field without bias. */
	if (tolerance.kind == Tolerance::Kind::Convolution)
		return error <= std::exp2(tolerance.maxExponent - 20) * tolerance.products * 2 +
					std::exp2(Fp16::exponent(expected) - Fp16::kBias - 10);
	return error <= tolerance.absolute && error <= tolerance.relative * std::fabs(a);
}

std::string describe(std::byte byte)
{
	return fmt::format("{:#04x}", static_cast<unsigned>(byte));
}

std::string describe(uint16_t bits)
{
	return fmt::format("{:g} ({:#06x})", halfValue(bits), bits);
}

} /* namespace */

double halfValue(uint16_t bits)
{
	if (Fp16::isInf(bits))
		return std::copysign(INFINITY, Fp16::sign(bits) ? -1.0 : 1.0);
	return std::bit_cast<float>(arith::fp16ToFp32(bits));
}

std::optional<Difference> compare(std::span<const std::byte> expected,
				  std::span<const std::byte> got, const Tolerance &tolerance)
{
	const size_t size = std::min(expected.size(), got.size());
	const bool exact = tolerance.kind == Tolerance::Kind::Exact || size % 2;
	for (size_t offset = 0; offset < size; offset += exact ? 1 : 2) {
		if (exact && expected[offset] != got[offset])
			return Difference{ .offset = offset,
					   .expected = describe(expected[offset]),
					   .got = describe(got[offset]) };
		if (!exact && !within(half(expected, offset), half(got, offset), tolerance))
			return Difference{ .offset = offset,
					   .expected = describe(half(expected, offset)),
					   .got = describe(half(got, offset)) };
	}
	return std::nullopt;
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * PDP: the largest and smallest of FP16, one element after the other, for tests.
 */
#pragma once

#include <cstdint>

#include "pdp/pdp_arith.h"

namespace nvdla::sim
{

/**
 * \brief Numbers in whose order those of FP16 are, NaNs beyond all others
 *
 * Selecting one of two is then a matter of integers, which the host's vectors have.
 */
template<PoolingMethod M>
struct PdpFloatOrder {
	static constexpr bool kMax = M == PoolingMethod::Max;
	/* Added to the bits of a NaN; the lower 16 bits stay as they are. */
	static constexpr int32_t kNan = kMax ? 0x10000 : -0x20000;

	static constexpr int32_t of(int32_t bits)
	{
		const int32_t magnitude = bits & 0x7fff;
		/* Of negative numbers the one of the larger magnitude comes first; -0 before +0. */
		const int32_t ordered = bits & 0x8000 ? ~magnitude : magnitude;
		return magnitude > 0x7c00 ? kNan + bits : ordered;
	}
	static constexpr bool isNan(int32_t number)
	{
		return kMax ? number >= kNan : number < kNan + 0x10000;
	}
	static constexpr int32_t bitsOf(int32_t number)
	{
		const int32_t ordinary = number < 0 ? (~number & 0x7fff) | 0x8000 : number;
		return isNan(number) ? number & 0xffff : ordinary;
	}
};

/**
 * \brief Largest and smallest elements of FP16
 *
 * Values stay as they are, infinities included; a NaN is the result. Of two NaNs the left one wins
 * in a row, but the lower one among the rows.
 */
template<PoolingMethod M>
struct PdpFloatExtreme {
	using Element = PdpElement<Precision::Fp16>;
	using Number = int32_t;

	static Number select(Number a, Number b)
	{
		const Number chosen = M == PoolingMethod::Max ? (a > b ? a : b) : (a < b ? a : b);

		return PdpFloatOrder<M>::isNan(a) ? a : chosen;
	}

	explicit PdpFloatExtreme(const PdpOp &) {}

	Number load(Element in) const { return PdpFloatOrder<M>::of(in); }
	Number addInRow(Number row, Number in) const { return select(row, in); }
	Number finishRow(Number row, uint32_t) const { return row; }
	Number addRow(Number sum, Number row) const { return select(row, sum); }
	Element finish(Number sum, uint32_t) const
	{
		return static_cast<Element>(PdpFloatOrder<M>::bitsOf(sum));
	}
};

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include <cmath>

#include "reference_sum.h"

namespace nvdla::test
{

/*
 * As it is defined: each element of the input adds the kernel to the output. The
 * core adds as many products as a set of kernels has, some of them zero.
 */
Cube deconvolve(const op::Deconvolution &op, const Cube &in, const GraphWeights &weights)
{
	const bool isFloat = in.type == DataType::Half;
	const std::vector<double> plain = numbers(weights.elements);
	const uint32_t fullH = (in.h - 1) * op.stride.y + weights.r;
	const uint32_t fullW = (in.w - 1) * op.stride.x + weights.s;
	const uint32_t taps = weights.c * ((weights.r + op.stride.y - 1) / op.stride.y) *
			      ((weights.s + op.stride.x - 1) / op.stride.x);
	Cube out = Cube::of(in.type, in.n, weights.k, fullH - op.padding.top - op.padding.bottom,
			    fullW - op.padding.left - op.padding.right);
	std::vector<Sum> sums(out.values.size());

	for (size_t at = 0; at < plain.size() * in.n; at++) {
		const auto s = static_cast<uint32_t>(at % weights.s);
		const auto r = static_cast<uint32_t>(at / weights.s % weights.r);
		const auto c = static_cast<uint32_t>(at / weights.s / weights.r % weights.c);
		const auto k =
			static_cast<uint32_t>(at / weights.s / weights.r / weights.c % weights.k);
		const auto n = static_cast<uint32_t>(at / plain.size());
		for (uint32_t iy = 0; iy < in.h; iy++) {
			for (uint32_t ix = 0; ix < in.w; ix++) {
				const uint32_t y = iy * op.stride.y + r - op.padding.top;
				const uint32_t x = ix * op.stride.x + s - op.padding.left;
				/* What is cut off before 0 is beyond the end, too. */
				if (y < out.h && x < out.w)
					sums[out.index(n, k, y, x)].add(in.at(n, c, iy, ix),
									plain[at % plain.size()],
									isFloat);
			}
		}
	}
	for (size_t at = 0; at < sums.size(); at++) {
		out.values[at] = deliver(op.accumulatorShift, sums[at].value, isFloat);
		if (isFloat)
			out.tolerance.push_back(std::ldexp(2.0 * taps, sums[at].maxExponent - 20));
	}
	return out;
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * The Winograd transform of the input (pre-addition).
 *
 * It is C^T * tile * C. The rows of C^T are (1 0 -1 0), (0 1 1 0), (0 -1 1 0), (0 1 0 -1).
 * Each step is one addition or subtraction, which matters for FP16.
 */
#include "conv/csc.h"

#include "arith/float.h"
#include "arith/integer.h"

namespace nvdla::sim
{

namespace
{

/** Applies C^T to the columns, then to the rows */
template<typename Number, typename Add, typename Subtract>
void transform(Number m[16], Add add, Subtract subtract)
{
	for (unsigned pass = 0; pass < 2; pass++) {
		const unsigned step = pass == 0 ? 4 : 1; /* distance between combined numbers */
		const unsigned next = pass == 0 ? 1 : 4; /* distance to the next four numbers */
		for (unsigned i = 0; i < 4; i++) {
			Number *v = m + i * next;
			const Number a = v[0], b = v[step], c = v[2 * step], d = v[3 * step];
			v[0] = subtract(a, c);
			v[step] = add(b, c);
			v[2 * step] = subtract(c, b);
			v[3 * step] = subtract(b, d);
		}
	}
}

} /* namespace */

void winogradTransform(Precision precision, uint32_t truncate, const int16_t tile[16],
		       int16_t out[16])
{
	if (precision == Precision::Fp16) {
		uint32_t m[16];
		for (unsigned i = 0; i < 16; i++)
			m[i] = arith::fp16ToFp17(static_cast<uint16_t>(tile[i]));
		transform(m, arith::add<arith::Fp17>, arith::subtract<arith::Fp17>);
		for (unsigned i = 0; i < 16; i++)
			out[i] = static_cast<int16_t>(arith::fp17ToFp16(m[i]));
		return;
	}

	int32_t m[16];
	for (unsigned i = 0; i < 16; i++)
		m[i] = tile[i];
	transform(
		m, [](int32_t a, int32_t b) { return a + b; },
		[](int32_t a, int32_t b) { return a - b; });

	/* The shifter has no setting for 3; the RTL then shifts by 2. */
	const unsigned shift = truncate > 2 ? 2 : truncate;
	for (unsigned i = 0; i < 16; i++)
		out[i] = static_cast<int16_t>(precision == Precision::Int8
						      ? arith::truncate<8>(m[i], shift)
						      : arith::truncate<16>(m[i], shift));
}

} /* namespace nvdla::sim */

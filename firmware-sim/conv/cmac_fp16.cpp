/* SPDX-License-Identifier: MIT */
/*
 * MAC cells for FP16.
 *
 * Hardware semantics, "FP16 MAC". Exact bits need the multiplier's insides: radix-4
 * Booth recoding of the weight gives eight partial products, carry-save adders
 * reduce them to two words, and the alignment shifts those two words one by one
 * before they are added. What is lost below the cut is not the product's fraction
 * but that of each word and of the offset below, so a product can be one unit off
 * its floor.
 *
 * Every partial product is made positive by adding 2^16 to it; their offsets sum
 * to kOffset, whose shifted value is taken off again at the end.
 */
#include "conv/cmac.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

constexpr unsigned kFractionBits = 10;
constexpr uint32_t kPartials = 8;
constexpr uint32_t kOffset = 0x55550000;
constexpr uint32_t kWord = 0xffff;
/* From here on both words are shifted out. */
constexpr uint32_t kShiftOut = 32;

/** What a carry-save adder makes of three words: their sum in two */
struct SumCarry {
	uint32_t sum;
	uint32_t carry;
};

inline SumCarry compress(uint32_t a, uint32_t b, uint32_t c)
{
	return { a ^ b ^ c, ((a & b) | (b & c) | (a & c)) << 1 };
}

/** Five words to two */
inline SumCarry compress5(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	const SumCarry first = compress(a, b, c);
	const SumCarry second = compress(first.sum, first.carry, d);
	return compress(second.sum, second.carry, e);
}

/** One Booth digit times \a data; \a negative is 1 if the digit is below zero */
struct Partial {
	uint32_t word; /* 2^16 added, one short if negative */
	uint32_t negative;
};

inline Partial partialProduct(uint32_t digit, uint32_t data)
{
	const uint32_t high = digit >> 2 & 1;
	const uint32_t middle = digit >> 1 & 1;
	const uint32_t low = digit & 1;
	const uint32_t once = 0 - (middle ^ low);
	const uint32_t twice = 0 - ((high ^ middle) & ~(middle ^ low) & 1);
	const uint32_t negative = high & ~(middle & low) & 1;
	const uint32_t magnitude = (data & once) | (data << 1 & twice);

	return { ((magnitude ^ (0 - negative)) & kWord) | (1 - negative) << 16, negative };
}

/** +-(data * weight) >> shift, as the multiplier and the alignment do it */
inline int32_t alignedProduct(uint32_t data, uint32_t weight, uint32_t negative, uint32_t shift)
{
	/* Complementing the recoded digits negates the product. */
	const uint32_t recoded = weight << 1 ^ negative;
	Partial p[kPartials];

	for (uint32_t i = 0; i < kPartials; i++)
		p[i] = partialProduct(recoded >> (2 * i) & 7, data);

	const SumCarry lower = compress5(p[0].word, p[1].word << 2 | p[0].negative,
					 p[2].word << 4 | p[1].negative << 2,
					 p[3].word << 6 | p[2].negative << 4, p[3].negative << 6);
	const SumCarry upper =
		compress5(p[4].word << 8, p[5].word << 10 | p[4].negative << 8,
			  p[6].word << 12 | p[5].negative << 10,
			  p[7].word << 14 | p[6].negative << 12, p[7].negative << 14);
	const SumCarry half = compress(lower.sum, lower.carry, upper.sum);
	const SumCarry whole = compress(half.sum, half.carry, upper.carry);

	if (shift >= kShiftOut)
		return 0;
	return static_cast<int32_t>((whole.sum >> shift) + (whole.carry >> shift) -
				    (kOffset >> shift));
}

/** All products of a step, aligned; \return the exponent they are aligned to */
uint32_t alignedProducts(const Fp16Vector &data, const Fp16Vector &weights,
			 int32_t product[kMacLanes])
{
	uint32_t quarter[kMacLanes];
	uint32_t largest = 0;

	for (uint32_t i = 0; i < kMacLanes; i++) {
		const uint32_t present = data.present[i] & weights.present[i];
		quarter[i] = (data.quarter[i] + weights.quarter[i]) & present;
		largest = std::max(largest, quarter[i]);
	}
	for (uint32_t i = 0; i < kMacLanes; i++) {
		const uint32_t present = data.present[i] & weights.present[i];
		const int32_t aligned = alignedProduct(data.significand[i], weights.significand[i],
						       data.negative[i] ^ weights.negative[i],
						       (largest - quarter[i]) * 4);
		product[i] = aligned & static_cast<int32_t>(present);
	}
	return largest * 4;
}

/** The NaN of a step: weights before data, lowest lane first; exponent 0 if there is none */
Fp16Sum nanOf(const Fp16Vector &data, const Fp16Vector &weights)
{
	const uint32_t bits = weights.nan ? weights.nan : data.nan;
	Fp16Sum sum;

	if (bits == 0)
		return sum;
	/* Sign and fraction, without the exponent between them, at the top. */
	const int64_t signAndFraction =
		static_cast<int64_t>(bits & 0x3ff) - (bits >> 15 ? 0x400 : 0);
	sum.exponent = Fp16Sum::kNan;
	sum.mantissa = signAndFraction * (int64_t{ 1 } << (Fp16Sum::kMantissaBits - 11));
	return sum;
}

} /* namespace */

void Fp16Vector::load(const int16_t *numbers, uint32_t lanes)
{
	nan = 0;
	for (uint32_t i = 0; i < kMacLanes; i++) {
		const uint32_t bits = i < lanes ? static_cast<uint16_t>(numbers[i]) : 0;
		const uint32_t exponent = bits >> kFractionBits & 0x1f;
		const uint32_t fraction = bits & 0x3ff;
		const uint32_t implied = exponent ? 1U << kFractionBits : 0;
		/* A denormal counts as exponent 1. */
		const uint32_t shift = exponent ? exponent & 3 : 1;

		significand[i] = (fraction | implied) << shift;
		quarter[i] = exponent >> 2;
		negative[i] = 0 - (bits >> 15);
		present[i] = (bits & 0x7fff) ? ~0U : 0;
		if (exponent == 0x1f && fraction && !nan)
			nan = bits;
	}
}

Fp16Sum macFp16(const Fp16Vector &data, const Fp16Vector &weights)
{
	int32_t product[kMacLanes];
	Fp16Sum sum = nanOf(data, weights);

	if (sum.exponent == Fp16Sum::kNan)
		return sum;
	sum.exponent = alignedProducts(data, weights, product);
	for (int32_t value : product)
		sum.mantissa += value;
	return sum;
}

std::array<Fp16Sum, 4> macFp16Winograd(const Fp16Vector &data, const Fp16Vector &weights)
{
	int32_t product[kMacLanes];
	std::array<int64_t, 16> m;
	std::array<Fp16Sum, 4> sums;

	sums.fill(nanOf(data, weights));
	if (sums[0].exponent == Fp16Sum::kNan)
		return sums;

	const uint32_t exponent = alignedProducts(data, weights, product);
	for (size_t i = 0; i < m.size(); i++)
		m[i] = int64_t{ product[4 * i] } + product[4 * i + 1] + product[4 * i + 2] +
		       product[4 * i + 3];
	const std::array<int64_t, 4> out = winogradOutput(m);
	for (size_t i = 0; i < out.size(); i++)
		sums[i] = { exponent, out[i] };
	return sums;
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * The products of a step, for files that are compiled once for each instruction set (Highway).
 *
 * Most products are exact where they are near the largest. Shifted by 0 or 4 bits, the
 * multiplier's two words give the floor of the product: below bit 4 only the two lowest partial
 * products and one correction bit are not zero, and the adders behind the first have moved all
 * their carries above it. Shifted by 8, they give the floor or one less, which is in a table
 * (fp16_carries-inl.h). The few that are shifted further ("far") are collected and go
 * through the multiplier as it is built (fp16_multiplier-inl.h).
 */
#include <bit>

#include "conv/fp16_carries-inl.h"
#include "conv/fp16_data-inl.h"
#include "conv/fp16_lanes-inl.h"
#include "conv/fp16_multiplier-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_PRODUCTS_INL_H
#undef NVDLA_SIM_CONV_FP16_PRODUCTS_INL_H
#else
#define NVDLA_SIM_CONV_FP16_PRODUCTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

/* Bits that a product is shifted at least to be far. */
constexpr int32_t kFar = 12;
/* Near products whose sum fits 32 bits: 2^31 / 16376^2. */
constexpr size_t kProductsIn32Bits = 8;
/* Positions that are worked on together: their far products fill vectors. */
constexpr size_t kPositionsAtOnce = 8;

/** Significand of each weight times that of the data */
HWY_INLINE Integers multiply(Integers words, Integers significand)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return Integers{ _mm512_madd_epi16(words.raw, significand.raw) };
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	return Integers{ _mm256_madd_epi16(words.raw, significand.raw) };
#else
	return hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(words)),
		       hn::ShiftRight<16>(hn::ShiftLeft<16>(significand)));
#endif
}

/** Sums of 32 bits, in doubles */
struct StepSums {
	Doubles lower;
	Doubles upper;

	HWY_INLINE StepSums() : lower(hn::Zero(DoubleTag())), upper(hn::Zero(DoubleTag())) {}

	HWY_INLINE void add(Integers sums)
	{
		lower = hn::Add(lower, hn::PromoteTo(DoubleTag(), hn::LowerHalf(HalfTag(), sums)));
		upper = hn::Add(upper, hn::PromoteTo(DoubleTag(), hn::UpperHalf(HalfTag(), sums)));
	}
};

/** A position's operands, and the largest exponent of each kernel in units of four */
struct Position {
	Data data;
	int8_t largest[kFp16Kernels];
};

/** A step of kLanes kernels from \a kernel on */
struct Step {
	const LostCarries &carries;
	const Fp16Weights &weights;
	size_t kernel;

	HWY_INLINE Integers largest(const Position &position) const
	{
		const hn::Rebind<int8_t, IntegerTag> narrowTag;
		const auto quarters = hn::LoadU(narrowTag, position.largest + kernel);
		return hn::ShiftLeft<2>(hn::PromoteTo(IntegerTag(), quarters));
	}

	HWY_INLINE Integers words(size_t lane) const
	{
		return hn::Load(IntegerTag(), &weights.word[lane * kFp16Kernels + kernel]);
	}

	/** \return how far products with these weights are shifted; nonsense if they are zero */
	static HWY_INLINE Integers distance(const Data &data, size_t lane, Integers words,
					    Integers largest)
	{
		return hn::Sub(hn::Sub(largest, hn::ShiftRight<16>(words)),
			       constant(data.exponent[lane]));
	}

	HWY_INLINE Integers lostCarries(const Data &data, size_t lane, Integers words) const
	{
		const Integers index =
			hn::Load(IntegerTag(), &weights.carryWord[lane * kFp16Kernels + kernel]);
		return carries.lost(carries.row(data.carryRow[lane]), index, words);
	}
};

/** The far products of a step, of one datum after the other */
struct FarProducts {
	/** A datum that has some */
	struct Row {
		uint16_t kernels; /* a bit for each */
		uint8_t position;
		uint8_t lane;
	};

	Row rows[kPositionsAtOnce * kMacLanes];
	/* Both significands, then the product, one after the other; the distances. */
	int32_t pairs[kPositionsAtOnce * kMacLanes * kLanes + kLanes];
	int32_t distances[kPositionsAtOnce * kMacLanes * kLanes + kLanes];
};

/**
 * The products of a position that are not shifted far
 * \return the end of the others' rows
 */
HWY_INLINE FarProducts::Row *nearProducts(const Step &step, const Data &data, Integers largest,
					  uint8_t position, StepSums &sums, FarProducts::Row *far)
{
	for (uint64_t rest = data.present; rest;) {
		Integers sum = hn::Zero(IntegerTag());
		for (size_t i = 0; i < kProductsIn32Bits && rest; i++, rest &= rest - 1) {
			const auto lane = static_cast<size_t>(std::countr_zero(rest));
			const Integers words = step.words(lane);
			const Integers distance = step.distance(data, lane, words, largest);
			const auto isFar = hn::Gt(distance, constant(kFar - 1));
			const auto isTabled = hn::Eq(distance, constant(kTabledDistance));
			const Integers floor = hn::Shr(
				multiply(words, constant(data.significand[lane])), distance);
			const Integers lost =
				hn::IfThenElseZero(isTabled, step.lostCarries(data, lane, words));
			sum = hn::Add(sum, hn::IfThenZeroElse(isFar, hn::Sub(floor, lost)));
			/* Without a branch, which nobody could foresee. */
			*far = { static_cast<uint16_t>(bitsOf(isFar)), position,
				 static_cast<uint8_t>(lane) };
			far += far->kernels != 0;
		}
		sums.add(sum);
	}
	return far;
}

/** Products with the multiplier's own words, \a pairs being both significands */
HWY_INLINE Integers alignedProducts(Integers pairs, Integers distances)
{
	const UnsignedTag tag;
	const Integers weight = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
	const Integers data = hn::ShiftRight<16>(pairs);
	const Integers negate = hn::BroadcastSignBit(hn::Xor(weight, data));

	return fp16::alignedProduct(hn::BitCast(tag, hn::Abs(data)),
				    hn::BitCast(tag, hn::Abs(weight)), hn::BitCast(tag, negate),
				    hn::BitCast(tag, distances));
}

/** Adds the products of all rows up to \a end to the sums of their positions */
HWY_INLINE void addFarProducts(const Step &step, const Position *positions, FarProducts &far,
			       const FarProducts::Row *end, Integers *sums)
{
	const IntegerTag tag;
	size_t count = 0;

	for (const FarProducts::Row *row = far.rows; row != end; row++) {
		const Position &position = positions[row->position];
		const Integers words = step.words(row->lane);
		const Integers significand = constant(position.data.significand[row->lane]);
		const Integers pairs =
			hn::Or(hn::And(words, constant(0xffff)), hn::ShiftLeft<16>(significand));

		pack(pairs, row->kernels, far.pairs + count);
		pack(step.distance(position.data, row->lane, words, step.largest(position)),
		     row->kernels, far.distances + count);
		count += static_cast<size_t>(std::popcount(row->kernels));
	}
	for (size_t i = 0; i < count; i += kLanes)
		hn::StoreU(alignedProducts(hn::LoadU(tag, far.pairs + i),
					   hn::LoadU(tag, far.distances + i)),
			   tag, far.pairs + i);
	const int32_t *packed = far.pairs;
	for (const FarProducts::Row *row = far.rows; row != end; row++) {
		Integers &sum = sums[row->position];
		sum = hn::Add(sum, unpack(packed, row->kernels));
		packed += std::popcount(row->kernels);
	}
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

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
#include <algorithm>
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
constexpr size_t kRowVectors = kRowLanes / kLanes;

/** A position's step */
struct Position {
	const Fp16Weights *weights;
	Fp16Sums *sums;
	Data data;
	int8_t largest[kFp16Kernels]; /* exponent of each kernel in units of four */
	/* Of all products: those that are near, and those that are not. */
	alignas(64) double near[kFp16Kernels];
	alignas(64) int32_t far[kFp16Kernels];

	/** \return the largest exponents from \a kernel on */
	template<typename Tag>
	HWY_INLINE hn::Vec<Tag> largestOf(Tag tag, size_t kernel) const
	{
		const hn::Rebind<int8_t, Tag> narrowTag;
		return hn::ShiftLeft<2>(hn::PromoteTo(tag, hn::LoadU(narrowTag, largest + kernel)));
	}

	/** \return how far products are shifted; nonsense if the weights are zero */
	HWY_INLINE Row distance(size_t lane, size_t kernel, Row most) const
	{
		const Row exponents =
			hn::Load(RowTag(), &weights->exponent[lane * kFp16Kernels + kernel]);
		return hn::Sub(hn::Sub(most, exponents), pairOf(data.exponent[lane]));
	}

	HWY_INLINE Row significands(size_t lane, size_t kernel) const
	{
		return hn::Load(RowTag(), &weights->significand[lane * kFp16Kernels + kernel]);
	}

	HWY_INLINE hn::Mask<RowTag> lostCarries(const LostCarries &carries, size_t lane,
						size_t kernel, hn::Mask<RowTag> isTabled) const
	{
		const Row bits =
			hn::Load(RowTag(), &weights->carryBit[lane * kFp16Kernels + kernel]);
		return carries.lost(carries.row(data.carryRow[lane]), bits, isTabled);
	}

	/** \return a number that is there twice, in all lanes */
	static HWY_INLINE Row pairOf(int32_t twice)
	{
		const hn::Repartition<int32_t, RowTag> tag;
		return hn::BitCast(RowTag(), hn::Set(tag, twice));
	}
};

HWY_INLINE void addTo(double *out, Integers sums)
{
	const DoubleTag tag;
	double *upper = out + kDoubleLanes;

	hn::Store(hn::Add(hn::Load(tag, out), hn::PromoteTo(tag, hn::LowerHalf(HalfTag(), sums))),
		  tag, out);
	hn::Store(hn::Add(hn::Load(tag, upper), hn::PromoteTo(tag, hn::UpperHalf(HalfTag(), sums))),
		  tag, upper);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/** Sums of products of a row in 32 bits */
struct RowSums {
	Integers sums = hn::Zero(IntegerTag());

	HWY_INLINE RowSums() {} /* an implicit one has no vectors */

	/** \param data a significand, twice */
	HWY_INLINE void add(Row significands, int32_t data, Row distances, hn::Mask<RowTag> isFar,
			    hn::Mask<RowTag> isLost)
	{
		const hn::Rebind<uint16_t, UnsignedTag> halfTag;
		const auto words = hn::PromoteTo(UnsignedTag(), hn::BitCast(halfTag, significands));
		const Integers products{ _mm512_madd_epi16(words.raw, constant(data).raw) };
		const Integers floor = hn::Shr(products, hn::PromoteTo(IntegerTag(), distances));
		const auto isNear = static_cast<__mmask16>(~isFar.raw);

		sums = Integers{ _mm512_mask_add_epi32(sums.raw, isNear, sums.raw, floor.raw) };
		sums = Integers{ _mm512_mask_sub_epi32(sums.raw, isLost.raw, sums.raw,
						       constant(1).raw) };
	}

	HWY_INLINE void store(double *out) const { addTo(out, sums); }
};

#else

/** Sums of products of a row in 32 bits: of the lower kernels of each 128 bits, and the upper */
struct RowSums {
	Integers lower = hn::Zero(IntegerTag());
	Integers upper = hn::Zero(IntegerTag());
	Row lost = hn::Zero(RowTag());

	HWY_INLINE RowSums() {} /* an implicit one has no vectors */

	/** \param data a significand, twice */
	HWY_INLINE void add(Row significands, int32_t data, Row distances, hn::Mask<RowTag> isFar,
			    hn::Mask<RowTag> isLost)
	{
		const RowTag tag;
		const IntegerTag wide;
		const Row near = hn::IfThenZeroElse(isFar, significands);
		const Row factor = Position::pairOf(data);
		const Row low = hn::Mul(near, factor);
		const Row high = hn::MulHigh(near, factor);
		const Row zero = hn::Zero(tag);

		lower = hn::Add(
			lower,
			hn::Shr(hn::BitCast(wide, hn::InterleaveLower(tag, low, high)),
				hn::BitCast(wide, hn::InterleaveLower(tag, distances, zero))));
		upper = hn::Add(
			upper,
			hn::Shr(hn::BitCast(wide, hn::InterleaveUpper(tag, low, high)),
				hn::BitCast(wide, hn::InterleaveUpper(tag, distances, zero))));
		lost = hn::Sub(lost, hn::VecFromMask(tag, isLost));
	}

	HWY_INLINE void store(double *out) const
	{
		const IntegerTag tag;
		const hn::Half<RowTag> half;
		const bool isInOrder = kLanes == 4;
		const Integers first = isInOrder ? lower : hn::ConcatLowerLower(tag, upper, lower);
		const Integers second = isInOrder ? upper : hn::ConcatUpperUpper(tag, upper, lower);

		addTo(out, hn::Sub(first, hn::PromoteTo(tag, hn::LowerHalf(half, lost))));
		addTo(out + kLanes, hn::Sub(second, hn::PromoteTo(tag, hn::UpperHalf(half, lost))));
	}
};

#endif

/** Weights of a row whose products are far */
struct FarRow {
	uint32_t bits;	/* see farBitsOf() */
	uint16_t first; /* of the row, in the block */
	uint16_t position;
};

/* Of a row for each lane, and what is written behind the last one. */
constexpr size_t kFarRows = kMacLanes * kFp16Kernels / kRowLanes + 1;

/**
 * The products of a position that are not shifted far
 * \return the end of the others' rows
 */
HWY_INLINE FarRow *nearProducts(const LostCarries &carries, Position &position, size_t index,
				size_t kernel, FarRow *far)
{
	const RowTag tag;
	const Row most = position.largestOf(tag, kernel);

	std::fill_n(position.near + kernel, kRowLanes, 0.0);
	std::fill_n(position.far + kernel, kRowLanes, 0);
	for (uint64_t rest = position.data.present; rest;) {
		RowSums sums;
		for (size_t i = 0; i < kProductsIn32Bits && rest; i++, rest &= rest - 1) {
			const auto lane = static_cast<size_t>(std::countr_zero(rest));
			const Row distance = position.distance(lane, kernel, most);
			const auto isFar = hn::Gt(distance, rowOf(kFar - 1));
			const auto isTabled = hn::Eq(distance, rowOf(kTabledDistance));
			sums.add(position.significands(lane, kernel),
				 position.data.significand[lane], distance, isFar,
				 position.lostCarries(carries, lane, kernel, isTabled));
			/* Without a branch, which nobody could foresee. */
			*far = { farBitsOf(isFar),
				 static_cast<uint16_t>(lane * kFp16Kernels + kernel),
				 static_cast<uint16_t>(index) };
			far += far->bits != 0;
		}
		sums.store(position.near + kernel);
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

/** The far products of some positions, one after the other */
struct FarProducts {
	static constexpr size_t kMost = kPositionsAtOnce * kMacLanes * kFp16Kernels;

	/* Both significands, then the product. */
	int32_t pairs[kMost + kLanes];
	int32_t distances[kMost + kLanes];
	size_t count = 0;

	FarProducts() {} /* none is looked at before it is written */

	/** Those of \a row, of the \a vector th kLanes kernels */
	HWY_INLINE void add(const Position &position, const FarRow &row, size_t vector)
	{
		const IntegerTag tag;
		const hn::Rebind<int16_t, IntegerTag> halfTag;
		const uint32_t kernels = farKernelsOf(row.bits, vector);
		const size_t lane = row.first / kFp16Kernels;
		const size_t first = row.first + vector * kLanes;
		const auto load = [&](const int16_t *numbers) HWY_ATTR {
			return hn::PromoteTo(tag, hn::Load(halfTag, numbers + first));
		};
		const Integers both =
			hn::Or(hn::And(load(position.weights->significand), constant(0xffff)),
			       constant(position.data.significand[lane] & ~0xffff));
		const Integers distance =
			hn::Sub(hn::Sub(position.largestOf(tag, first % kFp16Kernels),
					load(position.weights->exponent)),
				constant(position.data.exponent[lane] & 0xffff));

		pack(both, kernels, pairs + count);
		pack(distance, kernels, distances + count);
		count += static_cast<size_t>(std::popcount(kernels));
	}

	HWY_INLINE void multiply()
	{
		const IntegerTag tag;
		for (size_t i = 0; i < count; i += kLanes)
			hn::StoreU(alignedProducts(hn::LoadU(tag, pairs + i),
						   hn::LoadU(tag, distances + i)),
				   tag, pairs + i);
	}
};

/** Products for \a count positions */
HWY_INLINE void addProducts(const LostCarries &carries, Position *positions, size_t count)
{
	const IntegerTag tag;
	FarProducts far;
	FarRow rows[kPositionsAtOnce * kFarRows];
	FarRow *end = rows;

	for (size_t i = 0; i < count; i++)
		for (size_t kernel = 0; kernel < kFp16Kernels; kernel += kRowLanes)
			end = nearProducts(carries, positions[i], i, kernel, end);
	for (const FarRow *row = rows; row != end; row++)
		for (size_t vector = 0; vector < kRowVectors; vector++)
			far.add(positions[row->position], *row, vector);
	far.multiply();

	const int32_t *products = far.pairs;
	for (const FarRow *row = rows; row != end; row++)
		for (size_t vector = 0; vector < kRowVectors; vector++) {
			const uint32_t kernels = farKernelsOf(row->bits, vector);
			int32_t *sums = positions[row->position].far + row->first % kFp16Kernels +
					vector * kLanes;
			hn::Store(hn::Add(hn::Load(tag, sums), unpack(products, kernels)), tag,
				  sums);
			products += std::popcount(kernels);
		}
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

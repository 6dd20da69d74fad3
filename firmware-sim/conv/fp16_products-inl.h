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
#include <utility>

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

/** Numbers of a row of kernels as doubles, the even ones and the odd ones in halves; an array of
 * them would be in memory */
struct RowDoubles {
	Doubles even = hn::Zero(DoubleTag());
	Doubles evenUpper = hn::Zero(DoubleTag());
	Doubles odd = hn::Zero(DoubleTag());
	Doubles oddUpper = hn::Zero(DoubleTag());

	HWY_INLINE RowDoubles() {} /* an implicit one has no vectors */

	HWY_INLINE explicit RowDoubles(const double *from)
		: even(hn::Load(DoubleTag(), from)),
		  evenUpper(hn::Load(DoubleTag(), from + kDoubleLanes)),
		  odd(hn::Load(DoubleTag(), from + 2 * kDoubleLanes)),
		  oddUpper(hn::Load(DoubleTag(), from + 3 * kDoubleLanes))
	{
	}

	HWY_INLINE void add(const EvenOdd &row)
	{
		const DoubleTag tag;
		const HalfTag half;

		even = hn::Add(even, hn::PromoteTo(tag, hn::LowerHalf(half, row.even)));
		evenUpper = hn::Add(evenUpper, hn::PromoteTo(tag, hn::UpperHalf(half, row.even)));
		odd = hn::Add(odd, hn::PromoteTo(tag, hn::LowerHalf(half, row.odd)));
		oddUpper = hn::Add(oddUpper, hn::PromoteTo(tag, hn::UpperHalf(half, row.odd)));
	}

	HWY_INLINE void store(double *out) const
	{
		const DoubleTag tag;

		hn::Store(even, tag, out);
		hn::Store(evenUpper, tag, out + kDoubleLanes);
		hn::Store(odd, tag, out + 2 * kDoubleLanes);
		hn::Store(oddUpper, tag, out + 3 * kDoubleLanes);
	}
};

/** \return a row of a lane's numbers */
HWY_INLINE Row rowAt(const int16_t *numbers, size_t kernel)
{
	return hn::Load(RowTag(), numbers + kernel);
}

/** A position's step */
struct Position {
	const Fp16Weights *weights;
	const Fp16Data *data;
	Fp16Sums *sums;
	/* Of each kernel, biased as those of weights. */
	alignas(64) int16_t largest[kFp16Columns];
	/* Of all products that are near, in the order of RowDoubles. */
	alignas(64) double near[kFp16Columns];

	HWY_INLINE const Fp16Lane &weightsOf(size_t lane) const { return weights->numbers[lane]; }

	/** \return how far products are shifted; negative if the weights are zero */
	HWY_INLINE Row distance(size_t lane, size_t kernel, Row most) const
	{
		return hn::Sub(hn::Sub(most, exponentOf(lane)),
			       rowAt(weightsOf(lane).exponent, kernel));
	}

	/** \return the exponent of a lane's number, for all kernels */
	HWY_INLINE Row exponentOf(size_t lane) const
	{
		return hn::BitCast(RowTag(), constant(data->exponent[lane]));
	}

	HWY_INLINE hn::Mask<RowTag> lostCarries(const LostCarries &carries, size_t lane,
						size_t kernel, hn::Mask<RowTag> isTabled) const
	{
		const auto index = static_cast<uint32_t>(data->carryRow[lane]);
		return LostCarries::lost(carries.row(index), weightsOf(lane), kernel, isTabled);
	}

	/** The largest exponents of the products of some rows */
	template<size_t... kRow>
	HWY_INLINE void findLargest(std::index_sequence<kRow...>)
	{
		Row most[] = { (static_cast<void>(kRow), rowOf(kExponentBias))... };

		for (uint64_t rest = data->present; rest; rest &= rest - 1) {
			const auto lane = static_cast<size_t>(std::countr_zero(rest));
			const Row exponent = exponentOf(lane);
			((most[kRow] = hn::Max(most[kRow],
					       hn::Add(exponent, rowAt(weightsOf(lane).exponent,
								       kRow * kRowLanes)))),
			 ...);
		}
		(hn::Store(most[kRow], RowTag(), largest + kRow * kRowLanes), ...);
	}

	/** The largest exponents of products, of all kernels */
	HWY_INLINE void findLargest()
	{
		constexpr size_t kGroupRows = (kFp16Kernels + kRowLanes - 1) / kRowLanes;

		if (weights->kernels <= kFp16Kernels)
			findLargest(std::make_index_sequence<kGroupRows>());
		else
			findLargest(std::make_index_sequence<kFp16Columns / kRowLanes>());
	}
};

/** Sums of products of a row in 32 bits */
struct RowSums {
	EvenOdd sums = { hn::Zero(IntegerTag()), hn::Zero(IntegerTag()) };
	Row lost = hn::Zero(RowTag());

	HWY_INLINE RowSums() {} /* an implicit one has no vectors */

	/** \param low the data's significand, and \a high: see products() */
	HWY_INLINE void add(Row significands, int32_t low, int32_t high, Row distances,
			    hn::Mask<RowTag> isFar, hn::Mask<RowTag> isLost)
	{
		const EvenOdd all = products(hn::IfThenZeroElse(isFar, significands), constant(low),
					     constant(high));
		const EvenOdd by = widenedUnsigned(distances);

		sums.even = hn::Add(sums.even, hn::Shr(all.even, by.even));
		sums.odd = hn::Add(sums.odd, hn::Shr(all.odd, by.odd));
		lost = countedWhere(isLost, lost);
	}

	HWY_INLINE EvenOdd whole() const
	{
		const EvenOdd less = widenedUnsigned(lost);
		return { hn::Sub(sums.even, less.even), hn::Sub(sums.odd, less.odd) };
	}
};

/** Weights of a row whose products are far */
struct FarRow {
	uint32_t bits; /* see farBitsOf() */
	uint32_t lane;
};

/* Of a row for each lane, and what is written behind the last one. */
constexpr size_t kFarRows = kMacLanes * kFp16Columns / kRowLanes + 1;

/**
 * The products of a row of kernels that are not shifted far
 * \return the end of the others' rows
 */
HWY_INLINE FarRow *nearProducts(const LostCarries &carries, Position &position, size_t kernel,
				FarRow *far)
{
	const Row most = hn::Load(RowTag(), position.largest + kernel);
	const Fp16Data &data = *position.data;
	RowDoubles near;

	for (uint64_t rest = data.present; rest;) {
		RowSums sums;
		for (size_t i = 0; i < kProductsIn32Bits && rest; i++, rest &= rest - 1) {
			const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
			const Row distance = position.distance(lane, kernel, most);
			const auto isFar = hn::Gt(distance, rowOf(kFar - 1));
			const auto isTabled = hn::Eq(distance, rowOf(kTabledDistance));
			sums.add(rowAt(position.weightsOf(lane).significand, kernel),
				 data.low[lane], data.high[lane], distance, isFar,
				 position.lostCarries(carries, lane, kernel, isTabled));
			/* Without a branch, which nobody could foresee. */
			*far = { farBitsOf(isFar), lane };
			far += far->bits != 0;
		}
		near.add(sums.whole());
	}
	near.store(position.near + kernel);
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
	static constexpr size_t kMost = kPositionsAtOnce * kMacLanes * kFp16Columns;

	/* Both significands, then the product. */
	int32_t pairs[kMost + kLanes];
	int32_t distances[kMost + kLanes];

	FarProducts() {} /* none is looked at before it is written */

	/**
	 * Those of \a row, of kernels from \a kernel on
	 * \param count of products before; a member would be in memory, and each row wait for it
	 * \return and with these
	 */
	HWY_INLINE size_t add(const Position &position, const FarRow &row, size_t kernel,
			      size_t count)
	{
		const size_t lane = row.lane;
		const FarKernels kernels = farKernelsOf(row.bits);
		const Row most = hn::Load(RowTag(), position.largest + kernel);
		const EvenOdd distance = widenedUnsigned(position.distance(lane, kernel, most));
		const EvenOdd weight =
			widenedUnsigned(rowAt(position.weightsOf(lane).significand, kernel));
		const Integers data = constant(position.data->high[lane]);

		count = add(hn::Or(weight.even, data), distance.even, kernels.even, count);
		return add(hn::Or(weight.odd, data), distance.odd, kernels.odd, count);
	}

	HWY_INLINE void multiply(size_t count)
	{
		const IntegerTag tag;
		for (size_t i = 0; i < count; i += kLanes)
			hn::StoreU(alignedProducts(hn::LoadU(tag, pairs + i),
						   hn::LoadU(tag, distances + i)),
				   tag, pairs + i);
	}

private:
	HWY_INLINE size_t add(Integers both, Integers distance, uint32_t kernels, size_t count)
	{
		pack(both, kernels, pairs + count);
		pack(distance, kernels, distances + count);
		return count + static_cast<size_t>(std::popcount(kernels));
	}
};

/** \return the next of \a products for \a kernels of a vector, zeroes for others */
HWY_INLINE Integers takeProducts(const int32_t *&products, uint32_t kernels)
{
	const Integers taken = unpack(products, kernels);
	products += std::popcount(kernels);
	return taken;
}

/**
 * \brief The products of steps, position by position and row by row
 * \param add called with a position, the first kernel of a row and the sums of its far products
 */
template<typename Add>
HWY_INLINE void addProducts(const LostCarries &carries, Position *positions, size_t count, Add add)
{
	FarProducts far;
	FarRow rows[kPositionsAtOnce * kFarRows];
	/* Where those of each row of each position end. */
	FarRow *ends[kPositionsAtOnce * kFp16Columns / kRowLanes];
	FarRow *row = rows;
	FarRow **end = ends;
	size_t farCount = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t kernel = 0; kernel < positions[i].weights->kernels;
		     kernel += kRowLanes) {
			FarRow *first = row;
			row = nearProducts(carries, positions[i], kernel, row);
			for (; first != row; first++)
				farCount = far.add(positions[i], *first, kernel, farCount);
			*end++ = row;
		}
	far.multiply(farCount);

	const int32_t *products = far.pairs;
	row = rows;
	end = ends;
	for (size_t i = 0; i < count; i++)
		for (size_t kernel = 0; kernel < positions[i].weights->kernels;
		     kernel += kRowLanes) {
			EvenOdd sums = { hn::Zero(IntegerTag()), hn::Zero(IntegerTag()) };
			for (; row != *end; row++) {
				const FarKernels kernels = farKernelsOf(row->bits);
				sums.even =
					hn::Add(sums.even, takeProducts(products, kernels.even));
				sums.odd = hn::Add(sums.odd, takeProducts(products, kernels.odd));
			}
			end++;
			add(positions[i], kernel, sums);
		}
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

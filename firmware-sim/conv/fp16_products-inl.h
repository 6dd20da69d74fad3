/* SPDX-License-Identifier: MIT */
/*
 * The products of a step, for files that are compiled once for each instruction set (Highway).
 *
 * Products shifted by less than kFar bits are "near", all others "far". Shifted by 0 or 4 bits, the
 * multiplier's two words give the floor of the product: below bit 4 only the two lowest partial
 * products and one correction bit are not zero, and the later adders have moved all carries above
 * bit 3. Shifted by 8 bits, the words give the floor or one less; a table has the difference
 * (fp16_carries-inl.h). The few far products are collected, and computed with a model of the
 * multiplier (fp16_multiplier-inl.h).
 */
#include <algorithm>
#include <bit>
#include <utility>

#include "conv/fp16_carries-inl.h"
#include "conv/fp16_data-inl.h"
#include "conv/fp16_lanes-inl.h"
#include "conv/fp16_multiplier-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
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

/* Only for targets with vectors of doubles. */
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

/* Far products are shifted by at least so many bits. */
constexpr int32_t kFar = 12;
/* Number of near products whose sum always fits 32 bits; the largest significand is 2047 * 8. */
constexpr size_t kProductsIn32Bits = 8;
/* Number of positions computed together, so that their far products fill vectors. */
constexpr size_t kPositionsAtOnce = 8;

/** A row as doubles, in four vectors; members, because an array would not stay in registers */
struct RowDoubles {
	Doubles even = hn::Zero(DoubleTag());
	Doubles evenUpper = hn::Zero(DoubleTag());
	Doubles odd = hn::Zero(DoubleTag());
	Doubles oddUpper = hn::Zero(DoubleTag());

	HWY_INLINE RowDoubles() {} /* an implicit one would be compiled without vectors */

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

/** \return a row from a lane's numbers */
HWY_INLINE Row rowAt(const int16_t *numbers, size_t kernel)
{
	return hn::Load(RowTag(), numbers + kernel);
}

/** One step of the MAC cells for one output position */
struct Position {
	const Fp16Weights *weights;
	const Fp16Data *data;
	Fp16Sums *sums;
	/* The largest exponent of each kernel's products, kExponentBias included. */
	alignas(64) int16_t largest[kFp16Columns];
	double *products; /* sums of products, one for each kernel, in the order of RowDoubles */

	HWY_INLINE const Fp16Lane &weightsOf(size_t lane) const { return weights->numbers[lane]; }

	/** \return bits by which products are shifted; negative where weights are zero */
	HWY_INLINE Row distance(size_t lane, size_t kernel, Row most) const
	{
		return hn::Sub(hn::Sub(most, exponentOf(lane)),
			       rowAt(weightsOf(lane).exponent, kernel));
	}

	/** \return the exponent of the data in a lane, the same for each kernel */
	HWY_INLINE Row exponentOf(size_t lane) const
	{
		return hn::BitCast(RowTag(), constant(data->exponent[lane]));
	}

	/** Finds the largest exponents of the products of several rows */
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

	/** Finds the largest exponent of products of each kernel */
	HWY_INLINE void findLargest()
	{
		constexpr size_t kGroupRows = (kFp16Kernels + kRowLanes - 1) / kRowLanes;

		if (weights->kernels <= kFp16Kernels)
			findLargest(std::make_index_sequence<kGroupRows>());
		else
			findLargest(std::make_index_sequence<kFp16Columns / kRowLanes>());
	}
};

/** Sums of a row's products in 32 bits */
struct RowSums {
	EvenOdd sums = { hn::Zero(IntegerTag()), hn::Zero(IntegerTag()) };

	HWY_INLINE RowSums() {} /* an implicit one would be compiled without vectors */

	/** \param low,high significand of the data in the two forms that products() takes */
	HWY_INLINE void add(Row significands, Integers low, Integers high, Row distances,
			    hn::Mask<RowTag> isFar)
	{
		const EvenOdd all = products(hn::IfThenZeroElse(isFar, significands), low, high);
		const EvenOdd by = widenedUnsigned(distances);

		sums.even = hn::Add(sums.even, hn::Shr(all.even, by.even));
		sums.odd = hn::Add(sums.odd, hn::Shr(all.odd, by.odd));
	}

	/** \return sums less \a lost, the number of each kernel's products that lose a carry */
	HWY_INLINE EvenOdd without(Row lost) const
	{
		const EvenOdd less = widenedUnsigned(lost);
		return { hn::Sub(sums.even, less.even), hn::Sub(sums.odd, less.odd) };
	}
};

/** \return the lanes of \a mask, moved together; lanes after them are undefined */
HWY_INLINE Integers compressed(Integers value, hn::Mask<IntegerTag> mask)
{
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	/* Not hn::Compress(): GCC would copy Highway's table at each call. */
	const auto bits =
		static_cast<unsigned int>(_mm256_movemask_ps(_mm256_castsi256_ps(mask.raw)));
	const uint64_t bytes = _pdep_u64(bits, 0x0101010101010101) * 0xff;
	const __m128i from =
		_mm_cvtsi64_si128(static_cast<int64_t>(_pext_u64(0x0706050403020100, bytes)));

	return Integers{ _mm256_permutevar8x32_epi32(value.raw, _mm256_cvtepu8_epi32(from)) };
#else
	return hn::Compress(value, mask);
#endif
}

/** Indices of the lanes with far products in a row */
struct FarLanes {
	uint32_t lanes[kMacLanes + 1]; /* elements from end on are undefined */
	uint32_t *end;

	FarLanes() {} /* no element is read before it is written */
};

/** Adds the near products of rows computed together; lists lanes of far products in \a far */
template<size_t... kRow>
HWY_INLINE void nearProducts(const LostCarries &carries, Position &position, size_t kernel,
			     FarLanes *far, std::index_sequence<kRow...>)
{
	const Fp16Data &data = *position.data;
	const Row most[] = { hn::Load(RowTag(), position.largest + kernel + kRow * kRowLanes)... };
	uint32_t *ends[] = { far[kRow].lanes... };
	RowDoubles near[sizeof...(kRow)];

	for (uint64_t rest = data.present; rest;) {
		RowSums sums[sizeof...(kRow)];
		LostCarries::Counts lost = LostCarries::none();
		for (size_t i = 0; i < kProductsIn32Bits && rest; i++, rest &= rest - 1) {
			const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
			const Integers low = constant(data.low[lane]);
			const Integers high = constant(data.high[lane]);
			const Fp16Lane &weights = position.weightsOf(lane);
			const Row distances[] = { position.distance(lane, kernel + kRow * kRowLanes,
								    most[kRow])... };
			const hn::Mask<RowTag> areFar[] = { hn::Gt(distances[kRow],
								   rowOf(kFar - 1))... };

			lost = LostCarries::count(
				carries.row(static_cast<uint32_t>(data.carryRow[lane])), weights,
				kernel, lost, hn::Eq(distances[kRow], rowOf(kTabledDistance))...);
			(sums[kRow].add(rowAt(weights.significand, kernel + kRow * kRowLanes), low,
					high, distances[kRow], areFar[kRow]),
			 ...);
			/* Store always and advance conditionally: a branch would be
			 * mispredicted. */
			((*ends[kRow] = lane), ...);
			((ends[kRow] += !hn::AllFalse(RowTag(), areFar[kRow])), ...);
		}
		(near[kRow].add(sums[kRow].without(LostCarries::ofRow<kRow>(lost))), ...);
	}
	(near[kRow].store(position.products + kernel + kRow * kRowLanes), ...);
	((far[kRow].end = ends[kRow]), ...);
}

/** \return products by the multiplier model; \a pairs hold both significands, 16 bits each */
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

/** The far products of several positions, one after the other */
struct FarProducts {
	static constexpr size_t kMost = kPositionsAtOnce * kMacLanes * kFp16Columns;
	static constexpr int kDistanceBits = 8;

	int32_t pairs[kMost + kLanes]; /* both significands, then the product */
	/* Low bits: shift of the product. Higher bits: index of the sum that gets it. */
	int32_t places[kMost + kLanes];

	FarProducts() {} /* no element is read before it is written */

	/**
	 * Appends a row's far products of \a position; \a place is the index of the row's first sum
	 * \param count products so far; a member would be in memory and delay each row
	 * \return the new count
	 */
	HWY_INLINE size_t add(const Position &position, const FarLanes &far, size_t kernel,
			      size_t place, size_t count)
	{
		const Row most = hn::Load(RowTag(), position.largest + kernel);

		for (const uint32_t *lane = far.lanes; lane != far.end; lane++) {
			const EvenOdd distance = widened(position.distance(*lane, kernel, most));
			const EvenOdd weight = widenedUnsigned(
				rowAt(position.weightsOf(*lane).significand, kernel));
			const Integers data = constant(position.data->high[*lane]);

			count = add(hn::Or(weight.even, data), distance.even, place, count);
			count = add(hn::Or(weight.odd, data), distance.odd, place + kLanes, count);
		}
		return count;
	}

	HWY_INLINE void multiply(size_t count)
	{
		const IntegerTag tag;
		const Integers distance = constant((1 << kDistanceBits) - 1);

		for (size_t i = 0; i < count; i += kLanes)
			hn::StoreU(alignedProducts(hn::LoadU(tag, pairs + i),
						   hn::And(hn::LoadU(tag, places + i), distance)),
				   tag, pairs + i);
	}

	/** \param sums sums of the products of all positions */
	HWY_INLINE void addTo(double *sums, size_t count) const
	{
		for (size_t i = 0; i < count; i++)
			sums[static_cast<uint32_t>(places[i]) >> kDistanceBits] += pairs[i];
	}

private:
	HWY_INLINE size_t add(Integers both, Integers distance, size_t place, size_t count)
	{
		const IntegerTag tag;
		const auto isFar = hn::Gt(distance, constant(kFar - 1));
		const auto to =
			hn::ShiftLeft<kDistanceBits>(hn::Iota(tag, static_cast<int32_t>(place)));

		hn::StoreU(compressed(both, isFar), tag, pairs + count);
		hn::StoreU(compressed(hn::Or(to, distance), isFar), tag, places + count);
		return count + hn::CountTrue(tag, isFar);
	}
};

/** \brief Compute the products of \a count positions, whose Position::products are contiguous */
HWY_INLINE void addProducts(const LostCarries &carries, Position *positions, size_t count)
{
	FarProducts products;
	FarLanes far[kTogether];
	size_t farCount = 0;

	for (size_t i = 0; i < count; i++)
		forRowsTogether(positions[i].weights->kernels, [&](size_t first,
								   auto together) HWY_ATTR {
			nearProducts(carries, positions[i], first, far, together);
			for (size_t row = 0; row < together.size(); row++) {
				const size_t kernel = first + row * kRowLanes;
				farCount = products.add(positions[i], far[row], kernel,
							i * kFp16Columns + kernel, farCount);
			}
		});
	products.multiply(farCount);
	products.addTo(positions[0].products, farCount);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

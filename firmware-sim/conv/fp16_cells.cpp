/* SPDX-License-Identifier: MIT */
/*
 * Vectors go over the kernels of a group; a step goes over the data that are not zero.
 *
 * Most products are exact where they are simple. Shifted by 0 or 4 bits, the multiplier's two
 * words give the floor of the product: below bit 4 only the two lowest partial products and one
 * correction bit are not zero, and the adders behind the first have moved all their carries
 * above it. What is shifted further ("far", a tenth of the products of a usual layer) is
 * collected and goes through the multiplier as it is built (fp16_multiplier-inl.h).
 *
 * The accumulator is a double: it has 39 bits of 53, and its exponents never leave the range.
 * A sum of two is rounded to 53 bits with the rest known, then half away from zero to 39.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/fp16_cells.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/fp16_cells.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/fp16_multiplier-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

constexpr uint32_t kMagnitude = 0x7fff;
constexpr uint32_t kInfinity = 0x7c00;
constexpr uint32_t kFractionBits = 10;
constexpr int8_t kAbsentQuarter = -64;
constexpr int32_t kAbsentExponent = 0x4000;
/* Bits that a product is shifted at most to be simple, and the next distance. */
constexpr int32_t kFar = 8;
/* Simple products whose sum fits 32 bits: 2^31 / 16376^2. */
constexpr size_t kProductsIn32Bits = 8;
/* From the exponent of a step (50 below the point) to that of a double. */
constexpr int64_t kDoubleExponent = 1023 - 50;
/* Bits of a double's fraction that the accumulator does not have. */
constexpr int kDroppedBits = 14;

using UnsignedTag = hn::CappedTag<uint32_t, kFp16Kernels>;
using IntegerTag = hn::RebindToSigned<UnsignedTag>;
using Integers = hn::Vec<IntegerTag>;
using QuarterTag = hn::CappedTag<int8_t, kFp16Kernels>;
using HalfTag = hn::Half<IntegerTag>;
using DoubleTag = hn::Rebind<double, HalfTag>;
using BitsTag = hn::RebindToSigned<DoubleTag>;
using Doubles = hn::Vec<DoubleTag>;

constexpr size_t kLanes = hn::MaxLanes(IntegerTag());
constexpr size_t kDoubleLanes = kLanes / 2;
constexpr size_t kVectors = kFp16Kernels / kLanes;

HWY_INLINE Integers constant(int32_t value)
{
	return hn::Set(IntegerTag(), value);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

HWY_INLINE uint32_t bitsOf(hn::Mask<IntegerTag> mask)
{
	return mask.raw;
}

/** Store the lanes of \a bits one after the other, and anything behind them */
HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	const auto mask = static_cast<__mmask16>(bits);
	hn::StoreU(Integers{ _mm512_maskz_compress_epi32(mask, value.raw) }, IntegerTag(), out);
}

/** \return packed numbers in the lanes of \a bits, 0 in the others */
HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	const Integers value = hn::LoadU(IntegerTag(), packed);
	return Integers{ _mm512_maskz_expand_epi32(static_cast<__mmask16>(bits), value.raw) };
}

#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/** For eight lanes by the bits of a mask, four bits each: where a lane comes from */
struct LaneTables {
	uint32_t pack[256] = {};
	uint32_t unpack[256] = {};

	constexpr LaneTables()
	{
		for (uint32_t bits = 0; bits < 256; bits++) {
			uint32_t count = 0;
			for (uint32_t lane = 0; lane < 8; lane++) {
				if (!(bits >> lane & 1))
					continue;
				pack[bits] |= lane << (4 * count);
				unpack[bits] |= count << (4 * lane);
				count++;
			}
		}
	}
};

constexpr LaneTables kLaneTables;

HWY_INLINE uint32_t bitsOf(hn::Mask<IntegerTag> mask)
{
	return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask.raw)));
}

HWY_INLINE Integers permute(Integers value, uint32_t from)
{
	const auto shifts = hn::Mul(hn::Iota(UnsignedTag(), 0), hn::Set(UnsignedTag(), 4));
	const auto index = hn::Shr(hn::Set(UnsignedTag(), from), shifts);
	return Integers{ _mm256_permutevar8x32_epi32(value.raw, index.raw) };
}

HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	hn::StoreU(permute(value, kLaneTables.pack[bits]), IntegerTag(), out);
}

HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	const auto laneBits = hn::Shl(constant(1), hn::Iota(IntegerTag(), 0));
	const auto mask = hn::TestBit(constant(static_cast<int32_t>(bits)), laneBits);
	const Integers value = hn::LoadU(IntegerTag(), packed);
	return hn::IfThenElseZero(mask, permute(value, kLaneTables.unpack[bits]));
}

#else

HWY_INLINE uint32_t bitsOf(hn::Mask<IntegerTag> mask)
{
	uint8_t bits[8] = {};

	hn::StoreMaskBits(IntegerTag(), mask, bits);
	return bits[0];
}

HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	alignas(64) int32_t lanes[kLanes];

	hn::Store(value, IntegerTag(), lanes);
	for (uint32_t rest = bits; rest; rest &= rest - 1)
		*out++ = lanes[std::countr_zero(rest)];
}

HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	alignas(64) int32_t lanes[kLanes] = {};

	for (uint32_t rest = bits; rest; rest &= rest - 1)
		lanes[std::countr_zero(rest)] = *packed++;
	return hn::Load(IntegerTag(), lanes);
}

#endif

/** FP16 numbers taken apart */
struct Parts {
	Integers significand; /* shifted, with sign; 0 for zeroes and NaNs */
	Integers quarter;
	hn::Mask<IntegerTag> present; /* neither zero nor NaN */
	hn::Mask<IntegerTag> nan;

	HWY_INLINE explicit Parts(const int16_t *numbers)
	{
		const hn::Rebind<uint16_t, UnsignedTag> tag;
		const auto bits = hn::BitCast(
			IntegerTag(),
			hn::PromoteTo(UnsignedTag(),
				      hn::LoadU(tag, reinterpret_cast<const uint16_t *>(numbers))));
		const Integers magnitude = hn::And(bits, constant(kMagnitude));
		const Integers exponent = hn::ShiftRight<kFractionBits>(magnitude);
		const Integers one = constant(1);
		const auto denormal = hn::Eq(exponent, hn::Zero(IntegerTag()));

		nan = hn::Gt(magnitude, constant(kInfinity));
		present = hn::AndNot(nan, hn::Gt(magnitude, hn::Zero(IntegerTag())));
		/* A denormal has no implied one and counts as exponent 1. */
		const Integers implied = hn::IfThenZeroElse(denormal, constant(1 << kFractionBits));
		const Integers whole = hn::Or(hn::And(bits, constant(0x3ff)), implied);
		const Integers shift =
			hn::And(hn::IfThenElse(denormal, one, exponent), constant(3));
		const Integers shifted = hn::Shl(whole, shift);
		const Integers sign = hn::Sub(hn::Zero(IntegerTag()), hn::ShiftRight<15>(bits));
		significand = hn::IfThenElseZero(present, hn::Sub(hn::Xor(shifted, sign), sign));
		quarter = hn::ShiftRight<2>(exponent);
	}
};

/** The numbers of a block that are not zero */
struct Data {
	/* Significands in 16 bits, exponents, first weights; then quarters of four as bytes. */
	int32_t significand[kMacLanes + kLanes];
	int32_t exponent[kMacLanes + kLanes];
	int32_t place[kMacLanes + kLanes];
	int8_t quarter[kMacLanes + kLanes];
	size_t count = 0;
	uint16_t nan = 0;

	HWY_INLINE Data(const int16_t *numbers, uint32_t lanes)
	{
		int16_t padded[kMacLanes];

		if (lanes < kMacLanes) {
			std::copy_n(numbers, lanes, padded);
			std::fill(padded + lanes, padded + kMacLanes, int16_t{ 0 });
			numbers = padded;
		}
		for (size_t i = 0; i < lanes; i += kLanes) {
			const Parts parts(numbers + i);
			add(parts, i);
			if (nan == 0 && !hn::AllFalse(IntegerTag(), parts.nan))
				nan = firstNan(numbers + i);
		}
	}

	HWY_INLINE void add(const Parts &parts, size_t first)
	{
		const IntegerTag tag;
		const hn::Rebind<int8_t, IntegerTag> byteTag;
		const uint32_t bits = bitsOf(parts.present);
		const Integers places =
			hn::Mul(hn::Iota(tag, static_cast<int32_t>(first)), constant(kFp16Kernels));

		pack(hn::And(parts.significand, constant(0xffff)), bits, significand + count);
		pack(hn::ShiftLeft<2>(parts.quarter), bits, exponent + count);
		pack(places, bits, place + count);
		const Integers quarters = hn::ShiftRight<2>(hn::LoadU(tag, exponent + count));
		hn::StoreU(hn::DemoteTo(byteTag, quarters), byteTag, quarter + count);
		count += static_cast<size_t>(std::popcount(bits));
	}

	static uint16_t firstNan(const int16_t *numbers)
	{
		while ((*numbers & kMagnitude) <= kInfinity)
			numbers++;
		return static_cast<uint16_t>(*numbers);
	}
};

/** The largest exponent of a step for each kernel, in units of four */
HWY_INLINE void largestQuarters(const Fp16Weights &weights, const Data &data, int8_t *out)
{
	const QuarterTag tag;

	for (size_t kernel = 0; kernel < kFp16Kernels; kernel += hn::Lanes(tag)) {
		auto largest = hn::Zero(tag);
		for (size_t i = 0; i < data.count; i++) {
			const int8_t *quarters = &weights.quarter[data.place[i]];
			largest = hn::Max(largest, hn::Add(hn::Set(tag, data.quarter[i]),
							   hn::LoadU(tag, quarters + kernel)));
		}
		hn::StoreU(largest, tag, out + kernel);
	}
}

/** Products that are shifted far, of one datum after the other */
struct FarProducts {
	/* Both significands and the distance, for all lanes of any datum that have one. */
	int32_t pair[kMacLanes * kLanes + kLanes];
	int32_t distance[kMacLanes * kLanes + kLanes];
	size_t count;
	uint16_t lanes[kMacLanes]; /* of each datum: the lanes that have one */
	size_t rows;

	HWY_INLINE void clear() { count = rows = 0; }

	HWY_INLINE void add(Integers words, Integers significand, Integers distances,
			    hn::Mask<IntegerTag> far)
	{
		const Integers pairs =
			hn::Or(hn::And(words, constant(0xffff)), hn::ShiftLeft<16>(significand));
		const uint32_t bits = bitsOf(far);

		pack(pairs, bits, pair + count);
		pack(distances, bits, distance + count);
		lanes[rows++] = static_cast<uint16_t>(bits);
		count += static_cast<size_t>(std::popcount(bits));
	}

	/** \return their sum for each lane */
	HWY_INLINE Integers sum()
	{
		const IntegerTag tag;
		Integers sums = hn::Zero(tag);
		const int32_t *packed = pair;

		for (size_t i = 0; i < count; i += kLanes)
			hn::StoreU(product(hn::LoadU(tag, pair + i), hn::LoadU(tag, distance + i)),
				   tag, pair + i);
		for (size_t i = 0; i < rows; i++) {
			sums = hn::Add(sums, unpack(packed, lanes[i]));
			packed += std::popcount(lanes[i]);
		}
		return sums;
	}

	static HWY_INLINE Integers product(Integers pairs, Integers distances)
	{
		const UnsignedTag tag;
		const Integers weight = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
		const Integers data = hn::ShiftRight<16>(pairs);
		const Integers negate = hn::BroadcastSignBit(hn::Xor(weight, data));

		return fp16::alignedProduct(hn::BitCast(tag, hn::Abs(data)),
					    hn::BitCast(tag, hn::Abs(weight)),
					    hn::BitCast(tag, negate), hn::BitCast(tag, distances));
	}
};

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

/** The simple products of kLanes kernels from \a kernel on; collects the others */
HWY_INLINE StepSums simpleProducts(const Fp16Weights &weights, const Data &data, size_t kernel,
				   Integers largest, FarProducts &far)
{
	StepSums sums;

	far.clear();
	for (size_t i = 0; i < data.count;) {
		const size_t end = std::min(i + kProductsIn32Bits, data.count);
		Integers sum = hn::Zero(IntegerTag());
		for (; i < end; i++) {
			const Integers words =
				hn::LoadU(IntegerTag(), &weights.word[data.place[i]] + kernel);
			const Integers significand = constant(data.significand[i]);
			const Integers exponent =
				hn::Add(hn::ShiftRight<16>(words), constant(data.exponent[i]));
			const Integers distance = hn::Sub(largest, exponent);
			const auto isFar = hn::Gt(distance, constant(kFar - 1));
			/* Weights that are zero are shifted by nonsense. */
			const Integers product = hn::Shr(multiply(words, significand), distance);
			sum = hn::Add(sum, hn::IfThenZeroElse(isFar, product));
			if (!hn::AllFalse(IntegerTag(), isFar))
				far.add(words, significand, distance, isFar);
		}
		sums.add(sum);
	}
	return sums;
}

/** \a value + step * 2^(\a exponent - 50), rounded as FloatSum::add() does */
HWY_INLINE Doubles accumulate(Doubles value, Doubles step, hn::Vec<HalfTag> exponent)
{
	const BitsTag bitsTag;
	const auto scale = hn::BitCast(
		DoubleTag(), hn::ShiftLeft<52>(hn::Add(hn::PromoteTo(bitsTag, exponent),
						       hn::Set(bitsTag, kDoubleExponent))));
	const Doubles addend = hn::Mul(step, scale);
	const Doubles sum = hn::Add(value, addend);
	/* What the sum lost to rounding. */
	const Doubles seen = hn::Sub(sum, value);
	const Doubles lost = hn::Add(hn::Sub(value, hn::Sub(sum, seen)), hn::Sub(addend, seen));

	/* One less where the exact sum is nearer to zero: then a half is none. */
	const auto inward = hn::Lt(hn::Mul(lost, hn::CopySign(hn::Set(DoubleTag(), 1.0), sum)),
				   hn::Zero(DoubleTag()));
	const auto bits = hn::Add(hn::BitCast(bitsTag, sum),
				  hn::VecFromMask(bitsTag, hn::RebindMask(bitsTag, inward)));
	constexpr int64_t half = int64_t{ 1 } << (kDroppedBits - 1);
	const auto rounded = hn::And(hn::Add(bits, hn::Set(bitsTag, half)),
				     hn::Set(bitsTag, -(int64_t{ 1 } << kDroppedBits)));
	return hn::BitCast(DoubleTag(), rounded);
}

HWY_INLINE void stepVector(const Fp16Weights &weights, const Data &data, size_t kernel,
			   const int8_t *quarters, FarProducts &far, double *value)
{
	const hn::Rebind<int8_t, IntegerTag> narrowTag;
	const Integers largest = hn::ShiftLeft<2>(
		hn::PromoteTo(IntegerTag(), hn::LoadU(narrowTag, quarters + kernel)));
	StepSums sums = simpleProducts(weights, data, kernel, largest, far);

	if (far.count > 0)
		sums.add(far.sum());
	value += kernel;
	hn::Store(accumulate(hn::Load(DoubleTag(), value), sums.lower,
			     hn::LowerHalf(HalfTag(), largest)),
		  DoubleTag(), value);
	hn::Store(accumulate(hn::Load(DoubleTag(), value + kDoubleLanes), sums.upper,
			     hn::UpperHalf(HalfTag(), largest)),
		  DoubleTag(), value + kDoubleLanes);
}

bool supportedOfTarget()
{
	return true;
}

void stepOfTarget(const Fp16Weights &weights, const int16_t *const *data, size_t count,
		  Fp16Sums *sums)
{
	FarProducts far;
	int8_t quarters[kFp16Kernels];

	for (size_t i = 0; i < count; i++) {
		const Data present(data[i], weights.lanes);
		if (present.nan || weights.anyNan)
			for (size_t kernel = 0; kernel < weights.kernels; kernel++)
				if (sums[i].nan[kernel] == 0)
					sums[i].nan[kernel] = weights.nan[kernel]
								      ? weights.nan[kernel]
								      : present.nan;
		if (present.count == 0)
			continue;
		largestQuarters(weights, present, quarters);
		for (size_t vector = 0; vector < kVectors; vector++)
			stepVector(weights, present, vector * kLanes, quarters, far, sums[i].value);
	}
}

void loadOfTarget(const int16_t *numbers, size_t kernel, Fp16Weights &out)
{
	alignas(64) int32_t words[kMacLanes];
	alignas(64) int32_t quarters[kMacLanes];

	for (size_t i = 0; i < kMacLanes; i += kLanes) {
		const Parts parts(numbers + i);
		const Integers exponent = hn::IfThenElse(
			parts.present, hn::ShiftLeft<2>(parts.quarter), constant(kAbsentExponent));
		hn::Store(hn::Or(hn::And(parts.significand, constant(0xffff)),
				 hn::ShiftLeft<16>(exponent)),
			  IntegerTag(), words + i);
		hn::Store(hn::IfThenElse(parts.present, parts.quarter, constant(kAbsentQuarter)),
			  IntegerTag(), quarters + i);
		if (out.nan[kernel] == 0 && !hn::AllFalse(IntegerTag(), parts.nan))
			out.nan[kernel] = Data::firstNan(numbers + i);
	}
	for (size_t i = 0; i < out.lanes; i++) {
		out.word[i * kFp16Kernels + kernel] = words[i];
		out.quarter[i * kFp16Kernels + kernel] = static_cast<int8_t>(quarters[i]);
	}
}

#else

bool supportedOfTarget()
{
	return false;
}

void stepOfTarget(const Fp16Weights &, const int16_t *const *, size_t, Fp16Sums *)
{
}

void loadOfTarget(const int16_t *, size_t, Fp16Weights &)
{
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(supportedOfTarget);
HWY_EXPORT(stepOfTarget);
HWY_EXPORT(loadOfTarget);

bool fp16CellsSupported()
{
	return HWY_DYNAMIC_DISPATCH(supportedOfTarget)();
}

void Fp16Weights::load(const int16_t *weights, uint32_t kernelCount, uint32_t laneCount)
{
	int16_t padded[kMacLanes] = {};

	kernels = kernelCount;
	lanes = laneCount;
	std::fill_n(nan, kFp16Kernels, uint16_t{ 0 });
	for (uint32_t kernel = 0; kernel < kFp16Kernels; kernel++) {
		if (kernel < kernels)
			std::copy_n(weights + kernel * lanes, lanes, padded);
		else
			std::fill_n(padded, kMacLanes, int16_t{ 0 });
		HWY_DYNAMIC_DISPATCH(loadOfTarget)(padded, kernel, *this);
	}
	anyNan = std::any_of(nan, nan + kernels, [](uint16_t bits) { return bits != 0; });
}

void stepFp16(const Fp16Weights &weights, const int16_t *const *data, size_t count, Fp16Sums *sums)
{
	HWY_DYNAMIC_DISPATCH(stepOfTarget)(weights, data, count, sums);
}

uint32_t Fp16Sums::deliver(size_t kernel) const
{
	constexpr uint64_t kDropped = uint64_t{ 1 } << 29;

	if (nan[kernel])
		return (nan[kernel] & 0x8000U) << 16 | 0x7f800000 | (nan[kernel] & 0x3ffU);
	/* Half away from zero to 24 bits; FP32 has all exponents that there are. */
	const uint64_t rounded =
		(std::bit_cast<uint64_t>(value[kernel]) + kDropped / 2) & ~(kDropped - 1);
	return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(rounded)));
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

/* SPDX-License-Identifier: MIT */
/*
 * Sums of integers times reciprocals, in vectors; for files that are compiled once for each
 * instruction set (Highway).
 */
#include <cstdint>

#include <hwy/highway.h>

#include "pdp/pdp_arith.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_PDP_SCALING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_PDP_SCALING_INL_H
#undef NVDLA_SIM_PDP_SCALING_INL_H
#else
#define NVDLA_SIM_PDP_SCALING_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/**
 * \brief Times a reciprocal, INT8: sums of 16 bits
 *
 * A product of 14 by 17 bits is not needed as a whole: of the lower 16 bits of the reciprocal the
 * product's upper half and its bit below, and the number itself for the bit above.
 *
 * \tparam kAtom lanes of an atom
 */
template<uint32_t kAtom>
struct Int8Scaling {
	static constexpr Precision kPrecision = Precision::Int8;
	static constexpr uint32_t kLanes = kAtom;
	static constexpr bool kFits = true; /* there is ofFitting() */
	using Tag = hn::CappedTag<int16_t, kAtom>;
	using BitsTag = hn::RebindToUnsigned<Tag>;
	using Bits = hn::Vec<BitsTag>;

	/** \return whole bits of the magnitude's product, in \a half the one below */
	static HWY_INLINE Bits of(Bits magnitude, int32_t reciprocal, Bits &half)
	{
		const BitsTag bits;
		const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto high = hn::Set(bits, static_cast<uint16_t>(-(reciprocal >> 16)));

		half = hn::ShiftRight<15>(hn::Mul(magnitude, low));
		return hn::Add(hn::MulHigh(magnitude, low), hn::And(magnitude, high));
	}

	/** \return that rounded, of a reciprocal below 1, where nothing is lost */
	static HWY_INLINE Bits ofFitting(Bits magnitude, int32_t reciprocal)
	{
		const auto factor = hn::Set(BitsTag(), static_cast<uint16_t>(reciprocal));
		const auto half = hn::ShiftRight<15>(hn::Mul(magnitude, factor));

		return hn::Add(hn::MulHigh(magnitude, factor), half);
	}
};

/** \brief Times a reciprocal, INT16: sums of 32 bits, of a product of 22 by 17 bits two parts */
struct Int16Scaling {
	static constexpr Precision kPrecision = Precision::Int16;
	static constexpr uint32_t kLanes = atomChannels(kPrecision);
	static constexpr bool kFits = HWY_TARGET != HWY_SCALAR;
	using Tag = hn::CappedTag<int32_t, atomChannels(kPrecision)>;
	using BitsTag = hn::RebindToUnsigned<Tag>;
	using Bits = hn::Vec<BitsTag>;

	static HWY_INLINE Bits of(Bits magnitude, int32_t reciprocal, Bits &half)
	{
		const BitsTag bits;
		const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto high = hn::Set(bits, static_cast<uint32_t>(-(reciprocal >> 16)));
		const auto below = hn::Mul(hn::And(magnitude, hn::Set(bits, 0xffff)), low);
		const auto above = hn::Mul(hn::ShiftRight<16>(magnitude), low);

		half = hn::And(hn::ShiftRight<15>(below), hn::Set(bits, 1));
		return hn::Add(hn::Add(above, hn::ShiftRight<16>(below)), hn::And(magnitude, high));
	}

	/* Every second one. */
	static HWY_INLINE Bits ofFitting(Bits magnitude, int32_t reciprocal)
	{
#if HWY_TARGET == HWY_SCALAR
		static_cast<void>(reciprocal);
		return magnitude; /* nothing fits */
#else
		const hn::RepartitionToWide<BitsTag> wide;
		const auto factor = hn::Set(BitsTag(), static_cast<uint32_t>(reciprocal));
		const auto half = hn::Set(wide, 1 << 15);
		const auto odds =
			hn::BitCast(BitsTag(), hn::ShiftRight<32>(hn::BitCast(wide, magnitude)));
		const auto even = hn::ShiftRight<16>(hn::Add(hn::MulEven(magnitude, factor), half));
		const auto odd = hn::ShiftLeft<16>(hn::Add(hn::MulEven(odds, factor), half));

		return hn::OddEven(hn::BitCast(BitsTag(), odd), hn::BitCast(BitsTag(), even));
#endif
	}
};

/**
 * \brief INT8 times both reciprocals with one product
 *
 * Two roundings are one for many windows, odd ones of 3x3 and all of 2x2 among them: that is tried
 * with all sums.
 */
template<uint32_t kAtom>
class Int8AtOnce
{
public:
	using Scaling = Int8Scaling<kAtom>;
	using Tag = typename Scaling::Tag;
	using Vector = hn::Vec<Tag>;

	/** \param most magnitude of a sum that fits */
	Int8AtOnce(uint32_t recipWidth, uint32_t recipHeight, int64_t most)
	{
		const uint32_t factor = (recipWidth * recipHeight >> 17) + 1;

		factor_ = static_cast<int16_t>(factor);
		for (const int16_t nudge : { 0, 1 }) {
			nudge_ = nudge;
			works_ = factor <= INT16_MAX && worksUpTo(most, recipWidth, recipHeight);
			if (works_)
				return;
		}
	}
	Int8AtOnce() {}

	/** \return false if \a sum takes the other way */
	HWY_INLINE bool operator()(Vector sum, Vector &result) const
	{
		result = times(sum);
		return works_;
	}

private:
	/* Halves that the first rounding makes larger are larger before it. */
	HWY_INLINE Vector times(Vector sum) const
	{
		const Tag tag;
		const Vector factor = hn::Set(tag, factor_);

		if (nudge_ == 0)
			return hn::MulFixedPoint15(sum, factor);
		const Vector one = hn::Or(hn::BroadcastSignBit(sum), hn::Set(tag, 1));
		return hn::MulFixedPoint15(hn::Add(sum, one), factor);
	}

	bool worksUpTo(int64_t most, uint32_t recipWidth, uint32_t recipHeight) const
	{
		const Tag tag;
		const typename Scaling::BitsTag bits;
		const auto width = static_cast<int32_t>(recipWidth);
		const auto height = static_cast<int32_t>(recipHeight);
		const Vector last = hn::Set(tag, static_cast<int16_t>(most));

		for (int64_t first = 0; first <= most; first += hn::Lanes(tag)) {
			const Vector sum =
				hn::Min(hn::Iota(tag, static_cast<int16_t>(first)), last);
			const auto row = Scaling::ofFitting(hn::BitCast(bits, sum), width);
			const Vector expected = hn::BitCast(tag, Scaling::ofFitting(row, height));
			const auto same = hn::And(hn::Eq(times(sum), expected),
						  hn::Eq(times(hn::Neg(sum)), hn::Neg(expected)));
			if (!hn::AllTrue(tag, same))
				return false;
		}
		return true;
	}

	int16_t factor_ = 0;
	int16_t nudge_ = 0;
	bool works_ = false;
};

/**
 * \brief INT16 times both reciprocals in single precision
 *
 * A fused sum of a product and a number that leaves no bits behind the point rounds once, halves to
 * even numbers. Vectors with a half take the other way.
 */
class Int16AtOnce
{
public:
	using Scaling = Int16Scaling;
	using Tag = Scaling::Tag;
	using Vector = hn::Vec<Tag>;

	Int16AtOnce() {}

#if HWY_NATIVE_FMA
	Int16AtOnce(uint32_t recipWidth, uint32_t recipHeight, int64_t)
		: works_(hasFewHalves(recipWidth) && hasFewHalves(recipHeight)), width_(recipWidth),
		  height_(recipHeight)
	{
	}

	/** \return false if \a sum takes the other way */
	HWY_INLINE bool operator()(Vector sum, Vector &result) const
	{
		const Single whole = hn::Set(SingleTag(), 0x1.8p23F);

		if (!works_)
			return false;
		const Single row =
			hn::MulAdd(hn::ConvertTo(SingleTag(), sum), width_.single, whole);
		const Single all = hn::MulAdd(hn::Sub(row, whole), height_.single, whole);
		result = hn::Sub(hn::BitCast(Tag(), all), hn::BitCast(Tag(), whole));
		const auto halves =
			hn::Or(width_.makesHalf(sum), height_.makesHalf(hn::BitCast(Tag(), row)));
		return HWY_LIKELY(hn::AllFalse(WordTag(), halves));
	}

private:
	using SingleTag = hn::Rebind<float, Tag>;
	using WordTag = hn::Repartition<uint16_t, Tag>;
	using Single = hn::Vec<SingleTag>;

	struct Factor {
		explicit Factor(uint32_t reciprocal = 0)
			: single(hn::Set(SingleTag(), static_cast<float>(reciprocal) * 0x1p-16F)),
			  word(hn::Set(WordTag(), static_cast<uint16_t>(reciprocal)))
		{
		}

		/** \param number whose lower words count \return where these make a half */
		HWY_INLINE hn::Mask<WordTag> makesHalf(Vector number) const
		{
			const auto behind = hn::Mul(hn::BitCast(WordTag(), number), word);

			return hn::Eq(behind, hn::Set(WordTag(), 0x8000));
		}

		Single single;
		hn::Vec<WordTag> word;
	};

	/** \return false for powers of two and the like */
	static bool hasFewHalves(uint32_t reciprocal)
	{
		return reciprocal % 256 != 0;
	}

	bool works_ = false;
	Factor width_;
	Factor height_;
#else
	Int16AtOnce(uint32_t, uint32_t, int64_t)
	{
	}
	bool operator()(Vector, Vector &) const
	{
		return false;
	}
#endif
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

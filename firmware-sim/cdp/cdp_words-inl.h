/* SPDX-License-Identifier: MIT */
/*
 * CDP's product and output converter of words of 16 bits, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "arith/integer.h"
#include "arith/pairs-inl.h"
#include "lut/lut_pieces-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CDP_CDP_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CDP_CDP_WORDS_INL_H
#undef NVDLA_SIM_CDP_CDP_WORDS_INL_H
#else
#define NVDLA_SIM_CDP_CDP_WORDS_INL_H
#endif

#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace cdp
{

namespace hn = hwy::HWY_NAMESPACE;

/** \brief Elements' words, those of an atom at most, and what is computed of every second one */
template<typename Element>
struct Vectors {
	using WordTag = hn::CappedTag<int16_t, 32 / sizeof(Element)>;
	using W = lut_pieces::Words<WordTag>;
	using PairTag = typename W::PairTag;
	using SingleTag = hn::Rebind<float, PairTag>;
	using DoubleTag = doubles::Tag;
	/* A vector of pairs is one of doubles, or two. */
	static constexpr size_t kDoubles = hn::MaxLanes(PairTag()) / hn::MaxLanes(DoubleTag());
	static_assert(kDoubles == 1 || kDoubles == 2 || sizeof(Element) == 1);

	using Word = hn::Vec<WordTag>;
	using Pairs = hn::Vec<PairTag>;
	using Double = hn::Vec<DoubleTag>;

	/** \return the lower, or the upper half of \a pairs as they are */
	template<size_t kIndex>
	static HWY_INLINE Double toDoubles(Pairs pairs)
	{
		if constexpr (kDoubles == 1)
			return hn::PromoteTo(DoubleTag(), pairs);
		else if constexpr (kIndex == 0)
			return hn::PromoteTo(DoubleTag(), hn::LowerHalf(pairs));
		else
			return hn::PromoteTo(DoubleTag(),
					     hn::UpperHalf(doubles::IntegerTag(), pairs));
	}
};

/** \brief Product and output converter: words of results and of values to words of elements */
template<typename Element>
class WordOutput
{
public:
	using V = Vectors<Element>;
	using Word = typename V::Word;
	using Pairs = typename V::Pairs;

	/**
	 * \param negated results have the other sign
	 * \param lowest, \param highest product of results and values
	 */
	WordOutput(const arith::Converter &converter, bool negated, double lowest, double highest)
		: scale_(std::ldexp(negated ? -converter.scale : converter.scale,
				    -converter.shift)),
		  offset_(negated ? -converter.offset : converter.offset),
		  clips_(clips(lowest, highest)),
		  offsets_(hn::Set(typename V::PairTag(), static_cast<int32_t>(offset_)))
	{
	}

	/** \param saturated those that are are added \return elements in the low bits of words */
	HWY_INLINE Word operator()(Word results, Word values, uint32_t &saturated) const
	{
		const typename V::PairTag tag;
		const Pairs pairs = hn::BitCast(tag, results);
		const Pairs factors = hn::BitCast(tag, values);
		const Pairs lower = hn::Set(tag, 0xffff);
		auto beyond = hn::MaskFromVec(hn::Zero(tag));
		const Pairs even =
			rounded(pairs::sumsOfProducts(factors, hn::And(pairs, lower)), beyond);
		const Pairs odd =
			rounded(pairs::sumsOfProducts(factors, hn::AndNot(lower, pairs)), beyond);
		const typename V::W::BitsTag bits;
		const auto behind = hn::BitCast(bits, V::W::lower(even, odd));
		const bool certain = hn::AllFalse(bits, hn::Lt(behind, hn::Set(bits, kUncertain)));

		if (HWY_UNLIKELY(!certain || (clips_ && !hn::AllFalse(tag, beyond))))
			return precise(results, values, saturated);
		return V::W::upper(even, odd);
	}

private:
	static constexpr bool kIsByte = sizeof(Element) == 1;
	static constexpr double kHighest = std::numeric_limits<Element>::max();
	/*
	 * Of rounded numbers there are 16 bits in front of the point, or the lower ones, and as
	 * many behind it. Single precision has 14 of these for INT8, and an error below one of
	 * them, double precision all of them.
	 */
	static constexpr int kBits = kIsByte ? 14 : 16;
	static constexpr double kWhole = kIsByte ? 0x1.8p9 : 0x1.8p36;
	static constexpr double kMargin = 2.0 / (1 << kBits);
	/* What is behind the point and below twice the margin is not certain. */
	static constexpr uint16_t kUncertain = 4 << (16 - kBits);

	bool clips(double lowest, double highest) const
	{
		const double a = (lowest - offset_) * scale_;
		const double b = (highest - offset_) * scale_;

		return std::max(a, b) >= kHighest + 0.5 || std::min(a, b) <= -kHighest - 1.5;
	}

	/** \param beyond gets those that may saturate \return with 16 bits behind the point */
	HWY_INLINE Pairs rounded(Pairs products, hn::Mask<typename V::PairTag> &beyond) const
	{
		const typename V::PairTag tag;
		const Pairs moved = hn::Sub(products, offsets_);

		if constexpr (kIsByte) {
			const typename V::SingleTag single;
			auto some = hn::MaskFromVec(hn::Zero(single));
			const auto sum = scaled(single, hn::ConvertTo(single, moved), some);
			if (clips_)
				beyond = hn::Or(beyond, hn::RebindMask(tag, some));
			return hn::ShiftLeft<16 - kBits>(hn::BitCast(tag, sum));
		} else {
			return roundedInDoubles(moved, beyond);
		}
	}

	HWY_INLINE Pairs roundedInDoubles(Pairs moved, hn::Mask<typename V::PairTag> &wrong) const
	{
		const typename V::DoubleTag tag;
		const hn::RebindToUnsigned<typename V::DoubleTag> bits;
		const hn::Rebind<uint32_t, typename V::DoubleTag> lowBits;
		auto beyond = hn::MaskFromVec(hn::Zero(tag));
		const auto lower = scaled(tag, V::template toDoubles<0>(moved), beyond);

		if constexpr (V::kDoubles == 1) {
			if (clips_)
				wrong = hn::Or(wrong, someOf(beyond));
			return hn::BitCast(typename V::PairTag(),
					   hn::TruncateTo(lowBits, hn::BitCast(bits, lower)));
		} else {
			const auto upper = scaled(tag, V::template toDoubles<1>(moved), beyond);
			const typename V::PairTag pairTag;
			if (clips_)
				wrong = hn::Or(wrong, someOf(beyond));
			return hn::ConcatEven(pairTag, hn::BitCast(pairTag, upper),
					      hn::BitCast(pairTag, lower));
		}
	}

	/** \return all, if there is one */
	static HWY_INLINE hn::Mask<typename V::PairTag> someOf(hn::Mask<typename V::DoubleTag> mask)
	{
		const bool some = !hn::AllFalse(typename V::DoubleTag(), mask);

		return hn::MaskFromVec(hn::Set(typename V::PairTag(), some ? -1 : 0));
	}

	/**
	 * \param beyond gets those that are not an element's
	 * \return with half of one and the margin; whole numbers are above the low kBits bits
	 */
	template<class D>
	HWY_INLINE hn::Vec<D> scaled(D tag, hn::Vec<D> value, hn::Mask<D> &beyond) const
	{
		using Lane = hn::TFromD<D>;
		const auto set = [&](double number) HWY_ATTR {
			return hn::Set(tag, static_cast<Lane>(number));
		};
		const auto sum = hn::MulAdd(value, set(scale_), set(kWhole + 0.5 + kMargin));

		if (clips_)
			beyond = hn::Or(beyond, hn::Or(hn::Lt(sum, set(kWhole - kHighest - 1)),
						       hn::Ge(sum, set(kWhole + kHighest + 1))));
		return sum;
	}

	/* Products of 31 bits, less an offset, times 16 bits: exact until they are rounded. */
	HWY_NOINLINE Word precise(Word results, Word values, uint32_t &saturated) const
	{
		using namespace doubles;
		constexpr size_t kCount = hn::MaxLanes(typename V::WordTag());
		const hn::Rebind<int16_t, Tag> wordTag;
		int16_t words[kCount];
		int16_t factors[kCount];

		hn::StoreU(results, typename V::WordTag(), words);
		hn::StoreU(values, typename V::WordTag(), factors);
		for (size_t i = 0; i < kCount; i += hn::Lanes(Tag())) {
			const auto load = [&](const int16_t *from) HWY_ATTR {
				return hn::PromoteTo(
					Tag(),
					hn::PromoteTo(IntegerTag(), hn::LoadU(wordTag, from)));
			};
			const Vector product = hn::Mul(load(words + i), load(factors + i));
			const Vector scaled =
				hn::Mul(hn::Sub(product, constant(offset_)), constant(scale_));
			/* What misses the range by one is clipped, but does not count. */
			const Mask counts = hn::Or(hn::Ge(scaled, constant(kHighest + 2)),
						   hn::Lt(scaled, constant(-kHighest - 2)));
			saturated += static_cast<uint32_t>(hn::CountTrue(Tag(), counts));
			const Vector rounded = clip(roundAway(scaled), -kHighest - 1, kHighest);
			hn::StoreU(hn::DemoteTo(wordTag, hn::DemoteTo(IntegerTag(), rounded)),
				   wordTag, words + i);
		}
		return hn::LoadU(typename V::WordTag(), words);
	}

	const double scale_;
	const double offset_;
	const bool clips_; /* results may be beyond an element's range */
	const Pairs offsets_;
};

} /* namespace cdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors, with doubles */

#endif /* once for each instruction set */

/* SPDX-License-Identifier: MIT */
/*
 * CDP's product and output converter of integers, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "arith/integer.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CDP_CDP_OUTPUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CDP_CDP_OUTPUT_INL_H
#undef NVDLA_SIM_CDP_CDP_OUTPUT_INL_H
#else
#define NVDLA_SIM_CDP_CDP_OUTPUT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace cdp
{

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/* The 16 channels of the smallest atom at most. */
using NumberTag = hn::CappedTag<int32_t, 16>;
using SingleTag = hn::Rebind<float, NumberTag>;
using Numbers = hn::Vec<NumberTag>;
using Single = hn::Vec<SingleTag>;

/** \brief The output converter to elements of one size */
template<typename Element>
class Output
{
public:
	explicit Output(const arith::Converter &converter)
		: scale_(std::ldexp(converter.scale, -converter.shift)), offset_(converter.offset),
		  moves_(converter.offset != 0), factors_(set(scale_)), offsets_(set(offset_)),
		  certain_(set(0.5 - errorOf(scale_, offset_))), highest_(set(kHighest)),
		  whole_(set(0x1.8p23))
	{
	}

	/**
	 * \param results the table's, 16 bits \param factors values of 9 or 17 bits; null: none
	 * \return how many saturated
	 */
	HWY_INLINE uint32_t store(Numbers results, const int32_t *factors, Element *out) const
	{
		const SingleTag tag;
		Single product = hn::ConvertTo(tag, results);

		if (factors)
			product = hn::Mul(product,
					  hn::ConvertTo(tag, hn::LoadU(NumberTag(), factors)));
		const Nearly nearly(*this, product);

		if (HWY_LIKELY(hn::AllTrue(tag, nearly.fits))) {
			storeLow(nearly.sum, out);
			return 0;
		}
		return storePrecise(results, factors, out);
	}

private:
	static constexpr double kHighest = sizeof(Element) == 1 ? INT8_MAX : INT16_MAX;

	/**
	 * \return how far nearly() may be off: its factors are exact, the product and what is
	 *	   taken from it, about as large as the result or the offset, are rounded
	 */
	static double errorOf(double scale, double offset)
	{
		constexpr double kRounding = 0x1p-24;
		constexpr double kRest = 0x1p-20; /* what all the roundings add to one another */
		constexpr int kScaled = HWY_NATIVE_FMA ? 0 : 1;
		const double moved = std::fabs(offset * scale);
		const double largest = kHighest + 1;

		return kRounding * ((offset == 0 ? 1 : 2) * (largest + moved) + kScaled * largest) +
		       kRest;
	}

	static HWY_INLINE Single set(double value)
	{
		return hn::Set(SingleTag(), static_cast<float>(value));
	}

	HWY_INLINE uint32_t storePrecise(Numbers results, const int32_t *factors,
					 Element *out) const
	{
		int32_t numbers[hn::MaxLanes(NumberTag())];

		hn::StoreU(results, NumberTag(), numbers);
		return precise(scale_, offset_, numbers, factors, out);
	}

	/* Sums of 34 bits times 16 bits: exact until they are rounded. */
	static HWY_NOINLINE uint32_t precise(double scale, double offset, const int32_t *results,
					     const int32_t *factors, Element *out)
	{
		const hn::Rebind<Element, Tag> tag;
		size_t saturated = 0;

		for (size_t i = 0; i < hn::Lanes(NumberTag()); i += hn::Lanes(Tag())) {
			doubles::Vector value = load(results + i);
			if (factors)
				value = hn::Mul(value, load(factors + i));
			const doubles::Vector scaled =
				hn::Mul(hn::Sub(value, constant(offset)), constant(scale));
			/* What misses the range by one is clipped, but does not count. */
			const Mask counts = hn::Or(hn::Ge(scaled, constant(kHighest + 2)),
						   hn::Lt(scaled, constant(-kHighest - 2)));
			saturated += hn::CountTrue(Tag(), counts);
			const doubles::Vector rounded =
				clip(roundAway(scaled), -kHighest - 1, kHighest);
			hn::StoreU(hn::DemoteTo(tag, hn::DemoteTo(IntegerTag(), rounded)), tag,
				   out + i);
		}
		return static_cast<uint32_t>(saturated);
	}

	/** In single precision, as nearly all results are certain then */
	struct Nearly {
		HWY_INLINE Nearly(const Output &output, Single product)
		{
			const Single value =
				output.moves_ ? hn::Sub(product, output.offsets_) : product;
			sum = hn::MulAdd(value, output.factors_, output.whole_);
			const Single rounded = hn::Sub(sum, output.whole_);
			const Single rest = hn::MulSub(value, output.factors_, rounded);

			fits = hn::And(hn::Lt(hn::Abs(rest), output.certain_),
				       hn::Le(hn::Abs(rounded), output.highest_));
		}

		Single sum;		  /* low bits are the result's */
		hn::Mask<SingleTag> fits; /* neither saturates nor is close to a half */
	};

	/* They fit: what is above an element's bits is let go. */
	HWY_INLINE void storeLow(Single sum, Element *out) const
	{
		const NumberTag tag;
		const Numbers bits = hn::BitCast(tag, sum);

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		if constexpr (sizeof(Element) == 1)
			_mm_storeu_si128(reinterpret_cast<__m128i *>(out),
					 _mm512_cvtepi32_epi8(bits.raw));
		else
			_mm256_storeu_si256(reinterpret_cast<__m256i *>(out),
					    _mm512_cvtepi32_epi16(bits.raw));
#else
		const hn::Rebind<Element, NumberTag> elementTag;
		const Numbers numbers = hn::Sub(bits, hn::BitCast(tag, whole_));
		hn::StoreU(hn::DemoteTo(elementTag, numbers), elementTag, out);
#endif
	}

	double scale_;
	double offset_;
	bool moves_; /* by an offset */
	Single factors_;
	Single offsets_;
	Single certain_; /* rests below it do not change a result; not positive: none does */
	Single highest_;
	Single whole_; /* in a sum with it numbers of 22 bits are whole, its low bits theirs */
};

} /* namespace cdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

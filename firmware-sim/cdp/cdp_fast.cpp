/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_fast.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "arith/integer.h"
#include "core/bring_ahead.h"

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
			/* A number beyond the range by one is clipped, but does not count as
			 * saturated. */
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

template<typename Element>
void widenAtom(const Element *elements, size_t lanes, int32_t *values)
{
	const hn::Rebind<Element, NumberTag> tag;

	for (size_t i = 0; i < lanes; i += hn::Lanes(tag))
		hn::StoreU(hn::PromoteTo(NumberTag(), hn::LoadU(tag, elements + i)), NumberTag(),
			   values + i);
}

/* Differences of 17 bits times 16 bits. */
void convertAtom(const arith::Converter &converter, double highest, size_t lanes, int32_t *values)
{
	const Vector scale = constant(std::ldexp(converter.scale, -converter.shift));
	const Vector offset = constant(converter.offset);

	for (size_t i = 0; i < lanes; i += hn::Lanes(Tag())) {
		const Vector scaled = hn::Mul(hn::Sub(load(values + i), offset), scale);
		store(clip(roundAway(scaled), -highest - 1, highest), values + i);
	}
}

template<typename Element>
void inputOf(const arith::Converter &converter, const std::byte *atoms, size_t count,
	     int32_t *values, size_t step)
{
	constexpr size_t lanes = atomBytes / sizeof(Element);
	constexpr double highest = sizeof(Element) == 1 ? 255 : 65535;
	const bool converts = !converter.changesNothing();

	for (size_t atom = 0; atom < count; atom++, values += step) {
		const auto *elements = reinterpret_cast<const Element *>(atoms + atom * atomBytes);
		bringAhead(elements);
		widenAtom(elements, lanes, values);
		if (converts)
			convertAtom(converter, highest, lanes, values);
	}
}

HWY_INLINE Numbers loadAs(NumberTag tag, const int32_t *values)
{
	return hn::LoadU(tag, values);
}

HWY_INLINE Vector loadAs(Tag, const int32_t *values)
{
	return load(values);
}

/** \tparam D tag of the sums */
template<class D>
void sumSquares(const int32_t *values, uint32_t radius, size_t count, hn::TFromD<D> *sums)
{
	const D tag;
	const auto squareAt = [&](const int32_t *at) HWY_ATTR {
		const auto value = loadAs(tag, at);
		return hn::Mul(value, value);
	};

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		auto sum = squareAt(values + i);
		for (uint32_t n = 1; n <= radius; n++)
			sum = hn::Add(sum,
				      hn::Add(squareAt(values + i - n), squareAt(values + i + n)));
		hn::StoreU(sum, tag, sums + i);
	}
}

template<typename Element>
uint32_t outputOf(const arith::Converter &converter, const int32_t *results, const int32_t *factors,
		  size_t count, std::byte *atoms, size_t step)
{
	constexpr size_t lanes = atomBytes / sizeof(Element);
	const Output<Element> output(converter);
	uint32_t saturated = 0;

	for (size_t first = 0; first < count; first += lanes, atoms += step) {
		auto *out = reinterpret_cast<Element *>(atoms);
		for (size_t lane = 0; lane < lanes; lane += hn::Lanes(NumberTag())) {
			const int32_t *in = results + first + lane;
			const int32_t *factor = factors ? factors + first + lane : nullptr;
			saturated += output.store(hn::LoadU(NumberTag(), in), factor, out + lane);
		}
	}
	return saturated;
}

} /* namespace cdp */

void cdpInputOfTarget(const arith::Converter &converter, Precision precision,
		      const std::byte *atoms, size_t count, int32_t *values, size_t step)
{
	const auto input =
		precision == Precision::Int8 ? cdp::inputOf<int8_t> : cdp::inputOf<int16_t>;

	input(converter, atoms, count, values, step);
}

void squareSumsOfTarget(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	cdp::sumSquares<cdp::NumberTag>(values, radius, count, sums);
}

void wideSquareSumsOfTarget(const int32_t *values, uint32_t radius, size_t count, double *sums)
{
	cdp::sumSquares<doubles::Tag>(values, radius, count, sums);
}

uint32_t cdpOutputOfTarget(const arith::Converter &converter, Precision precision,
			   const int32_t *results, const int32_t *factors, size_t count,
			   std::byte *atoms, size_t step)
{
	return precision == Precision::Int8
		       ? cdp::outputOf<int8_t>(converter, results, factors, count, atoms, step)
		       : cdp::outputOf<int16_t>(converter, results, factors, count, atoms, step);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpInputOfTarget);
HWY_EXPORT(squareSumsOfTarget);
HWY_EXPORT(wideSquareSumsOfTarget);
HWY_EXPORT(cdpOutputOfTarget);

void cdpInput(const arith::Converter &converter, Precision precision, const std::byte *atoms,
	      size_t count, int32_t *values, size_t step)
{
	HWY_DYNAMIC_DISPATCH(cdpInputOfTarget)(converter, precision, atoms, count, values, step);
}

void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(squareSumsOfTarget)(values, radius, count, sums);
}

void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, double *sums)
{
	HWY_DYNAMIC_DISPATCH(wideSquareSumsOfTarget)(values, radius, count, sums);
}

uint32_t cdpOutput(const arith::Converter &converter, Precision precision, const int32_t *results,
		   const int32_t *factors, size_t count, std::byte *atoms, size_t step)
{
	return HWY_DYNAMIC_DISPATCH(cdpOutputOfTarget)(converter, precision, results, factors,
						       count, atoms, step);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

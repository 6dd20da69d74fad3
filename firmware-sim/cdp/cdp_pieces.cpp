/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT8's squares have 20 bits, which single precision holds; those of INT16, 38 bits.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_pieces.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_pieces.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "cdp/cdp_fast.h"
#include "cdp/cdp_output-inl.h"
#include "lut/lut_pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace cdp
{

/** Numbers that windows are summed up of, and vectors of them */
template<typename Element>
using Number = std::conditional_t<sizeof(Element) == 1, float, double>;
template<typename Element>
using InputTag = hn::CappedTag<Number<Element>, sizeof(Element) == 1 ? 16 : 8>;

HWY_INLINE Single numbersOf(SingleTag tag, const int32_t *values)
{
	return hn::ConvertTo(tag, hn::LoadU(NumberTag(), values));
}

HWY_INLINE Vector numbersOf(doubles::Tag, const int32_t *values)
{
	return doubles::load(values);
}

/** \brief Of vectors of channels the sums of their windows' squares, or each number alone */
template<class D>
class Windows
{
public:
	using Vector = hn::Vec<D>;

	/** \param radius 0: no squares */
	HWY_INLINE Windows(const hn::TFromD<D> *numbers, uint32_t radius)
		: numbers_(numbers), radius_(radius)
	{
	}

	HWY_INLINE Vector at(size_t channel) const
	{
		const auto *center = numbers_ + channel;
		const Vector number = hn::LoadU(D(), center);

		if (radius_ == 0)
			return number;
		/* Not a loop, which would be one for each vector. */
		Vector sum = pair(hn::Mul(number, number), center, 1);
		if (radius_ > 1)
			sum = pair(sum, center, 2);
		if (radius_ > 2)
			sum = pair(sum, center, 3);
		if (radius_ > 3)
			sum = pair(sum, center, 4);
		return sum;
	}

private:
	static HWY_INLINE Vector pair(Vector sum, const hn::TFromD<D> *center, size_t n)
	{
		const Vector left = hn::LoadU(D(), center - n);
		const Vector right = hn::LoadU(D(), center + n);

		return hn::MulAdd(right, right, hn::MulAdd(left, left, sum));
	}

	const hn::TFromD<D> *numbers_;
	const uint32_t radius_;
};

/** \return INT8's values as they are held, INT16's out of integers */
HWY_INLINE Single factorsOf(const float *numbers, const int32_t *)
{
	return hn::LoadU(SingleTag(), numbers);
}

HWY_INLINE Single factorsOf(const double *, const int32_t *values)
{
	return numbersOf(SingleTag(), values);
}

/** A vector of places out of one of singles or two of doubles */
template<class Places>
HWY_INLINE Numbers placesOf(const Places &places, const Windows<SingleTag> &windows, size_t channel,
			    LutCounters &counters)
{
	return places(windows.at(channel), counters);
}

template<class Places>
HWY_INLINE Numbers placesOf(const Places &places, const Windows<Tag> &windows, size_t channel,
			    LutCounters &counters)
{
	const auto first = places(windows.at(channel), counters);

#if HWY_TARGET == HWY_SCALAR
	return first;
#else
	const auto second = places(windows.at(channel + hn::Lanes(Tag())), counters);
	return hn::Combine(NumberTag(), second, first);
#endif
}

/** \brief A position's channels: values, numbers to sum up, elements of the first surface */
template<typename Element>
struct Position {
	const int32_t *values;
	const Number<Element> *numbers;
	std::byte *atoms;
};

/** \brief What channels of positions become */
template<typename Element, class Places, class Interpolation>
class Channels
{
public:
	Channels(const CdpPieces &cdp, const CdpChunk &chunk)
		: places_(cdp.pieces), interpolation_(cdp.pieces),
		  radius_(cdp.op.squareSumBypass ? 0 : cdp.op.radius),
		  multiplies_(!cdp.op.mulBypass), surfaceBytes_(chunk.surfaceBytes)
	{
	}

	HWY_INLINE typename Output<Element>::Vector at(const Position<Element> &position,
						       size_t channel, LutCounters &counters) const
	{
		constexpr size_t lanes = atomBytes / sizeof(Element);
		const Windows<InputTag<Element>> windows(position.numbers, radius_);
		const int32_t *values = position.values + channel;
		const Numbers results =
			interpolation_(placesOf(places_, windows, channel, counters));
		Single product = hn::ConvertTo(SingleTag(), results);

		if (multiplies_)
			product = hn::Mul(product, factorsOf(position.numbers + channel, values));
		std::byte *atom = position.atoms + channel / lanes * surfaceBytes_;
		return { results, multiplies_ ? values : nullptr, product,
			 reinterpret_cast<Element *>(atom) + channel % lanes };
	}

private:
	const Places places_;
	const Interpolation interpolation_;
	const uint32_t radius_;
	const bool multiplies_;
	const size_t surfaceBytes_;
};

/**
 * \param first of \a count positions
 * \param numbers theirs, with margins
 * \tparam kOne there is one linear piece, and nothing is counted \tparam kFew pairs
 */
template<typename Element, bool kOne, bool kFew>
void lookUp(CdpPieces &cdp, const CdpChunk &chunk, const Output<Element> &anyOutput, size_t first,
	    size_t count, const Number<Element> *numbers)
{
	using Places = lut_pieces::Places<InputTag<Element>, kOne>;
	using Interpolation = lut_pieces::Interpolation<kFew>;
	const Channels<Element, Places, Interpolation> channels(cdp, chunk);
	/* Copies, which what is written cannot change. */
	const Output<Element> output = anyOutput;
	const size_t length = chunk.channels;
	const size_t step = chunk.valueStep;
	const size_t lanes = hn::Lanes(NumberTag());
	Position<Element> position = { chunk.values + first * step, numbers + kCdpMargin,
				       chunk.atoms + first * atomBytes };
	LutCounters counters;
	uint32_t saturated = 0;

	for (size_t n = 0; n < count; n++) {
		size_t i = 0;
		for (; i + lanes < length; i += 2 * lanes)
			saturated += output.store(channels.at(position, i, counters),
						  channels.at(position, i + lanes, counters));
		for (; i < length; i += lanes) {
			const auto last = channels.at(position, i, counters);
			saturated +=
				output.store(last.results, last.factors, last.product, last.out);
		}
		position.values += step;
		position.numbers += length + 2 * kCdpMargin;
		position.atoms += atomBytes;
	}
	cdp.counters += counters;
	cdp.saturation += saturated;
}

/** Values, margins included, as numbers that sums are computed with */
template<typename Element>
void widen(const int32_t *values, size_t count, Number<Element> *numbers)
{
	const InputTag<Element> tag;

	for (size_t i = 0; i < count; i += hn::Lanes(tag))
		hn::StoreU(numbersOf(tag, values + i), tag, numbers + i);
}

/** \return what the product of the table's results and values is between */
template<typename Element>
typename Output<Element>::Range productsOf(const CdpPieces &cdp)
{
	const LutPieces &pieces = cdp.pieces;
	const double lowest = cdp.op.mulBypass ? 1 : static_cast<double>(cdpValues(cdp.op).lowest);
	const double highest =
		cdp.op.mulBypass ? 1 : static_cast<double>(cdpValues(cdp.op).highest);
	const auto [least, most] =
		std::minmax({ lowest * pieces.lowest, lowest * pieces.highest,
			      highest * pieces.lowest, highest * pieces.highest });

	return { least, most };
}

/* Loads across what was just stored would wait for it: some positions lie in between. */
constexpr size_t kAtOnce = 8;

template<typename Element>
void positionsOf(CdpPieces &cdp, const CdpChunk &chunk, std::vector<Number<Element>> &numbers)
{
	const LutPieces &pieces = cdp.pieces;
	const bool one = pieces.count == 1 && !pieces.exponential && !pieces.counts;
	const bool few = pieces.pairCount <= LutPieces::kFew;
	const auto lookUpAll =
		one ? (few ? lookUp<Element, true, true> : lookUp<Element, true, false>)
		    : (few ? lookUp<Element, false, true> : lookUp<Element, false, false>);
	const Output<Element> output(cdp.op.output, productsOf<Element>(cdp));
	const size_t length = chunk.channels + 2 * kCdpMargin;

	/* Vectors reach beyond the last one's. */
	numbers.resize(length * kAtOnce + hn::MaxLanes(InputTag<Element>()));
	for (size_t first = 0; first < chunk.positions; first += kAtOnce) {
		const size_t count = std::min(kAtOnce, chunk.positions - first);

		for (size_t i = 0; i < count; i++)
			widen<Element>(chunk.values + (first + i) * chunk.valueStep - kCdpMargin,
				       length, &numbers[i * length]);
		lookUpAll(cdp, chunk, output, first, count, numbers.data());
	}
}

} /* namespace cdp */

void cdpPiecesOfTarget(CdpPieces &cdp, const CdpChunk &chunk)
{
	if (cdp.op.precision == Precision::Int8)
		cdp::positionsOf<int8_t>(cdp, chunk, cdp.singles);
	else
		cdp::positionsOf<int16_t>(cdp, chunk, cdp.doubles);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpPiecesOfTarget);

CdpValues cdpValues(const CdpOp &op)
{
	const bool isInt8 = op.precision == Precision::Int8;
	const int64_t largest =
		(isInt8 ? -INT8_MIN : -INT16_MIN) * (op.input.changesNothing() ? 1 : 2);

	return { -largest, largest - 1 };
}

LutPieces::Inputs cdpLutInputs(const CdpOp &op)
{
	const CdpValues values = cdpValues(op);
	const int64_t window = 2 * op.radius + 1;

	return { .lowest = op.squareSumBypass ? values.lowest : 0,
		 .highest = op.squareSumBypass ? values.highest
					       : window * values.lowest * values.lowest,
		 .single = op.precision == Precision::Int8,
		 .counts = op.countsLut };
}

void cdpPiecesChunk(CdpPieces &cdp, const CdpChunk &chunk)
{
	HWY_DYNAMIC_DISPATCH(cdpPiecesOfTarget)(cdp, chunk);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

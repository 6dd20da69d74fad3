/* SPDX-License-Identifier: MIT */
/*
 * The averages of pdp_arith.h in vectors, as pdp_vectors-inl.h describes them.
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "pdp/pdp_arith.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_PDP_AVERAGES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_PDP_AVERAGES_INL_H
#undef NVDLA_SIM_PDP_AVERAGES_INL_H
#else
#define NVDLA_SIM_PDP_AVERAGES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** \brief The lower bits of a number, with the upmost of them as sign */
template<int kBits, class D>
HWY_INLINE hn::Vec<D> wrap(D, hn::Vec<D> value)
{
	constexpr int cut = 8 * sizeof(hn::TFromD<D>) - kBits;

	return hn::ShiftRight<cut>(hn::ShiftLeft<cut>(value));
}

/**
 * \brief The end of PdpIntegerAverage::scale(): of a negative number all bits are rounded
 * \param value what is scaled \param whole bits of its magnitude's product above the point
 * \param half the bit below
 */
template<int kBits, class D, class Bits>
HWY_INLINE hn::Vec<D> roundedTo(D tag, hn::Vec<D> value, Bits whole, Bits half)
{
	const hn::RebindToUnsigned<D> bits;
	const auto sign = hn::BroadcastSignBit(value);
	const auto mask =
		hn::Or(hn::BitCast(bits, sign),
		       hn::Set(bits, (hn::TFromD<decltype(bits)>{ 1 } << (kBits - 1)) - 1));
	const auto rounded = hn::BitCast(tag, hn::Add(hn::And(whole, mask), half));

	return wrap<kBits>(tag, hn::Sub(hn::Xor(rounded, sign), sign));
}

/**
 * \brief PdpIntegerAverage of INT8 in 16 bits
 *
 * A product of 14 by 17 bits is not needed as a whole: of the lower 16 bits of the reciprocal the
 * product's upper half and its bit below, and the number itself for the bit above.
 */
struct Int8Averages {
	using Arith = PdpIntegerAverage<Precision::Int8>;
	using Element = int8_t;
	using Number = int16_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Int8)>;
	using Vector = hn::Vec<Tag>;
	using BitsTag = hn::RebindToUnsigned<Tag>;

	explicit Int8Averages(const PdpOp &op) : arith(op), fits(allFits(op)) {}

	/** \return true if no sum and no result of a window loses bits, and divisors are above 1 */
	static bool allFits(const PdpOp &op)
	{
		int64_t pad = 0; /* the largest */

		for (const int32_t value : op.padValue)
			pad = std::max<int64_t>(pad, std::abs(int64_t{ value }));
		return op.recipWidth <= UINT16_MAX && op.recipHeight <= UINT16_MAX &&
		       fitsUpTo(op, pad, INT8_MAX, 0) && fitsUpTo(op, pad, -INT8_MIN, 1);
	}

	/** \param largest magnitude of an element \param above of negative numbers 1 */
	static bool fitsUpTo(const PdpOp &op, int64_t pad, int64_t largest, int64_t above)
	{
		const auto fits = [&](int64_t magnitude, unsigned bits) {
			return magnitude < (int64_t{ 1 } << (bits - 1)) + above;
		};
		const auto scaled = [](int64_t sum, uint32_t reciprocal) {
			constexpr int64_t half = int64_t{ 1 } << (Arith::kFraction - 1);
			return (sum * reciprocal + half) >> Arith::kFraction;
		};
		const int64_t ofRow = op.kernelWidth * largest + pad;
		const int64_t all = op.kernelHeight * ofRow + op.kernelWidth * pad;
		const int64_t row = scaled(all, op.recipWidth);

		return fits(ofRow, Arith::kRowBits) && fits(all, Arith::kSumBits) &&
		       fits(row, Arith::kScaledBits) &&
		       fits(scaled(row, op.recipHeight), Arith::kOutBits);
	}

	/* As PdpIntegerAverage::scale(): of a negative number all bits are rounded. */
	template<int kBits>
	static HWY_INLINE Vector scale(Vector value, int32_t reciprocal)
	{
		const BitsTag bits;
		const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto high = hn::Set(bits, static_cast<uint16_t>(-(reciprocal >> 16)));
		const auto magnitude = hn::BitCast(bits, hn::Abs(value));
		const auto whole = hn::Add(hn::MulHigh(magnitude, low), hn::And(magnitude, high));
		const auto half = hn::ShiftRight<15>(hn::Mul(magnitude, low));

		return roundedTo<kBits>(Tag(), value, whole, half);
	}

	/* The same where nothing is lost, with less than 1. */
	static HWY_INLINE Vector scaleFitting(Vector value, int32_t reciprocal)
	{
		const BitsTag bits;
		const auto factor = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto magnitude = hn::BitCast(bits, hn::Abs(value));
		const auto half = hn::ShiftRight<15>(hn::Mul(magnitude, factor));
		const auto rounded = hn::Add(hn::MulHigh(magnitude, factor), half);
		const auto sign = hn::BroadcastSignBit(value);

		return hn::Sub(hn::Xor(hn::BitCast(Tag(), rounded), sign), sign);
	}

	HWY_INLINE Vector load(const Element *in) const
	{
		const hn::Rebind<int8_t, Tag> tag;

		return hn::PromoteTo(Tag(), hn::LoadU(tag, in));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return hn::Add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		const auto value = static_cast<int16_t>(arith.padValue[padded]);

		const Vector sum = hn::Add(row, hn::Set(Tag(), value));

		return fits ? sum : wrap<Arith::kRowBits>(Tag(), sum);
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return hn::Add(sum, row); }
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const hn::Rebind<int8_t, Tag> tag;
		/* The sum is wrapped afterwards anyhow. */
		const auto added = static_cast<int16_t>(arith.padValue[padded] * arith.width);
		const Vector all = hn::Add(sum, hn::Set(Tag(), added));
		if (fits) {
			const Vector row = scaleFitting(all, arith.recipWidth);
			hn::StoreU(hn::DemoteTo(tag, scaleFitting(row, arith.recipHeight)), tag,
				   out);
			return;
		}
		const Vector row = scale<Arith::kScaledBits>(wrap<Arith::kSumBits>(Tag(), all),
							     arith.recipWidth);
		hn::StoreU(hn::DemoteTo(tag, scale<Arith::kOutBits>(row, arith.recipHeight)), tag,
			   out);
	}

	Arith arith;
	bool fits;
};

/** \brief PdpIntegerAverage of INT16 in 32 bits: of a product of 22 by 17 bits two parts */
struct Int16Averages {
	using Arith = PdpIntegerAverage<Precision::Int16>;
	using Element = int16_t;
	using Number = int32_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Int16)>;
	using Vector = hn::Vec<Tag>;
	using BitsTag = hn::RebindToUnsigned<Tag>;

	explicit Int16Averages(const PdpOp &op) : arith(op) {}

	/* As PdpIntegerAverage::scale(): of a negative number all bits are rounded. */
	template<int kBits>
	static HWY_INLINE Vector scale(Vector value, int32_t reciprocal)
	{
		const BitsTag bits;
		const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto high = hn::Set(bits, static_cast<uint32_t>(-(reciprocal >> 16)));
		const auto magnitude = hn::BitCast(bits, hn::Abs(value));
		const auto below = hn::Mul(hn::And(magnitude, hn::Set(bits, 0xffff)), low);
		const auto above = hn::Mul(hn::ShiftRight<16>(magnitude), low);
		const auto whole = hn::Add(hn::Add(above, hn::ShiftRight<16>(below)),
					   hn::And(magnitude, high));
		const auto half = hn::And(hn::ShiftRight<15>(below), hn::Set(bits, 1));

		return roundedTo<kBits>(Tag(), value, whole, half);
	}

	HWY_INLINE Vector load(const Element *in) const
	{
		const hn::Rebind<int16_t, Tag> tag;

		return hn::PromoteTo(Tag(), hn::LoadU(tag, in));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return hn::Add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return wrap<Arith::kRowBits>(Tag(),
					     hn::Add(row, hn::Set(Tag(), arith.padValue[padded])));
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return hn::Add(sum, row); }
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const hn::Rebind<int16_t, Tag> tag;
		const Vector added = hn::Set(Tag(), arith.padValue[padded] * arith.width);
		const Vector whole = wrap<Arith::kSumBits>(Tag(), hn::Add(sum, added));
		const Vector row = scale<Arith::kScaledBits>(whole, arith.recipWidth);

		hn::StoreU(hn::DemoteTo(tag, scale<Arith::kOutBits>(row, arith.recipHeight)), tag,
			   out);
	}

	Arith arith;
};

/** \brief PdpFloatAverage, of registers that hold ordinary numbers */
struct FloatAverages {
	using Arith = PdpFloatAverage;
	using Element = Arith::Element;
	using Number = int32_t;
	using Tag = fp17::Tag;
	using Vector = fp17::Bits;

	explicit FloatAverages(const PdpOp &op) : arith(op) {}

	/** \return false if a register has a number that OneByOne is for */
	static bool accepts(const PdpOp &op)
	{
		const Arith arith(op);
		bool ordinary =
			fp17::isOrdinary(arith.recipWidth) && fp17::isOrdinary(arith.recipHeight);

		for (size_t i = 0; i < arith.rowPad.size(); i++)
			ordinary = ordinary && fp17::isOrdinary(arith.rowPad[i]) &&
				   fp17::isOrdinary(arith.windowPad[i]);
		return ordinary;
	}

	HWY_INLINE Vector load(const Element *in) const { return fp17::load(in); }
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return fp17::add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return added(row, arith.rowPad[padded]);
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return fp17::add(row, sum); }
	/* A zero changes nothing, not even the sign of another one. */
	static HWY_INLINE Vector added(Vector sum, uint32_t pad)
	{
		return arith::Fp17::isZero(pad) ? sum : fp17::add(sum, fp17::ofRegister(pad));
	}
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		Vector value = added(sum, arith.windowPad[padded]);

		value = fp17::multiply(value, fp17::ofRegister(arith.recipWidth));
		value = fp17::multiply(value, fp17::ofRegister(arith.recipHeight));
		fp17::store(value, out);
	}

	Arith arith;
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

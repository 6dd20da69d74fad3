/* SPDX-License-Identifier: MIT */
/*
 * The averages of pdp_arith.h in vectors, as pdp_vectors-inl.h describes them.
 */
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

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
 * \brief Times a reciprocal, INT8: sums of 16 bits
 *
 * A product of 14 by 17 bits is not needed as a whole: of the lower 16 bits of the reciprocal the
 * product's upper half and its bit below, and the number itself for the bit above.
 */
struct Int8Scaling {
	static constexpr Precision kPrecision = Precision::Int8;
	static constexpr bool kFits = true; /* there is ofFitting() */
	using Tag = hn::CappedTag<int16_t, atomChannels(kPrecision)>;
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

/** \brief PdpIntegerAverage \tparam Scaling Int8Scaling or Int16Scaling */
template<class Scaling>
class IntegerAverages
{
public:
	using Arith = PdpIntegerAverage<Scaling::kPrecision>;
	using Element = typename Arith::Element;
	using Number = typename Arith::Number;
	using Tag = typename Scaling::Tag;
	using Vector = hn::Vec<Tag>;

	explicit IntegerAverages(const PdpOp &op) : arith_(op), fits_(Scaling::kFits && allFit(op))
	{
	}

	static bool mayBePlain() { return true; }
	static HWY_INLINE void seeRow(Vector, Vector &) {}
	static HWY_INLINE bool sawPlain(Vector) { return true; }
	template<bool>
	HWY_INLINE Vector load(const Element *in, Vector &) const
	{
		return hn::PromoteTo(Tag(), hn::LoadU(ElementTag(), in));
	}
	template<bool>
	HWY_INLINE Vector addInRow(Vector row, Vector in) const
	{
		return hn::Add(row, in);
	}
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		const auto value = static_cast<Number>(arith_.padValue[padded]);
		const Vector sum = hn::Add(row, hn::Set(Tag(), value));

		return fits_ ? sum : wrap<Arith::kRowBits>(Tag(), sum);
	}
	template<bool>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return hn::Add(sum, row);
	}
	template<bool>
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		/* The sum is wrapped afterwards anyhow. */
		const auto added = static_cast<Number>(arith_.padValue[padded] * arith_.width);
		const Vector all = hn::Add(sum, hn::Set(Tag(), added));

		hn::StoreU(hn::DemoteTo(ElementTag(), fits_ ? scaledFitting(all) : scaled(all)),
			   ElementTag(), out);
	}

private:
	using ElementTag = hn::Rebind<Element, Tag>;

	/** \param largest magnitude of an element \param above of negative numbers 1 */
	static bool fitUpTo(const PdpOp &op, int64_t pad, int64_t largest, int64_t above)
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

	/** \return true if no sum and no result of a window loses bits, and divisors are above 1 */
	static bool allFit(const PdpOp &op)
	{
		constexpr int64_t lowest = std::numeric_limits<Element>::min();
		int64_t pad = 0; /* the largest */

		for (const int32_t value : op.padValue)
			pad = std::max<int64_t>(pad, std::abs(int64_t{ value }));
		return op.recipWidth <= UINT16_MAX && op.recipHeight <= UINT16_MAX &&
		       fitUpTo(op, pad, -lowest - 1, 0) && fitUpTo(op, pad, -lowest, 1);
	}

	/* As PdpIntegerAverage::scale(): of a negative number all bits are rounded. */
	template<int kBits>
	static HWY_INLINE Vector scale(Vector value, int32_t reciprocal)
	{
		const typename Scaling::BitsTag bits;
		using Bit = hn::TFromD<decltype(bits)>;
		const auto sign = hn::BroadcastSignBit(value);
		const auto mask = hn::Or(hn::BitCast(bits, sign),
					 hn::Set(bits, (Bit{ 1 } << (kBits - 1)) - 1));
		typename Scaling::Bits half;
		const auto whole = Scaling::of(hn::BitCast(bits, hn::Abs(value)), reciprocal, half);
		const auto rounded = hn::BitCast(Tag(), hn::Add(hn::And(whole, mask), half));

		return wrap<kBits>(Tag(), hn::Sub(hn::Xor(rounded, sign), sign));
	}

	HWY_INLINE Vector scaled(Vector sum) const
	{
		const Vector row = scale<Arith::kScaledBits>(wrap<Arith::kSumBits>(Tag(), sum),
							     arith_.recipWidth);

		return scale<Arith::kOutBits>(row, arith_.recipHeight);
	}

	/** \return a sum that fits times both reciprocals: magnitudes, with the sign at the end */
	HWY_INLINE Vector scaledFitting(Vector sum) const
	{
		const auto sign = hn::BroadcastSignBit(sum);
		auto magnitude = hn::BitCast(typename Scaling::BitsTag(), hn::Abs(sum));

		magnitude = Scaling::ofFitting(magnitude, arith_.recipWidth);
		magnitude = Scaling::ofFitting(magnitude, arith_.recipHeight);
		return hn::Sub(hn::Xor(hn::BitCast(Tag(), magnitude), sign), sign);
	}

	Arith arith_;
	bool fits_;
};

/** \brief PdpFloatAverage, of registers that hold ordinary numbers */
class FloatAverages
{
public:
	using Arith = PdpFloatAverage;
	using Element = Arith::Element;
	using Number = int32_t;
	using Tag = fp17::Tag;
	using Vector = fp17::Bits;

	explicit FloatAverages(const PdpOp &op) : FloatAverages(Arith(op)) {}

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

	/** \return true if no padding takes sums of finite numbers beyond what is said of them */
	bool mayBePlain() const { return moderate_; }
	/*
	 * Of numbers that are not finite no sum is, and zero times as much is no zero; without
	 * instructions for halves they have to be seen before they are in a sum as others.
	 */
	template<bool kPlain>
	HWY_INLINE Vector load(const Element *in, Vector &seen) const
	{
		if constexpr (!kPlain)
			return fp17::load(in);
		const Vector value = fp17::widenFinite(in);
		if constexpr (!fp17::kWidensSpecial)
			seen = hn::Max(seen, fp17::magnitudeOf(value));
		return value;
	}
	static HWY_INLINE void seeRow(Vector row, Vector &seen)
	{
		if constexpr (fp17::kWidensSpecial)
			seen = fp17::asBits(hn::MulAdd(fp17::asFloat(row),
						       hn::Zero(fp17::FloatTag()),
						       fp17::asFloat(seen)));
	}
	static HWY_INLINE bool sawPlain(Vector seen)
	{
		const Vector most = fp17::constant(fp17::kLargestHalf);

		return hn::AllFalse(Tag(), hn::Gt(fp17::magnitudeOf(seen), most));
	}
	template<bool kPlain>
	HWY_INLINE Vector addInRow(Vector row, Vector in) const
	{
		return kPlain ? fp17::addModerate(row, in) : fp17::add(row, in);
	}
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return added(row, rowPad_[padded]);
	}
	template<bool kPlain>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return kPlain ? fp17::addModerate(row, sum) : fp17::add(row, sum);
	}
	/* A zero changes nothing, not even the sign of another one. */
	static HWY_INLINE Vector added(Vector sum, int32_t pad)
	{
		return (pad & fp17::kMagnitude) == 0 ? sum : fp17::add(sum, fp17::constant(pad));
	}
	template<bool kPlain>
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		Vector value = added(sum, windowPad_[padded]);

		if (kPlain && shrinks_) {
			value = fp17::shrink(value, fp17::constant(recipWidth_));
			value = fp17::shrink(value, fp17::constant(recipHeight_));
			hn::StoreU(fp17::narrowFinite(value), fp17::HalfTag(), out);
			return;
		}

		value = fp17::multiply(value, fp17::constant(recipWidth_));
		value = fp17::multiply(value, fp17::constant(recipHeight_));
		fp17::store(value, out);
	}

private:
	explicit FloatAverages(const Arith &arith)
		: recipWidth_(fp17::ofRegister(arith.recipWidth)),
		  recipHeight_(fp17::ofRegister(arith.recipHeight)),
		  moderate_(std::ranges::all_of(arith.rowPad, fp17::isModerate) &&
			    std::ranges::all_of(arith.windowPad, fp17::isModerate)),
		  shrinks_(fp17::isAtMostOne(arith.recipWidth) &&
			   fp17::isAtMostOne(arith.recipHeight))
	{
		std::ranges::transform(arith.rowPad, rowPad_.begin(), fp17::ofRegister);
		std::ranges::transform(arith.windowPad, windowPad_.begin(), fp17::ofRegister);
	}

	/* FP32 bits */
	std::array<int32_t, 8> rowPad_;
	std::array<int32_t, 8> windowPad_;
	int32_t recipWidth_;
	int32_t recipHeight_;
	bool moderate_; /* padding values are */
	bool shrinks_;	/* a sum, by both reciprocals */
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

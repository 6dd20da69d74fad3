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
#include "pdp/pdp_scaling-inl.h"

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

/** \brief PdpIntegerAverage \tparam AtOnce Int8AtOnce or Int16AtOnce */
template<class AtOnce>
class IntegerAverages
{
public:
	using Scaling = typename AtOnce::Scaling;
	using Arith = PdpIntegerAverage<Scaling::kPrecision>;
	using Element = typename Arith::Element;
	using Number = typename Arith::Number;
	using Tag = typename Scaling::Tag;
	using Vector = hn::Vec<Tag>;
	static constexpr bool kLosesSigns = false;

	explicit IntegerAverages(const PdpOp &op)
		: arith_(op), fits_(Scaling::kFits && op.padValue[0] == 0 && allFit(op))
	{
		if (fits_)
			atOnce_ = AtOnce(op.recipWidth, op.recipHeight, largestSum(op, -kLowest));
	}

	/** \return true if nothing is lost */
	bool mayBePlain() const { return fits_; }
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
	template<bool kPlain>
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		if (kPlain && padded == 0)
			return row;
		const auto value = static_cast<Number>(arith_.padValue[padded]);
		const Vector sum = hn::Add(row, hn::Set(Tag(), value));

		return kPlain ? sum : wrap<Arith::kRowBits>(Tag(), sum);
	}
	template<bool>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return hn::Add(sum, row);
	}
	template<bool kPlain>
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		/* The sum is wrapped afterwards anyhow. */
		const auto added = static_cast<Number>(arith_.padValue[padded] * arith_.width);
		const Vector all = hn::Add(sum, hn::Set(Tag(), added));
		Vector result;

		if constexpr (!kPlain)
			result = scaled(all);
		else if (!atOnce_(all, result))
			result = scaledFitting(all);
		hn::StoreU(hn::DemoteTo(ElementTag(), result), ElementTag(), out);
	}

private:
	using ElementTag = hn::Rebind<Element, Tag>;

	static constexpr int64_t kLowest = std::numeric_limits<Element>::min();

	static int64_t largestPad(const PdpOp &op)
	{
		int64_t pad = 0;

		for (const int32_t value : op.padValue)
			pad = std::max<int64_t>(pad, std::abs(int64_t{ value }));
		return pad;
	}

	/** \param largest magnitude of an element */
	static int64_t largestSum(const PdpOp &op, int64_t largest)
	{
		const int64_t pad = largestPad(op);

		return op.kernelHeight * (op.kernelWidth * largest + pad) + op.kernelWidth * pad;
	}

	/** \param largest magnitude of an element \param above of negative numbers 1 */
	static bool fitUpTo(const PdpOp &op, int64_t largest, int64_t above)
	{
		const auto fits = [&](int64_t magnitude, unsigned bits) {
			return magnitude < (int64_t{ 1 } << (bits - 1)) + above;
		};
		const auto scaled = [](int64_t sum, uint32_t reciprocal) {
			constexpr int64_t half = int64_t{ 1 } << (Arith::kFraction - 1);
			return (sum * reciprocal + half) >> Arith::kFraction;
		};
		const int64_t all = largestSum(op, largest);
		const int64_t row = scaled(all, op.recipWidth);

		return fits(op.kernelWidth * largest + largestPad(op), Arith::kRowBits) &&
		       fits(all, Arith::kSumBits) && fits(row, Arith::kScaledBits) &&
		       fits(scaled(row, op.recipHeight), Arith::kOutBits);
	}

	/** \return true if no sum and no result of a window loses bits, and divisors are above 1 */
	static bool allFit(const PdpOp &op)
	{
		return op.recipWidth <= UINT16_MAX && op.recipHeight <= UINT16_MAX &&
		       fitUpTo(op, -kLowest - 1, 0) && fitUpTo(op, -kLowest, 1);
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
	AtOnce atOnce_; /* of sums that fit */
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
	static constexpr bool kLosesSigns = true;

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

	static HWY_INLINE bool hasZero(Vector sum)
	{
		return !hn::AllTrue(fp17::FloatTag(),
				    hn::Ne(fp17::asFloat(sum), hn::Zero(fp17::FloatTag())));
	}
	/** \return true if no column of a row is negative */
	static HWY_INLINE bool hasNoSigns(const Element *from, uint32_t columns)
	{
		const fp17::HalfTag tag;
		auto bits = hn::Zero(tag);

		for (uint32_t n = 0; n < columns; n++, from += atomChannels(Precision::Fp16))
			bits = hn::Or(bits, hn::LoadU(tag, from));
		return hn::AllTrue(tag, hn::Lt(bits, hn::Set(tag, 0x8000)));
	}
	/** \return \a sum, with the sign of the row that was added last where it is zero */
	static HWY_INLINE Vector withSign(Vector sum, Vector last)
	{
		return fp17::withSignOfZero(sum, sum, last);
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
		return kPlain ? fp17::addNonzero(row, in) : fp17::add(row, in);
	}
	template<bool kPlain>
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return kPlain && padded == 0 ? row : added(row, rowPad_[padded]);
	}
	template<bool kPlain>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return kPlain ? fp17::addNonzero(row, sum) : fp17::add(row, sum);
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
		  moderate_(arith::Fp17::isZero(arith.rowPad[0]) &&
			    std::ranges::all_of(arith.rowPad, fp17::isModerate) &&
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

/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the averages of pdp_arith.h; pdp_vectors-inl.h describes their types.
 */
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "pdp/pdp_arith.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
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

/** \brief Sign-extends the lower kBits bits of a number */
template<int kBits, class D>
HWY_INLINE hn::Vec<D> wrap(D, hn::Vec<D> value)
{
	constexpr int cut = 8 * sizeof(hn::TFromD<D>) - kBits;

	return hn::ShiftRight<cut>(hn::ShiftLeft<cut>(value));
}

/**
 * \brief Multiplies magnitudes by a reciprocal of 17 bits
 *
 * \param magnitude 14 bits in 16 (INT8) or 22 bits in 32 (INT16). The lanes are too narrow for the
 *	  product, so the reciprocal's upper bit and its lower 16 bits are multiplied separately
 * \return the integer part of the product; \a half gets the first bit after the binary point
 */
template<class D>
HWY_INLINE hn::Vec<D> timesReciprocal(D bits, hn::Vec<D> magnitude, int32_t reciprocal,
				      hn::Vec<D> &half)
{
	using Bit = hn::TFromD<D>;
	const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
	const auto high = hn::And(magnitude, hn::Set(bits, static_cast<Bit>(-(reciprocal >> 16))));

	if constexpr (sizeof(Bit) == sizeof(uint16_t)) {
		half = hn::ShiftRight<15>(hn::Mul(magnitude, low));
		return hn::Add(hn::MulHigh(magnitude, low), high);
	} else {
		const auto below = hn::Mul(hn::And(magnitude, hn::Set(bits, 0xffff)), low);
		const auto above = hn::Mul(hn::ShiftRight<16>(magnitude), low);

		half = hn::And(hn::ShiftRight<15>(below), hn::Set(bits, 1));
		return hn::Add(hn::Add(above, hn::ShiftRight<16>(below)), high);
	}
}

/**
 * \brief PdpIntegerAverage in vectors
 * \tparam kAtom lanes of an atom
 */
template<Precision P, uint32_t kAtom>
class IntegerAverages
{
public:
	using Arith = PdpIntegerAverage<P>;
	using Element = typename Arith::Element;
	using Number = typename Arith::Number;
	using Tag = hn::CappedTag<Number, kAtom>;
	using Vector = hn::Vec<Tag>;

	explicit IntegerAverages(const PdpOp &op) : arith_(op) {}

	HWY_INLINE Vector load(const Element *in) const
	{
		return hn::PromoteTo(Tag(), hn::LoadU(ElementTag(), in));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return hn::Add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		const auto value = static_cast<Number>(arith_.padValue[padded]);

		return wrap<Arith::kRowBits>(Tag(), hn::Add(row, hn::Set(Tag(), value)));
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return hn::Add(sum, row); }
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const auto value = static_cast<Number>(arith_.padValue[padded] * arith_.width);
		const Vector all =
			wrap<Arith::kSumBits>(Tag(), hn::Add(sum, hn::Set(Tag(), value)));
		const Vector row = scale<Arith::kScaledBits>(all, arith_.recipWidth);
		const Vector result = scale<Arith::kOutBits>(row, arith_.recipHeight);

		hn::StoreU(hn::DemoteTo(ElementTag(), result), ElementTag(), out);
	}

private:
	using ElementTag = hn::Rebind<Element, Tag>;

	/* Like PdpIntegerAverage::scale(): before rounding, only non-negative numbers lose the
	 * bits above kBits. */
	template<int kBits>
	static HWY_INLINE Vector scale(Vector value, int32_t reciprocal)
	{
		const hn::RebindToUnsigned<Tag> bits;
		using Bit = hn::TFromD<decltype(bits)>;
		const auto sign = hn::BroadcastSignBit(value);
		const auto mask = hn::Or(hn::BitCast(bits, sign),
					 hn::Set(bits, (Bit{ 1 } << (kBits - 1)) - 1));
		hn::Vec<hn::RebindToUnsigned<Tag>> half;
		const auto whole =
			timesReciprocal(bits, hn::BitCast(bits, hn::Abs(value)), reciprocal, half);
		const auto rounded = hn::BitCast(Tag(), hn::Add(hn::And(whole, mask), half));

		return wrap<kBits>(Tag(), hn::Sub(hn::Xor(rounded, sign), sign));
	}

	const Arith arith_;
};

/** \brief PdpFloatAverage in vectors; registers must hold zero or normal finite numbers */
class FloatAverages
{
public:
	using Element = PdpFloatAverage::Element;
	using Number = int32_t;
	using Tag = fp17::Tag;
	using Vector = fp17::Bits;

	explicit FloatAverages(const PdpOp &op)
	{
		const PdpFloatAverage arith(op);

		recipWidth_ = fp17::ofRegister(arith.recipWidth);
		recipHeight_ = fp17::ofRegister(arith.recipHeight);
		std::ranges::transform(arith.rowPad, rowPad_.begin(), fp17::ofRegister);
		std::ranges::transform(arith.windowPad, windowPad_.begin(), fp17::ofRegister);
	}

	/** \return false if a register holds another number, such as infinity: OneByOne then
	 * computes the averages element by element */
	static bool accepts(const PdpOp &op)
	{
		const PdpFloatAverage arith(op);

		return fp17::isOrdinary(arith.recipWidth) && fp17::isOrdinary(arith.recipHeight) &&
		       std::ranges::all_of(arith.rowPad, fp17::isOrdinary) &&
		       std::ranges::all_of(arith.windowPad, fp17::isOrdinary);
	}

	HWY_INLINE Vector load(const Element *in) const { return fp17::load(in); }
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return fp17::add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return added(row, rowPad_[padded]);
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return fp17::add(row, sum); }
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		Vector value = added(sum, windowPad_[padded]);

		value = fp17::multiply(value, fp17::constant(recipWidth_));
		value = fp17::multiply(value, fp17::constant(recipHeight_));
		fp17::store(value, out);
	}

private:
	/* Skips zero: adding a zero of either sign must not change the sum's sign. */
	static HWY_INLINE Vector added(Vector sum, int32_t pad)
	{
		return (pad & fp17::kMagnitude) == 0 ? sum : fp17::add(sum, fp17::constant(pad));
	}

	/* FP32 bits */
	std::array<int32_t, 8> rowPad_;
	std::array<int32_t, 8> windowPad_;
	int32_t recipWidth_;
	int32_t recipHeight_;
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

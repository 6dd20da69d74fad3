/* SPDX-License-Identifier: MIT */
/*
 * What pdp_arith.h does with one element, in vectors; for files that are compiled once for each
 * instruction set (Highway). Each has the elements of memory, the numbers that it keeps, and
 * vectors of those of an atom at most.
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "pdp/pdp_arith.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_PDP_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_PDP_VECTORS_INL_H
#undef NVDLA_SIM_PDP_VECTORS_INL_H
#else
#define NVDLA_SIM_PDP_VECTORS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** \brief PdpExtreme of integers */
template<Precision P, PoolingMethod M>
struct IntegerExtremes {
	using Element = PdpElement<P>;
	using Number = Element;
	using Tag = hn::CappedTag<Number, atomChannels(P)>;
	using Vector = hn::Vec<Tag>;

	explicit IntegerExtremes(const PdpOp &) {}

	static HWY_INLINE Vector select(Vector a, Vector b)
	{
		return M == PoolingMethod::Max ? hn::Max(a, b) : hn::Min(a, b);
	}

	HWY_INLINE Vector load(const Element *in) const { return hn::LoadU(Tag(), in); }
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return select(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t) const { return row; }
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return select(row, sum); }
	HWY_INLINE void finish(Vector sum, uint32_t, Element *out) const
	{
		hn::StoreU(sum, Tag(), out);
	}
};

/** \brief PdpExtreme of FP16: 16 bits in whose order the numbers are, but for NaNs */
template<PoolingMethod M>
struct FloatExtremes {
	using Element = PdpElement<Precision::Fp16>;
	using Number = int16_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Fp16)>;
	using Vector = hn::Vec<Tag>;

	explicit FloatExtremes(const PdpOp &) {}

	/* Its own inverse. */
	static HWY_INLINE Vector ordered(Vector bits)
	{
		return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(Tag(), 0x7fff)));
	}

	static HWY_INLINE hn::Mask<Tag> isNan(Vector number)
	{
		const Vector magnitude = hn::Xor(number, hn::BroadcastSignBit(number));

		return hn::Gt(magnitude, hn::Set(Tag(), 0x7c00));
	}

	static HWY_INLINE Vector select(Vector a, Vector b)
	{
		const Vector chosen = M == PoolingMethod::Max ? hn::Max(a, b) : hn::Min(a, b);

		return hn::IfThenElse(isNan(a), a, hn::IfThenElse(isNan(b), b, chosen));
	}

	HWY_INLINE Vector load(const Element *in) const
	{
		const hn::RebindToUnsigned<Tag> bits;

		return ordered(hn::BitCast(Tag(), hn::LoadU(bits, in)));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return select(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t) const { return row; }
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return select(row, sum); }
	HWY_INLINE void finish(Vector sum, uint32_t, Element *out) const
	{
		const hn::RebindToUnsigned<Tag> bits;

		hn::StoreU(hn::BitCast(bits, ordered(sum)), bits, out);
	}
};

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

	template<int kBits>
	static HWY_INLINE Vector wrap(Vector value)
	{
		return hn::ShiftRight<16 - kBits>(hn::ShiftLeft<16 - kBits>(value));
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
		const auto sign = hn::BroadcastSignBit(value);
		const auto mask =
			hn::Or(hn::BitCast(bits, sign), hn::Set(bits, (1 << (kBits - 1)) - 1));
		const Vector rounded = hn::BitCast(Tag(), hn::Add(hn::And(whole, mask), half));

		return wrap<kBits>(hn::Sub(hn::Xor(rounded, sign), sign));
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

		return fits ? sum : wrap<Arith::kRowBits>(sum);
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
		const Vector row =
			scale<Arith::kScaledBits>(wrap<Arith::kSumBits>(all), arith.recipWidth);
		hn::StoreU(hn::DemoteTo(tag, scale<Arith::kOutBits>(row, arith.recipHeight)), tag,
			   out);
	}

	Arith arith;
	bool fits;
};

/** \brief Any of pdp_arith.h with numbers of 32 bits, one after the other */
template<typename A>
struct OneByOne {
	using Arith = A;
	using Element = typename Arith::Element;
	using Number = int32_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Int16)>;
	using Vector = hn::Vec<Tag>;

	explicit OneByOne(const PdpOp &op) : arith(op) {}

	struct Numbers {
		Number of[hn::MaxLanes(Tag())] = {};

		Numbers() {}
		explicit Numbers(Vector vector) { hn::StoreU(vector, Tag(), of); }
		HWY_INLINE Vector vector() const { return hn::LoadU(Tag(), of); }
	};

	Vector load(const Element *in) const
	{
		Numbers numbers;
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.load(in[i]);
		return numbers.vector();
	}
	Vector addInRow(Vector row, Vector in) const
	{
		Numbers numbers(row);
		const Numbers others(in);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.addInRow(numbers.of[i], others.of[i]);
		return numbers.vector();
	}
	Vector finishRow(Vector row, uint32_t padded) const
	{
		Numbers numbers(row);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.finishRow(numbers.of[i], padded);
		return numbers.vector();
	}
	Vector addRow(Vector sum, Vector row) const
	{
		Numbers numbers(sum);
		const Numbers others(row);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.addRow(numbers.of[i], others.of[i]);
		return numbers.vector();
	}
	void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const Numbers numbers(sum);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			out[i] = arith.finish(numbers.of[i], padded);
	}

	Arith arith;
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

	template<int kBits>
	static HWY_INLINE Vector wrap(Vector value)
	{
		return hn::ShiftRight<32 - kBits>(hn::ShiftLeft<32 - kBits>(value));
	}

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
		const auto sign = hn::BroadcastSignBit(value);
		const auto mask =
			hn::Or(hn::BitCast(bits, sign), hn::Set(bits, (1U << (kBits - 1)) - 1));
		const Vector rounded = hn::BitCast(Tag(), hn::Add(hn::And(whole, mask), half));

		return wrap<kBits>(hn::Sub(hn::Xor(rounded, sign), sign));
	}

	HWY_INLINE Vector load(const Element *in) const
	{
		const hn::Rebind<int16_t, Tag> tag;

		return hn::PromoteTo(Tag(), hn::LoadU(tag, in));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return hn::Add(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t padded) const
	{
		return wrap<Arith::kRowBits>(hn::Add(row, hn::Set(Tag(), arith.padValue[padded])));
	}
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return hn::Add(sum, row); }
	HWY_INLINE void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const hn::Rebind<int16_t, Tag> tag;
		const Vector added = hn::Set(Tag(), arith.padValue[padded] * arith.width);
		const Vector whole = wrap<Arith::kSumBits>(hn::Add(sum, added));
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

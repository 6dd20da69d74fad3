/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the arithmetic of pdp_arith.h, for files that are compiled once for each
 * instruction set (Highway). Each class has a type for elements in memory and one for intermediate
 * numbers. A vector has at most the lanes of an atom.
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "pdp/pdp_arith.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
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

/**
 * \brief Largest and smallest integers
 * \tparam kAtom lanes of an atom
 */
template<Precision P, PoolingMethod M, uint32_t kAtom>
struct IntegerExtremes {
	using Element = PdpElement<P>;
	using Number = Element;
	using Tag = hn::CappedTag<Number, kAtom>;
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

/**
 * \brief Maximum and minimum of FP16, compared as 16-bit integers that have the same order; a NaN
 * wins against all numbers
 *
 * If an element of the window is a NaN, the result is a NaN: the leftmost NaN of a row; of several
 * rows, the one of the bottom row.
 */
template<PoolingMethod M>
struct FloatExtremes {
	using Element = PdpElement<Precision::Fp16>;
	using Number = int16_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Fp16)>;
	using Vector = hn::Vec<Tag>;
	using BitsTag = hn::RebindToUnsigned<Tag>;
	static constexpr bool kMax = M == PoolingMethod::Max;
	/*
	 * ordered() puts NaNs at both ends, depending on their sign. Adding kTurn wraps
	 * those at the wrong end around, so that M prefers all NaNs to any number.
	 */
	static constexpr Number kTurn = kMax ? -0x3ff : 0x3ff;

	explicit FloatExtremes(const PdpOp &) {}

	/* FP16 bits to integers in the same order: reverses negative numbers. Applied twice, it
	 * returns its argument. */
	static HWY_INLINE Vector ordered(Vector bits)
	{
		return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(Tag(), 0x7fff)));
	}

	static HWY_INLINE hn::Mask<Tag> isNan(Vector number)
	{
		const Vector infinity = hn::Set(Tag(), kMax ? 0x7c00 + kTurn : ~0x7c00 + kTurn);

		return kMax ? hn::Gt(number, infinity) : hn::Lt(number, infinity);
	}

	static HWY_INLINE Vector select(Vector a, Vector b)
	{
		return hn::IfThenElse(isNan(a), a, kMax ? hn::Max(a, b) : hn::Min(a, b));
	}

	HWY_INLINE Vector load(const Element *in) const
	{
		return hn::Add(ordered(hn::BitCast(Tag(), hn::LoadU(BitsTag(), in))),
			       hn::Set(Tag(), kTurn));
	}
	HWY_INLINE Vector addInRow(Vector row, Vector in) const { return select(row, in); }
	HWY_INLINE Vector finishRow(Vector row, uint32_t) const { return row; }
	HWY_INLINE Vector addRow(Vector sum, Vector row) const { return select(row, sum); }
	HWY_INLINE void finish(Vector sum, uint32_t, Element *out) const
	{
		const Vector bits = ordered(hn::Sub(sum, hn::Set(Tag(), kTurn)));

		hn::StoreU(hn::BitCast(BitsTag(), bits), BitsTag(), out);
	}
};

/** \brief Any class of pdp_arith.h with 32-bit intermediate numbers, in vectors of one lane */
template<typename Arith>
struct OneByOne {
	using Element = typename Arith::Element;
	using Number = int32_t;
	using Tag = hn::CappedTag<Number, 1>;
	using Vector = hn::Vec<Tag>;

	explicit OneByOne(const PdpOp &op) : arith(op) {}

	Vector load(const Element *in) const { return hn::Set(Tag(), arith.load(*in)); }
	Vector addInRow(Vector row, Vector in) const
	{
		return hn::Set(Tag(), arith.addInRow(hn::GetLane(row), hn::GetLane(in)));
	}
	Vector finishRow(Vector row, uint32_t padded) const
	{
		return hn::Set(Tag(), arith.finishRow(hn::GetLane(row), padded));
	}
	Vector addRow(Vector sum, Vector row) const
	{
		return hn::Set(Tag(), arith.addRow(hn::GetLane(sum), hn::GetLane(row)));
	}
	void finish(Vector sum, uint32_t padded, Element *out) const
	{
		*out = arith.finish(hn::GetLane(sum), padded);
	}

	Arith arith;
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

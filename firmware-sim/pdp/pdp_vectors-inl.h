/* SPDX-License-Identifier: MIT */
/*
 * What pdp_arith.h does with one element, in vectors; for files that are compiled once for each
 * instruction set (Highway). Each has the elements of memory, the numbers that it keeps, and
 * vectors of those of an atom at most. Nearly all lines are plain, without numbers that need care,
 * so that most steps are shorter: load() and seeRow() collect what says in the end whether that was
 * so.
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/float_bits-inl.h"
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

/** \brief PdpExtreme of integers \tparam kAtom lanes of an atom */
template<Precision P, PoolingMethod M, uint32_t kAtom>
struct IntegerExtremes {
	using Element = PdpElement<P>;
	using Number = Element;
	using Tag = hn::CappedTag<Number, kAtom>;
	using Vector = hn::Vec<Tag>;
	static constexpr bool kLosesSigns = false;

	explicit IntegerExtremes(const PdpOp &) {}

	static HWY_INLINE Vector select(Vector a, Vector b)
	{
		return M == PoolingMethod::Max ? hn::Max(a, b) : hn::Min(a, b);
	}

	static bool mayBePlain() { return true; }
	static HWY_INLINE void seeRow(Vector, Vector &) {}
	static HWY_INLINE bool sawPlain(Vector) { return true; }
	template<bool>
	HWY_INLINE Vector load(const Element *in, Vector &) const
	{
		return hn::LoadU(Tag(), in);
	}
	template<bool>
	HWY_INLINE Vector addInRow(Vector row, Vector in) const
	{
		return select(row, in);
	}
	template<bool>
	HWY_INLINE Vector finishRow(Vector row, uint32_t) const
	{
		return row;
	}
	template<bool>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return select(row, sum);
	}
	template<bool>
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
	static constexpr bool kLosesSigns = false;

	explicit FloatExtremes(const PdpOp &) {}

	static bool mayBePlain() { return true; }

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

	template<bool kPlain>
	static HWY_INLINE Vector select(Vector a, Vector b)
	{
		const Vector chosen = M == PoolingMethod::Max ? hn::Max(a, b) : hn::Min(a, b);

		if constexpr (kPlain)
			return chosen;
		return hn::IfThenElse(isNan(a), a, hn::IfThenElse(isNan(b), b, chosen));
	}

	/** \param seen the largest magnitude of each lane */
	template<bool kPlain>
	HWY_INLINE Vector load(const Element *in, Vector &seen) const
	{
		const hn::RebindToUnsigned<Tag> bitsTag;
		const Vector bits = hn::BitCast(Tag(), hn::LoadU(bitsTag, in));

		if constexpr (kPlain)
			seen = hn::Max(seen, hn::And(bits, hn::Set(Tag(), 0x7fff)));
		return ordered(bits);
	}
	static HWY_INLINE void seeRow(Vector, Vector &) {}
	static HWY_INLINE bool sawPlain(Vector seen)
	{
		return hn::AllFalse(Tag(), hn::Gt(seen, hn::Set(Tag(), 0x7c00)));
	}
	template<bool kPlain>
	HWY_INLINE Vector addInRow(Vector row, Vector in) const
	{
		return select<kPlain>(row, in);
	}
	template<bool>
	HWY_INLINE Vector finishRow(Vector row, uint32_t) const
	{
		return row;
	}
	template<bool kPlain>
	HWY_INLINE Vector addRow(Vector sum, Vector row) const
	{
		return select<kPlain>(row, sum);
	}
	template<bool>
	HWY_INLINE void finish(Vector sum, uint32_t, Element *out) const
	{
		const hn::RebindToUnsigned<Tag> bits;

		hn::StoreU(hn::BitCast(bits, ordered(sum)), bits, out);
	}
};

/** \brief Any of pdp_arith.h with numbers of 32 bits, one after the other */
template<typename A>
struct OneByOne {
	using Arith = A;
	using Element = typename Arith::Element;
	using Number = int32_t;
	using Tag = hn::CappedTag<Number, atomChannels(Precision::Int16)>;
	using Vector = hn::Vec<Tag>;
	static constexpr bool kLosesSigns = false;

	explicit OneByOne(const PdpOp &op) : arith(op) {}

	static bool mayBePlain() { return false; }

	struct Numbers {
		Number of[hn::MaxLanes(Tag())] = {};

		Numbers() {}
		explicit Numbers(Vector vector) { hn::StoreU(vector, Tag(), of); }
		HWY_INLINE Vector vector() const { return hn::LoadU(Tag(), of); }
	};

	static void seeRow(Vector, Vector &) {}
	static bool sawPlain(Vector) { return true; }
	template<bool>
	Vector load(const Element *in, Vector &) const
	{
		Numbers numbers;
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.load(in[i]);
		return numbers.vector();
	}
	template<bool>
	Vector addInRow(Vector row, Vector in) const
	{
		Numbers numbers(row);
		const Numbers others(in);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.addInRow(numbers.of[i], others.of[i]);
		return numbers.vector();
	}
	template<bool>
	Vector finishRow(Vector row, uint32_t padded) const
	{
		Numbers numbers(row);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.finishRow(numbers.of[i], padded);
		return numbers.vector();
	}
	template<bool>
	Vector addRow(Vector sum, Vector row) const
	{
		Numbers numbers(sum);
		const Numbers others(row);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			numbers.of[i] = arith.addRow(numbers.of[i], others.of[i]);
		return numbers.vector();
	}
	template<bool>
	void finish(Vector sum, uint32_t padded, Element *out) const
	{
		const Numbers numbers(sum);
		for (size_t i = 0; i < hn::Lanes(Tag()); i++)
			out[i] = arith.finish(numbers.of[i], padded);
	}

	Arith arith;
};

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

/* SPDX-License-Identifier: MIT */
/*
 * SDP's output converter behind the integer stages, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_op.h"
#include "sdp/sdp_steps-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_STORE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_STORE_INL_H
#undef NVDLA_SIM_SDP_STORE_INL_H
#else
#define NVDLA_SIM_SDP_STORE_INL_H
#endif

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace sdp
{

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/** The output converter */
struct Converter {
	explicit Converter(const SdpOp &op)
		: scale(std::ldexp(op.converter.scale, -op.converter.shift)),
		  moved(-static_cast<double>(op.converter.offset) * scale),
		  highest(op.out == Precision::Int8 ? INT8_MAX : INT16_MAX),
		  keepsSign(op.converter.scale >= 0 && op.converter.offset <= 0)
	{
	}

	/* The offset's product and the sum are exact, too. */
	HWY_INLINE Vector scaled(Vector value) const
	{
		return hn::MulAdd(value, constant(scale), constant(moved));
	}

	/* What is behind the point is still to be cut off. */
	HWY_INLINE Vector rounded(Vector value) const
	{
		const Vector scaledValue = scaled(value);
		return hn::Add(scaledValue, hn::CopySign(constant(0.5), scaledValue));
	}

	/** \param value not negative, for a converter that keeps the sign */
	HWY_INLINE Vector roundedUp(Vector value) const
	{
		return hn::MulAdd(value, constant(scale), constant(moved + 0.5));
	}

	/* What is behind the point is cut off in the end. */
	HWY_INLINE hn::Vec<IntegerTag> clipped(Vector scaledValue) const
	{
		const Vector rounded =
			hn::Add(scaledValue, hn::CopySign(constant(0.5), scaledValue));
		return hn::DemoteTo(IntegerTag(), clip(rounded, -highest - 1, highest));
	}

	/** \return where what is clipped counts: beyond 17 bits, but for one */
	static HWY_INLINE Mask saturates(Vector scaledValue)
	{
		return hn::Or(hn::Ge(scaledValue, constant(65537.0)),
			      hn::Lt(scaledValue, constant(-65537.0)));
	}

	static HWY_INLINE uint32_t saturated(Vector scaledValue)
	{
		return static_cast<uint32_t>(hn::CountTrue(Tag(), saturates(scaledValue)));
	}

	double scale;
	double moved; /* the offset, scaled, that is added */
	double highest;
	bool keepsSign;
};

/** Numbers that fit to elements, one vector after the other */
template<typename Element, typename... Vectors>
HWY_INLINE void storeElements(Element *out, Vectors... vectors)
{
	const hn::Rebind<Element, IntegerTag> tag;

	((hn::StoreU(hn::DemoteTo(tag, vectors), tag, out), out += kLanes), ...);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE void storeElements(int8_t *out, hn::Vec<IntegerTag> a, hn::Vec<IntegerTag> b,
			      hn::Vec<IntegerTag> c, hn::Vec<IntegerTag> d)
{
	const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a.raw, b.raw),
						 _mm256_packs_epi32(c.raw, d.raw));
	/* Each half has four bytes of each vector. */
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

	_mm256_storeu_si256(reinterpret_cast<__m256i *>(out),
			    _mm256_permutevar8x32_epi32(bytes, order));
}

template<typename... Vectors>
HWY_INLINE void storeElements(int8_t *out, hn::Vec<IntegerTag> a, hn::Vec<IntegerTag> b,
			      hn::Vec<IntegerTag> c, hn::Vec<IntegerTag> d, Vectors... vectors)
{
	storeElements(out, a, b, c, d);
	storeElements(out + 4 * kLanes, vectors...);
}
#endif

/** \return whole numbers; beyond 32 bits, any that are beyond 17 */
HWY_INLINE hn::Vec<IntegerTag> truncated(Vector value)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return { _mm512_cvttpd_epi32(value.raw) };
#else
	return hn::DemoteTo(IntegerTag(), value);
#endif
}

/** Elements of the output, and their extremes before they are clipped */
template<typename Element>
struct PutElements {
	template<typename... Vectors>
	HWY_INLINE void operator()(size_t at, Vectors... values)
	{
		if (positive)
			putNumbers(out + at, truncated(convert.roundedUp(values))...);
		else
			putNumbers(out + at, truncated(convert.rounded(values))...);
	}

	template<typename... Vectors>
	HWY_INLINE void putNumbers(Element *to, Vectors... numbers)
	{
		((highest = hn::Max(highest, numbers)), ...);
		((lowest = hn::Min(lowest, numbers)), ...);
		storeElements(to, numbers...);
	}

	Element *out;
	Converter convert;
	bool positive; /* no result is negative */
	hn::Vec<IntegerTag> highest = hn::Zero(IntegerTag());
	hn::Vec<IntegerTag> lowest = hn::Zero(IntegerTag());
};

/** The same, counting those that the converter saturates */
template<typename Element>
struct PutCounted {
	template<typename... Vectors>
	HWY_INLINE void operator()(size_t at, Vectors... values)
	{
		putScaled(out + at, convert.scaled(values)...);
	}

	template<typename... Vectors>
	HWY_INLINE void putScaled(Element *to, Vectors... scaled)
	{
		((saturated += Converter::saturated(scaled)), ...);
		putNumbers(to, convert.clipped(scaled)...);
	}

	template<typename... Vectors>
	HWY_INLINE void putNumbers(Element *to, Vectors... numbers)
	{
		((any = hn::Or(any, numbers)), ...);
		storeElements(to, numbers...);
	}

	Element *out;
	Converter convert;
	uint32_t saturated = 0;
	hn::Vec<IntegerTag> any = hn::Zero(IntegerTag());
};

template<typename Element>
void storeAs(const SdpOp &op, const Steps &steps, std::byte *bytes, SdpCounters &counters)
{
	constexpr int32_t kSaturates = 65537; /* those beyond it do, and it may */
	const IntegerTag tag;
	const Converter convert(op);
	auto *out = reinterpret_cast<Element *>(bytes);
	PutElements<Element> put = { out, convert, !steps.negative && convert.keepsSign };

	forEachBlock(steps, put);
	const int32_t highest = hn::GetLane(hn::MaxOfLanes(tag, put.highest));
	const int32_t lowest = hn::GetLane(hn::MinOfLanes(tag, put.lowest));
	if (highest < kSaturates && lowest > -kSaturates) {
		counters.nonZero |= highest != 0 || lowest != 0;
		return;
	}
	/* Something may saturate: once more. */
	PutCounted<Element> counted = { out, convert };
	forEachBlock(steps, counted);
	counters.saturation += counted.saturated;
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(counted.any, hn::Zero(tag)));
}

} /* namespace sdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */

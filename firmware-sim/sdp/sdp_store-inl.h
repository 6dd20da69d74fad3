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
		  highest(op.out == Precision::Int8 ? INT8_MAX : INT16_MAX)
	{
	}

	/* The offset's product and the sum are exact, too. */
	HWY_INLINE Vector scaled(Vector value) const
	{
		return hn::MulAdd(value, constant(scale), constant(moved));
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
};

/** Numbers that fit to elements, one vector after the other */
template<typename Element, typename... Vectors>
HWY_INLINE void storeElements(Element *out, Vectors... vectors)
{
	const hn::Rebind<Element, IntegerTag> tag;

	((hn::StoreU(hn::DemoteTo(tag, vectors), tag, out), out += kLanes), ...);
}

/** Elements of the output, counting those that the converter saturates */
template<typename Element>
struct PutElements {
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
	const IntegerTag tag;
	PutElements<Element> put = { reinterpret_cast<Element *>(bytes), Converter(op) };

	forEachBlock(steps, put);
	counters.saturation += put.saturated;
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(put.any, hn::Zero(tag)));
}

} /* namespace sdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */

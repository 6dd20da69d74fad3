/* SPDX-License-Identifier: MIT */
/*
 * SDP's output converter after the integer stages, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_op.h"
#include "sdp/sdp_steps-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_SDP_STORE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_STORE_INL_H
#undef NVDLA_SIM_SDP_STORE_INL_H
#else
#define NVDLA_SIM_SDP_STORE_INL_H
#endif

/* Only for targets whose vectors have a fixed size, with doubles. */
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
	Converter() = default;
	explicit Converter(const SdpOp &op)
		: scale(std::ldexp(op.converter.scale, -op.converter.shift)),
		  moved(-static_cast<double>(op.converter.offset) * scale),
		  highest(op.out == Precision::Int8 ? INT8_MAX : INT16_MAX)
	{
	}

	/* Exact, although the offset is scaled before the sum: products and sums fit a double. */
	HWY_INLINE Vector scaled(Vector value) const
	{
		return hn::MulAdd(value, constant(scale), constant(moved));
	}

	/* Adds a half, clips, and lets the conversion to integers cut off the fraction. */
	HWY_INLINE hn::Vec<IntegerTag> clipped(Vector scaledValue) const
	{
		const Vector rounded =
			hn::Add(scaledValue, hn::CopySign(constant(0.5), scaledValue));
		return hn::DemoteTo(IntegerTag(), clip(rounded, -highest - 1, highest));
	}

	/** \return lanes that count as saturated: they exceed 17 bits by more than one */
	static HWY_INLINE Mask saturates(Vector scaledValue)
	{
		return hn::Or(hn::Ge(scaledValue, constant(65537.0)),
			      hn::Lt(scaledValue, constant(-65537.0)));
	}

	static HWY_INLINE uint32_t saturated(Vector scaledValue)
	{
		return static_cast<uint32_t>(hn::CountTrue(Tag(), saturates(scaledValue)));
	}

	double scale = 0;
	double moved = 0; /* the negative offset times the scale, to be added */
	double highest = 0;
};

/** Stores vectors of numbers, all within the range of \a Element, as elements */
template<typename Element, typename... Vectors>
HWY_INLINE void storeElements(void *elements, size_t at, Vectors... vectors)
{
	const hn::Rebind<Element, IntegerTag> tag;
	auto *out = static_cast<Element *>(elements) + at;

	((hn::StoreU(hn::DemoteTo(tag, vectors), tag, out), out += kLanes), ...);
}

/** Destination of results: numbers, or elements from the converter; counts saturated elements */
struct Results {
	int32_t *numbers;
	const SdpOp *op = nullptr;
	std::byte *elements = nullptr;
	Converter convert = op ? Converter(*op) : Converter();
	uint32_t saturated = 0;
	hn::Vec<IntegerTag> any = hn::Zero(IntegerTag());

	template<typename... Vectors>
	HWY_INLINE void operator()(size_t at, Vectors... values)
	{
		if (numbers) {
			int32_t *to = numbers + at;
			((store(values, to), to += kLanes), ...);
		} else {
			putScaled(at, convert.scaled(values)...);
		}
	}

	template<typename... Vectors>
	HWY_INLINE void putScaled(size_t at, Vectors... scaled)
	{
		((saturated += Converter::saturated(scaled)), ...);
		putClipped(at, convert.clipped(scaled)...);
	}

	template<typename... Vectors>
	HWY_INLINE void putClipped(size_t at, Vectors... clipped)
	{
		((any = hn::Or(any, clipped)), ...);
		if (op->out == Precision::Int8)
			storeElements<int8_t>(elements, at, clipped...);
		else
			storeElements<int16_t>(elements, at, clipped...);
	}

	void addTo(SdpCounters &counters) const
	{
		const IntegerTag tag;

		counters.saturation += saturated;
		counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	}
};

} /* namespace sdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */

/* SPDX-License-Identifier: MIT */
/*
 * Integers in vectors of doubles. Sums have 33 bits, products 49 (Y: 53), and a shift only
 * changes the exponent: every number is exact until it is rounded.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_fast.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_HAVE_FLOAT64 && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;
using namespace sdp;

struct PutIntegers {
	int32_t *out;

	template<typename... Vectors>
	HWY_INLINE void operator()(size_t at, Vectors... values) const
	{
		int32_t *to = out + at;
		((store(values, to), to += kLanes), ...);
	}
};

bool applyOfTarget(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		   std::span<int32_t> out)
{
	Steps steps = { .lanes = lanes, .in = in };
	PutIntegers put = { out.data() };

	if (!prepare(stages, steps))
		return false;
	forEachBlock(steps, put);
	return true;
}

/** The output converter */
struct Converter {
	explicit Converter(const SdpOp &op)
		: offset(op.converter.offset),
		  scale(std::ldexp(op.converter.scale, -op.converter.shift)),
		  highest(op.out == Precision::Int8 ? INT8_MAX : INT16_MAX)
	{
	}

	HWY_INLINE Vector scaled(Vector value) const
	{
		return hn::Mul(hn::Sub(value, constant(offset)), constant(scale));
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

	double offset;
	double scale;
	double highest;
};

bool convertOfTarget(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	const Converter convert(op);

	if (values.size() % kLanes)
		return false;
	for (size_t i = 0; i < values.size(); i += kLanes) {
		const Vector scaled = convert.scaled(load(&values[i]));
		counters.saturation += Converter::saturated(scaled);
		hn::StoreU(convert.clipped(scaled), IntegerTag(), &values[i]);
	}
	return true;
}

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
#endif

/** Elements of the output; what saturates is counted if \a kCounts, else only noticed */
template<typename Element, bool kCounts>
struct PutElements {
	template<typename... Vectors>
	HWY_INLINE void operator()(size_t at, Vectors... values)
	{
		putScaled(out + at, convert.scaled(values)...);
	}

	template<typename... Vectors>
	HWY_INLINE void putScaled(Element *to, Vectors... scaled)
	{
		if constexpr (kCounts) {
			saturated += (Converter::saturated(scaled) + ...);
		} else {
			((highest = hn::Max(highest, scaled)), ...);
			((lowest = hn::Min(lowest, scaled)), ...);
		}
		putClipped(to, convert.clipped(scaled)...);
	}

	template<typename... Vectors>
	HWY_INLINE void putClipped(Element *to, Vectors... numbers)
	{
		((bits = hn::Or(bits, numbers)), ...);
		storeElements(to, numbers...);
	}

	HWY_INLINE bool anySaturates() const
	{
		return !hn::AllFalse(
			Tag(), hn::Or(Converter::saturates(highest), Converter::saturates(lowest)));
	}

	Element *out;
	Converter convert;
	uint32_t saturated = 0;
	Vector highest = hn::Zero(Tag());
	Vector lowest = hn::Zero(Tag());
	hn::Vec<IntegerTag> bits = hn::Zero(IntegerTag()); /* that a result had */
};

template<typename Element>
void storeAs(const SdpOp &op, const Steps &steps, std::byte *bytes, SdpCounters &counters)
{
	auto *out = reinterpret_cast<Element *>(bytes);
	PutElements<Element, false> put = { out, Converter(op) };

	forEachBlock(steps, put);
	counters.nonZero |= !hn::AllTrue(IntegerTag(), hn::Eq(put.bits, hn::Zero(IntegerTag())));
	if (!put.anySaturates())
		return;
	/* Seldom: once more, counting. */
	PutElements<Element, true> again = { out, Converter(op) };
	forEachBlock(steps, again);
	counters.saturation += again.saturated;
}

bool storeOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		   std::span<const int32_t> in, std::byte *bytes, SdpCounters &counters)
{
	Steps steps = { .lanes = lanes, .in = in };

	if (!prepare(stages, steps))
		return false;
	if (op.out == Precision::Int8)
		storeAs<int8_t>(op, steps, bytes, counters);
	else
		storeAs<int16_t>(op, steps, bytes, counters);
	return true;
}

size_t operandsOfTarget(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t whole = values.size() / kLanes * kLanes;
	const double scale = std::ldexp(converter.scale, -converter.shift);

	for (size_t i = 0; i < whole; i += kLanes) {
		const Vector moved = hn::Sub(load(&values[i]), constant(converter.offset));
		store(roundAway(hn::Mul(moved, constant(scale))), &values[i]);
	}
	return whole;
}

#else

bool applyOfTarget(std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::span<int32_t>)
{
	return false;
}

bool convertOfTarget(const SdpOp &, std::span<int32_t>, SdpCounters &)
{
	return false;
}

bool storeOfTarget(const SdpOp &, std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::byte *, SdpCounters &)
{
	return false;
}

size_t operandsOfTarget(const arith::Converter &, std::span<int32_t>)
{
	return 0;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(applyOfTarget);
HWY_EXPORT(convertOfTarget);
HWY_EXPORT(storeOfTarget);
HWY_EXPORT(operandsOfTarget);

bool applySdpFast(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		  std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(applyOfTarget)(stages, lanes, in, out);
}

bool convertSdpOutputFast(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(convertOfTarget)(op, values, counters);
}

bool storeSdpFast(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		  std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(storeOfTarget)(op, stages, lanes, in, bytes.data(), counters);
}

void convertSdpOperandsFast(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(operandsOfTarget)(converter, values);

	for (int32_t &value : values.subspan(done))
		value = static_cast<int32_t>(arith::saturate<32>(converter.apply(value)));
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

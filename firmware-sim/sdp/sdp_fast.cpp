/* SPDX-License-Identifier: MIT */
/*
 * Integers in vectors of doubles. Sums have 33 bits, products 49 (Y: 53), and a shift only
 * changes the exponent: every number is exact until it is rounded.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_fast.h"

#include <cmath>

#include "sdp/sdp_line.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_bytes-inl.h"
#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line-inl.h"
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

/** \return false if something may saturate, which has to be counted */
template<typename Element>
bool storeAs(const SdpOp &op, const Steps &steps, std::byte *bytes, SdpCounters &counters)
{
	constexpr int32_t kSaturates = 65537; /* those beyond it do, and it may */
	const IntegerTag tag;
	const Converter convert(op);
	auto *out = reinterpret_cast<Element *>(bytes);
	PutElements<Element> put = { out, convert, !steps.negative && convert.keepsSign };

	forEachBlock(steps, put);
	const int32_t highest = hn::GetLane(hn::MaxOfLanes(tag, put.highest));
	const int32_t lowest = hn::GetLane(hn::MinOfLanes(tag, put.lowest));
	if (highest >= kSaturates || lowest <= -kSaturates)
		return false;
	counters.nonZero |= highest != 0 || lowest != 0;
	return true;
}

bool storeOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		   std::span<const int32_t> in, std::byte *bytes, SdpCounters &counters)
{
	Steps steps = { .lanes = lanes, .in = in };

	if (!prepare(stages, steps))
		return false;
	return op.out == Precision::Int8 ? storeAs<int8_t>(op, steps, bytes, counters)
					 : storeAs<int16_t>(op, steps, bytes, counters);
}

bool findLineOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		      SdpLine &line)
{
	return line::find(op, stages, lanes, line);
}

bool storeLineOfTarget(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		       size_t lanes, std::span<const int32_t> in, std::byte *bytes,
		       SdpCounters &counters)
{
	return line::store(op, line, stages, lanes, in, bytes, counters);
}

bool storeBytesOfTarget(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
			std::span<const std::byte> in, std::byte *bytes, SdpCounters &counters)
{
	return line::storeBytes(op, line, stages, in, bytes, counters);
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

bool findLineOfTarget(const SdpOp &, std::span<const SdpStageRun>, size_t, SdpLine &)
{
	return false;
}

bool storeLineOfTarget(const SdpOp &, const SdpLine &, std::span<const SdpStageRun>, size_t,
		       std::span<const int32_t>, std::byte *, SdpCounters &)
{
	return false;
}

bool storeBytesOfTarget(const SdpOp &, const SdpLine &, std::span<const SdpStageRun>,
			std::span<const std::byte>, std::byte *, SdpCounters &)
{
	return false;
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
HWY_EXPORT(findLineOfTarget);
HWY_EXPORT(storeLineOfTarget);
HWY_EXPORT(storeBytesOfTarget);

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

bool findSdpLine(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(findLineOfTarget)(op, stages, lanes, line);
}

bool storeSdpLine(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		  size_t lanes, std::span<const int32_t> in, std::span<std::byte> bytes,
		  SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeLineOfTarget)(op, line, stages, lanes, in, bytes.data(),
						       counters);
}

bool storeSdpLineOfBytes(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
			 std::span<const std::byte> in, std::span<std::byte> bytes,
			 SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeBytesOfTarget)(op, line, stages, in, bytes.data(),
							counters);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

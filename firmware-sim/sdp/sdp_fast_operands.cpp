/* SPDX-License-Identifier: MIT */
/*
 * Elements and operands of integers to numbers of 32 bits.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include <cmath>

#include "core/elements.h"
#include "sdp/sdp_fast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_fast_operands.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

constexpr size_t kLanes = hn::MaxLanes(Tag());

using NumberTag = hn::CappedTag<int32_t, 16>;

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

template<typename Element>
size_t widenAs(const std::byte *raw, std::span<int32_t> out, int shift)
{
	const NumberTag tag;
	const hn::Rebind<Element, NumberTag> elementTag;
	const auto *elements = reinterpret_cast<const Element *>(raw);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= out.size(); i += hn::Lanes(tag))
		hn::StoreU(hn::ShiftLeftSame(
				   hn::PromoteTo(tag, hn::LoadU(elementTag, elements + i)), shift),
			   tag, &out[i]);
	return i;
}

size_t widenOfTarget(const std::byte *raw, Precision precision, std::span<int32_t> out, int shift)
{
	return precision == Precision::Int8 ? widenAs<int8_t>(raw, out, shift)
					    : widenAs<int16_t>(raw, out, shift);
}

#else

size_t operandsOfTarget(const arith::Converter &, std::span<int32_t>)
{
	return 0;
}

size_t widenOfTarget(const std::byte *, Precision, std::span<int32_t>, int)
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

HWY_EXPORT(operandsOfTarget);
HWY_EXPORT(widenOfTarget);

void convertSdpOperandsFast(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(operandsOfTarget)(converter, values);

	for (int32_t &value : values.subspan(done))
		value = static_cast<int32_t>(arith::saturate<32>(converter.apply(value)));
}

void widenSdpElements(std::span<const std::byte> raw, Precision precision, std::span<int32_t> out,
		      int shift)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(widenOfTarget)(raw.data(), precision, out, shift);
	const auto rest = out.subspan(done);

	widenElements(raw.subspan(done * elementBytes(precision)), precision, rest);
	for (int32_t &number : rest)
		number <<= shift;
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

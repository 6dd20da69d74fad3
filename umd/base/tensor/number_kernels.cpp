/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the Highway library, which compiles this file once for each instruction set.
 */
#include "number_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/tensor/number_kernels.cpp"
#include <hwy/foreach_target.h>
/* Highway requires this header after foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors convert half precision only on x86 hosts with AVX2. On other hosts, the functions return
 * 0, so that the caller converts all elements. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

using FloatTag = hn::ScalableTag<float>;
using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;

size_t toHalvesOfTarget(const float *values, std::byte *halves, size_t count)
{
	const size_t lanes = hn::Lanes(FloatTag());
	auto *to = reinterpret_cast<hwy::float16_t *>(halves);
	size_t i = 0;

	for (; i + lanes <= count; i += lanes)
		hn::StoreU(hn::DemoteTo(HalfTag(), hn::LoadU(FloatTag(), values + i)), HalfTag(),
			   to + i);
	return i;
}

size_t toFloatsOfTarget(const std::byte *halves, float *values, size_t count)
{
	const size_t lanes = hn::Lanes(FloatTag());
	const auto *from = reinterpret_cast<const hwy::float16_t *>(halves);
	size_t i = 0;

	for (; i + lanes <= count; i += lanes)
		hn::StoreU(hn::PromoteTo(FloatTag(), hn::LoadU(HalfTag(), from + i)), FloatTag(),
			   values + i);
	return i;
}

#else

size_t toHalvesOfTarget(const float *, std::byte *, size_t)
{
	return 0;
}

size_t toFloatsOfTarget(const std::byte *, float *, size_t)
{
	return 0;
}

#endif

/* Vectors are used only on targets that have vectors of doubles; on other targets vectors
 * would be no faster. */
#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

using Tag = hn::ScalableTag<double>;
using IntegerTag = hn::Rebind<int32_t, Tag>;
using SingleTag = hn::Rebind<float, Tag>;

/* The operations are the same as in the scalar code, so results agree to the last bit. */
template<typename T>
size_t quantize(const ElementSteps &steps, const float *values, std::byte *elements, size_t count)
{
	const hn::Rebind<T, Tag> elementTag;
	const Tag tag;
	const auto scale = hn::Set(tag, steps.scale);
	const auto lowest = hn::Set(tag, steps.lowest - steps.zeroPoint);
	const auto highest = hn::Set(tag, steps.highest - steps.zeroPoint);
	const auto zeroPoint = hn::Set(IntegerTag(), steps.zeroPoint);
	const auto half = hn::Set(tag, nearlyHalf);
	auto *to = reinterpret_cast<T *>(elements);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag)) {
		const auto value = hn::PromoteTo(tag, hn::LoadU(SingleTag(), values + i));
		auto step = hn::Div(value, scale);
		step = hn::IfThenZeroElse(hn::IsNaN(step), hn::Min(hn::Max(step, lowest), highest));
		const auto whole =
			hn::DemoteTo(IntegerTag(), hn::Add(step, hn::CopySign(half, step)));
		hn::StoreU(hn::DemoteTo(elementTag, hn::Add(whole, zeroPoint)), elementTag, to + i);
	}
	return i;
}

template<typename T>
size_t dequantize(const ElementSteps &steps, const std::byte *elements, float *values, size_t count)
{
	const hn::Rebind<T, Tag> elementTag;
	const Tag tag;
	const auto scale = hn::Set(tag, steps.scale);
	const auto zeroPoint = hn::Set(IntegerTag(), steps.zeroPoint);
	const auto *from = reinterpret_cast<const T *>(elements);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag)) {
		const auto element = hn::PromoteTo(IntegerTag(), hn::LoadU(elementTag, from + i));
		const auto step = hn::PromoteTo(tag, hn::Sub(element, zeroPoint));
		hn::StoreU(hn::DemoteTo(SingleTag(), hn::Mul(scale, step)), SingleTag(),
			   values + i);
	}
	return i;
}

size_t quantizeOfTarget(const ElementSteps &steps, uint32_t elementBytes, const float *values,
			std::byte *elements, size_t count)
{
	if (steps.lowest < 0)
		return elementBytes == 1 ? quantize<int8_t>(steps, values, elements, count)
					 : quantize<int16_t>(steps, values, elements, count);
	return elementBytes == 1 ? quantize<uint8_t>(steps, values, elements, count)
				 : quantize<uint16_t>(steps, values, elements, count);
}

size_t dequantizeOfTarget(const ElementSteps &steps, uint32_t elementBytes,
			  const std::byte *elements, float *values, size_t count)
{
	if (steps.lowest < 0)
		return elementBytes == 1 ? dequantize<int8_t>(steps, elements, values, count)
					 : dequantize<int16_t>(steps, elements, values, count);
	return elementBytes == 1 ? dequantize<uint8_t>(steps, elements, values, count)
				 : dequantize<uint16_t>(steps, elements, values, count);
}

#else

size_t quantizeOfTarget(const ElementSteps &, uint32_t, const float *, std::byte *, size_t)
{
	return 0;
}

size_t dequantizeOfTarget(const ElementSteps &, uint32_t, const std::byte *, float *, size_t)
{
	return 0;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla
{

HWY_EXPORT(toHalvesOfTarget);
HWY_EXPORT(toFloatsOfTarget);
HWY_EXPORT(quantizeOfTarget);
HWY_EXPORT(dequantizeOfTarget);

size_t floatsToHalves(const float *values, std::byte *halves, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(toHalvesOfTarget)(values, halves, count);
}

size_t halvesToFloats(const std::byte *halves, float *values, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(toFloatsOfTarget)(halves, values, count);
}

size_t quantizeFloats(const ElementSteps &steps, uint32_t elementBytes, const float *values,
		      std::byte *elements, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(quantizeOfTarget)(steps, elementBytes, values, elements, count);
}

size_t dequantizeElements(const ElementSteps &steps, uint32_t elementBytes,
			  const std::byte *elements, float *values, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(dequantizeOfTarget)(steps, elementBytes, elements, values,
							count);
}

} /* namespace nvdla */

#endif /* HWY_ONCE */

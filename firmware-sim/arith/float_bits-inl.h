/* SPDX-License-Identifier: MIT */
/*
 * Conversions of floating-point numbers as bits in vectors, for files that are compiled once for
 * each instruction set (Highway). arith/float.h describes the formats.
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "core/bring_ahead.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_ARITH_FLOAT_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_ARITH_FLOAT_BITS_INL_H
#undef NVDLA_SIM_ARITH_FLOAT_BITS_INL_H
#else
#define NVDLA_SIM_ARITH_FLOAT_BITS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace float_bits
{

namespace hn = hwy::HWY_NAMESPACE;

/* At most 16 lanes: an atom has 16 channels of FP16. */
using Tag = hn::CappedTag<int32_t, 16>;
using FloatTag = hn::Rebind<float, Tag>;
using HalfTag = hn::Rebind<uint16_t, Tag>;
using Bits = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;

constexpr int32_t kMagnitude = 0x7fffffff;
constexpr int32_t kSmallest = 0x00800000;    /* smallest normal FP32 number */
constexpr int32_t kLargest = 0x7f7fffff;     /* largest finite FP32 number */
constexpr int32_t kLargestHalf = 0x477fe000; /* largest finite FP16 number, as FP32 */

HWY_INLINE Bits constant(int32_t bits)
{
	return hn::Set(Tag(), bits);
}

HWY_INLINE Bits load(const int32_t *bits)
{
	return hn::LoadU(Tag(), bits);
}

HWY_INLINE Bits magnitudeOf(Bits bits)
{
	return hn::And(bits, constant(kMagnitude));
}

HWY_INLINE Bits signOf(Bits bits)
{
	return hn::AndNot(constant(kMagnitude), bits);
}

HWY_INLINE hn::Vec<FloatTag> asFloat(Bits bits)
{
	return hn::BitCast(FloatTag(), bits);
}

HWY_INLINE Bits asBits(hn::Vec<FloatTag> value)
{
	return hn::BitCast(Tag(), value);
}

/**
 * \return FP16 bits widened to FP32 bits
 * \param nan mask of NaNs, which keep their payload
 * \param infinity mask of infinities, which become \a largest
 */
HWY_INLINE Bits widened(Bits halves, Mask nan, Mask infinity, Bits largest)
{
	const Bits magnitude = hn::And(halves, constant(0x7fff));
	const Bits sign = hn::ShiftLeft<16>(hn::Xor(halves, magnitude));
	/* Multiplying by 2^112 corrects the exponent's bias, and normalises denormals. */
	const Bits finite = asBits(
		hn::Mul(asFloat(hn::ShiftLeft<13>(magnitude)), hn::Set(FloatTag(), 0x1p112F)));
	const Bits payload = hn::Or(hn::And(halves, constant(0x3ff)), constant(0x7f800000));

	return hn::Or(sign,
		      hn::IfThenElse(nan, payload, hn::IfThenElse(infinity, largest, finite)));
}

/** \return FP32 bits, without NaNs, narrowed to FP16 bits */
HWY_INLINE Bits halvesOf(Bits bits)
{
	const Bits magnitude = magnitudeOf(bits);
	const Bits sign = hn::ShiftRight<16>(signOf(bits));
	/* Rounds to nearest even at bit 13, and corrects the exponent's bias. */
	const Bits odd = hn::And(hn::ShiftRight<13>(magnitude), constant(1));
	const Bits rounded = hn::Add(hn::Add(magnitude, odd), constant(0xfff - (112 << 23)));
	const Bits normal = hn::Min(hn::ShiftRight<13>(rounded), constant(0x7bff));
	/* Denormals: the last bit of 0.5 has the weight of a denormal's last bit, so adding 0.5
	 * aligns and rounds them. */
	const Bits half = constant(0x3f000000);
	const Bits denormal = hn::Sub(asBits(hn::Add(asFloat(magnitude), asFloat(half))), half);
	const Mask isDenormal = hn::Lt(magnitude, constant(0x38800000));

	return hn::Or(hn::And(sign, constant(0x8000)),
		      hn::IfThenElse(isDenormal, denormal, normal));
}

/**
 * \param count number of elements, a multiple of an atom's 16
 * \return true if the bits of all FP16 magnitudes are below \a limit
 */
HWY_INLINE bool halvesAreBelow(const uint16_t *halves, size_t count, uint16_t limit)
{
	const hn::CappedTag<uint16_t, 32> tag;
	const hn::CappedTag<uint16_t, 16> atomTag;
	auto largest = hn::Zero(tag);
	auto last = hn::Zero(atomTag); /* magnitudes of a last atom that fills only half a vector */
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag)) {
		bringAhead(halves + i);
		largest =
			hn::Max(largest, hn::And(hn::LoadU(tag, halves + i), hn::Set(tag, 0x7fff)));
	}
	if (i < count)
		last = hn::And(hn::LoadU(atomTag, halves + i), hn::Set(atomTag, 0x7fff));
	return hn::AllTrue(tag, hn::Lt(largest, hn::Set(tag, limit))) &&
	       hn::AllTrue(atomTag, hn::Lt(last, hn::Set(atomTag, limit)));
}

/**
 * \param bits FP16, finite
 * \return FP32 bits
 */
HWY_INLINE Bits widenFinite(const uint16_t *bits)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bits));
	return Bits{ _mm512_castps_si512(_mm512_cvtph_ps(raw)) };
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bits));
	return Bits{ _mm256_castps_si256(_mm256_cvtph_ps(raw)) };
#else
	const Mask none = hn::MaskFromVec(hn::Zero(Tag()));
	return widened(hn::PromoteTo(Tag(), hn::LoadU(HalfTag(), bits)), none, none,
		       hn::Zero(Tag()));
#endif
}

/**
 * \param bits FP32, finite
 * \return FP16, finite
 */
HWY_INLINE hn::Vec<HalfTag> narrowFinite(Bits bits)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	const auto most = asFloat(constant(kLargestHalf));
	const auto finite = hn::Min(hn::Max(asFloat(bits), hn::Neg(most)), most);
	constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if HWY_TARGET <= HWY_AVX3
	return hn::Vec<HalfTag>{ _mm512_cvtps_ph(finite.raw, kNearest) };
#else
	return hn::Vec<HalfTag>{ _mm256_cvtps_ph(finite.raw, kNearest) };
#endif
#else
	return hn::DemoteTo(HalfTag(), halvesOf(bits));
#endif
}

} /* namespace float_bits */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */

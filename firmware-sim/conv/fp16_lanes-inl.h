/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the kernels of an FP16 group, for files that are compiled once for each instruction
 * set (Highway).
 */
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "conv/fp16_cells.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_LANES_INL_H
#undef NVDLA_SIM_CONV_FP16_LANES_INL_H
#else
#define NVDLA_SIM_CONV_FP16_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

using UnsignedTag = hn::CappedTag<uint32_t, kFp16Kernels>;
using IntegerTag = hn::RebindToSigned<UnsignedTag>;
using Integers = hn::Vec<IntegerTag>;
using HalfTag = hn::Half<IntegerTag>;
using DoubleTag = hn::Rebind<double, HalfTag>;
using BitsTag = hn::RebindToSigned<DoubleTag>;
using Doubles = hn::Vec<DoubleTag>;

constexpr size_t kLanes = hn::MaxLanes(IntegerTag());
constexpr size_t kDoubleLanes = kLanes / 2;

/* Vectors of 16 bits: of as many bytes, if there are that many kernels. */
using RowTag = hn::CappedTag<int16_t, kFp16Kernels>;
using Row = hn::Vec<RowTag>;
constexpr size_t kRowLanes = hn::MaxLanes(RowTag());

HWY_INLINE Integers constant(int32_t value)
{
	return hn::Set(IntegerTag(), value);
}

HWY_INLINE Row rowOf(int16_t value)
{
	return hn::Set(RowTag(), value);
}

/** \return two to the power of numbers from 0 to 7 */
HWY_INLINE Row powerOfTwo(Row numbers)
{
	alignas(16) static constexpr uint8_t kPowers[16] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	const hn::Repartition<uint8_t, RowTag> tag;
	/* The upper byte is none: a bit says so. */
	const auto index = hn::BitCast(tag, hn::Or(numbers, rowOf(INT16_MIN)));

	return hn::BitCast(RowTag(), hn::TableLookupBytesOr0(hn::LoadDup128(tag, kPowers), index));
}

/** \return a bit for each lane, the first one lowest */
template<typename Tag>
HWY_INLINE uint32_t bitsOf(Tag tag, hn::Mask<Tag> mask)
{
	uint8_t bits[8] = {};

	hn::StoreMaskBits(tag, mask, bits);
	return bits[0] | uint32_t{ bits[1] } << 8;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/** \return what farKernelsOf() takes: not zero if there are some */
HWY_INLINE uint32_t farBitsOf(hn::Mask<RowTag> mask)
{
	return mask.raw;
}

/** \return a bit for each of kLanes kernels, the \a vector th of the row */
HWY_INLINE uint32_t farKernelsOf(uint32_t bits, size_t)
{
	return bits;
}

/** Store the lanes of \a bits one after the other, and anything behind them */
HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	const auto mask = static_cast<__mmask16>(bits);
	hn::StoreU(Integers{ _mm512_maskz_compress_epi32(mask, value.raw) }, IntegerTag(), out);
}

/** \return packed numbers in the lanes of \a bits, 0 in the others */
HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	const Integers value = hn::LoadU(IntegerTag(), packed);
	return Integers{ _mm512_maskz_expand_epi32(static_cast<__mmask16>(bits), value.raw) };
}

#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/** For eight lanes by the bits of a mask, four bits each: where a lane comes from */
struct LaneTables {
	uint32_t pack[256] = {};
	uint32_t unpack[256] = {};

	constexpr LaneTables()
	{
		for (uint32_t bits = 0; bits < 256; bits++) {
			uint32_t count = 0;
			for (uint32_t lane = 0; lane < 8; lane++) {
				if (!(bits >> lane & 1))
					continue;
				pack[bits] |= lane << (4 * count);
				unpack[bits] |= count << (4 * lane);
				count++;
			}
		}
	}
};

constexpr LaneTables kLaneTables;

/* Two bits for each kernel. */
HWY_INLINE uint32_t farBitsOf(hn::Mask<RowTag> mask)
{
	return static_cast<uint32_t>(_mm256_movemask_epi8(mask.raw));
}

HWY_INLINE uint32_t farKernelsOf(uint32_t bits, size_t vector)
{
	return _pext_u32(bits, uint32_t{ 0x5555 } << 2 * kLanes * vector);
}

HWY_INLINE Integers permute(Integers value, uint32_t from)
{
	const auto shifts = hn::Mul(hn::Iota(UnsignedTag(), 0), hn::Set(UnsignedTag(), 4));
	const auto index = hn::Shr(hn::Set(UnsignedTag(), from), shifts);
	return Integers{ _mm256_permutevar8x32_epi32(value.raw, index.raw) };
}

HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	hn::StoreU(permute(value, kLaneTables.pack[bits]), IntegerTag(), out);
}

HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	const auto laneBits = hn::Shl(constant(1), hn::Iota(IntegerTag(), 0));
	const auto mask = hn::TestBit(constant(static_cast<int32_t>(bits)), laneBits);
	const Integers value = hn::LoadU(IntegerTag(), packed);
	return hn::IfThenElseZero(mask, permute(value, kLaneTables.unpack[bits]));
}

#else

HWY_INLINE uint32_t farBitsOf(hn::Mask<RowTag> mask)
{
	return bitsOf(RowTag(), mask);
}

HWY_INLINE uint32_t farKernelsOf(uint32_t bits, size_t vector)
{
	return bits >> kLanes * vector & ((1U << kLanes) - 1);
}

HWY_INLINE void pack(Integers value, uint32_t bits, int32_t *out)
{
	alignas(64) int32_t lanes[kLanes];

	hn::Store(value, IntegerTag(), lanes);
	for (uint32_t rest = bits; rest; rest &= rest - 1)
		*out++ = lanes[std::countr_zero(rest)];
}

HWY_INLINE Integers unpack(const int32_t *packed, uint32_t bits)
{
	alignas(64) int32_t lanes[kLanes] = {};

	for (uint32_t rest = bits; rest; rest &= rest - 1)
		lanes[std::countr_zero(rest)] = *packed++;
	return hn::Load(IntegerTag(), lanes);
}

#endif

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

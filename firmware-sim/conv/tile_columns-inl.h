/* SPDX-License-Identifier: MIT */
/*
 * Rows of weights to columns, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "conv/tile_operands.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_TILE_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_TILE_COLUMNS_INL_H
#undef NVDLA_SIM_CONV_TILE_COLUMNS_INL_H
#else
#define NVDLA_SIM_CONV_TILE_COLUMNS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** \brief Values of f32 that FP16 bits stand for; those of infinities are 65536 */
template<typename Tag, typename Halves>
HWY_INLINE hn::Vec<Tag> floatsOf(Tag tag, Halves halves)
{
	const hn::RebindToUnsigned<Tag> bitsTag;
	const auto nanBits = hn::BitCast(tag, hn::Set(bitsTag, 0x7fc00000));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	const hn::Rebind<hwy::float16_t, Tag> halfTag;
	const auto infinity = hn::Set(tag, 0x1p16F);
	const auto value = hn::PromoteTo(tag, hn::BitCast(halfTag, halves));
	const auto finite = hn::Min(hn::Max(value, hn::Neg(infinity)), infinity);

	return hn::IfThenElse(hn::IsNaN(value), nanBits, finite);
#else
	const hn::RebindToSigned<Tag> signedTag;
	const auto bits = hn::PromoteTo(bitsTag, halves);
	const auto magnitude = hn::And(bits, hn::Set(bitsTag, 0x7fff));
	const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
	const auto nan = hn::Gt(hn::BitCast(signedTag, magnitude), hn::Set(signedTag, 0x7c00));
	/* With the exponent's bias made right by a product, denormals are, too. */
	const auto value =
		hn::Mul(hn::BitCast(tag, hn::ShiftLeft<13>(magnitude)), hn::Set(tag, 0x1p112F));

	return hn::IfThenElse(hn::RebindMask(tag, nan), nanBits,
			      hn::Or(value, hn::BitCast(tag, sign)));
#endif
}

/** Whether finiteFloatsOf() leaves infinities infinite */
constexpr bool kKeepsInfinities = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;

/** \brief The same where none is infinite or a NaN; what is one is no finite number afterwards,
 * or what floatsOf() makes of it */
template<typename Tag, typename Halves>
HWY_INLINE hn::Vec<Tag> finiteFloatsOf(Tag tag, Halves halves)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	const hn::Rebind<hwy::float16_t, Tag> halfTag;

	return hn::PromoteTo(tag, hn::BitCast(halfTag, halves));
#else
	return floatsOf(tag, halves);
#endif
}

/* Vectors of known size, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/* Four units of a kernel. */
using Units = hn::FixedTag<int32_t, 4>;
using UnitVector = hn::Vec<Units>;
constexpr size_t kUnitsAtOnce = 4;

/** The formats: four units of weights from \a in */
struct Bytes {
	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		return hn::LoadU(Units(), reinterpret_cast<const int32_t *>(in));
	}
};

struct Unsigned {
	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> flip(Tag tag, hn::Vec<Tag> units)
	{
		return hn::Xor(units, hn::Set(tag, static_cast<int32_t>(0x80808080)));
	}

	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		return flip(Units(), Bytes::load(in));
	}
};

struct WideBytes {
	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		const hn::FixedTag<int16_t, 8> tag;
		const hn::FixedTag<int8_t, 8> byteTag;
		return hn::BitCast(
			Units(),
			hn::PromoteTo(tag,
				      hn::LoadU(byteTag, reinterpret_cast<const int8_t *>(in))));
	}
};

struct Float {
	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		const hn::FixedTag<float, 4> tag;
		const hn::FixedTag<uint16_t, 4> halfTag;
		return hn::BitCast(
			Units(),
			floatsOf(tag, hn::LoadU(halfTag, reinterpret_cast<const uint16_t *>(in))));
	}
};

/** Four kernels' vectors of four units each to \a count units' vectors of kernels */
HWY_INLINE void storeTransposed(const UnitVector rows[4], size_t count, size_t columns,
				int32_t *out)
{
	const hn::FixedTag<int64_t, 2> pairTag;
	const Units tag;
	const auto low01 = hn::BitCast(pairTag, hn::InterleaveLower(tag, rows[0], rows[1]));
	const auto low23 = hn::BitCast(pairTag, hn::InterleaveLower(tag, rows[2], rows[3]));
	const auto high01 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, rows[0], rows[1]));
	const auto high23 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, rows[2], rows[3]));
	const UnitVector units[] = {
		hn::BitCast(tag, hn::InterleaveLower(pairTag, low01, low23)),
		hn::BitCast(tag, hn::InterleaveUpper(pairTag, low01, low23)),
		hn::BitCast(tag, hn::InterleaveLower(pairTag, high01, high23)),
		hn::BitCast(tag, hn::InterleaveUpper(pairTag, high01, high23)),
	};

	for (size_t i = 0; i < count; i++)
		hn::StoreU(units[i], tag, out + i * columns);
}

/** \return a kernel's first \a count units of weights, zeroes behind them */
template<typename Format, size_t kSourceBytes>
UnitVector loadSome(const std::byte *in, size_t count)
{
	std::byte part[kUnitsAtOnce * kSourceBytes] = {};

	std::memcpy(part, in, count * kSourceBytes);
	return Format::load(part);
}

/* As many kernels as a vector has columns: four of them in each 128 bits. */
using WideTag = hn::CappedTag<int32_t, kTileColumns / 2>;
using WideVector = hn::Vec<WideTag>;
constexpr size_t kWideKernels = hn::MaxLanes(WideTag());

/** \return what is at \a in and each \a step bytes behind it, four lanes of each */
template<typename Tag>
HWY_INLINE hn::Vec<Tag> gather(Tag tag, const std::byte *in, size_t step)
{
	using Lane = hn::TFromD<Tag>;

	if constexpr (hn::MaxLanes(Tag()) == kUnitsAtOnce) {
		return hn::LoadU(tag, reinterpret_cast<const Lane *>(in));
	} else {
		const hn::Half<Tag> half;
		constexpr size_t parts = hn::MaxLanes(Tag()) / kUnitsAtOnce;
		return hn::Combine(tag, gather(half, in + parts / 2 * step, step),
				   gather(half, in, step));
	}
}

/** Four units of each kernel */
template<typename Format>
HWY_INLINE WideVector loadWide(const std::byte *in, size_t step)
{
	const hn::Rebind<uint16_t, WideTag> halfTag;

	if constexpr (std::is_same_v<Format, Float>) {
		const hn::Rebind<float, WideTag> tag;
		return hn::BitCast(WideTag(), floatsOf(tag, gather(halfTag, in, step)));
	} else if constexpr (std::is_same_v<Format, WideBytes>) {
		const hn::Repartition<int16_t, WideTag> tag;
		const hn::Rebind<int8_t, decltype(tag)> byteTag;
		const auto bytes = hn::BitCast(byteTag, gather(halfTag, in, step));
		return hn::BitCast(WideTag(), hn::PromoteTo(tag, bytes));
	} else if constexpr (std::is_same_v<Format, Unsigned>) {
		return Unsigned::flip(WideTag(), gather(WideTag(), in, step));
	} else {
		return gather(WideTag(), in, step);
	}
}

/** Four units of kWideKernels kernels, one vector for each unit */
struct WideUnits {
	WideVector units[kUnitsAtOnce];

	/** \param in the first kernel's \param step bytes to the next one's */
	template<typename Format>
	static HWY_INLINE WideUnits load(const std::byte *in, size_t step)
	{
		const hn::Repartition<int64_t, WideTag> pairTag;
		const WideTag tag;
		const WideVector first = loadWide<Format>(in, 4 * step);
		const WideVector second = loadWide<Format>(in + step, 4 * step);
		const WideVector third = loadWide<Format>(in + 2 * step, 4 * step);
		const WideVector fourth = loadWide<Format>(in + 3 * step, 4 * step);
		const auto low01 = hn::BitCast(pairTag, hn::InterleaveLower(tag, first, second));
		const auto low23 = hn::BitCast(pairTag, hn::InterleaveLower(tag, third, fourth));
		const auto high01 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, first, second));
		const auto high23 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, third, fourth));

		return { { hn::BitCast(tag, hn::InterleaveLower(pairTag, low01, low23)),
			   hn::BitCast(tag, hn::InterleaveUpper(pairTag, low01, low23)),
			   hn::BitCast(tag, hn::InterleaveLower(pairTag, high01, high23)),
			   hn::BitCast(tag, hn::InterleaveUpper(pairTag, high01, high23)) } };
	}
};

template<typename Format>
HWY_INLINE void transposeWide(const std::byte *in, size_t step, size_t columns, int32_t *out)
{
	const WideUnits wide = WideUnits::load<Format>(in, step);

	hn::StoreU(wide.units[0], WideTag(), out);
	hn::StoreU(wide.units[1], WideTag(), out + columns);
	hn::StoreU(wide.units[2], WideTag(), out + 2 * columns);
	hn::StoreU(wide.units[3], WideTag(), out + 3 * columns);
}

/** \return kernels that are done, from the first on */
template<typename Format>
HWY_INLINE size_t transposeSomeWide(const KernelRows &rows, const std::byte *in, size_t columns,
				    int32_t *out)
{
	size_t kernel = 0;

	if constexpr (kWideKernels > kUnitsAtOnce) {
		for (; kernel + kWideKernels <= rows.kernels; kernel += kWideKernels)
			transposeWide<Format>(in + kernel * rows.step, rows.step, columns,
					      out + kernel);
	}
	return kernel;
}

/** Columns four by four; where there are fewer kernels or units, with weights of zero */
template<typename Format, size_t kSourceBytes>
void transpose(const KernelRows &rows, size_t units, size_t columns, int32_t *out)
{
	for (size_t unit = 0; unit < units; unit += kUnitsAtOnce, out += kUnitsAtOnce * columns) {
		const std::byte *in = rows.first + unit * kSourceBytes;
		const size_t count = std::min(kUnitsAtOnce, units - unit);
		size_t kernel = 0;
		if (count == kUnitsAtOnce)
			kernel = transposeSomeWide<Format>(rows, in, columns, out);
		in += kernel * rows.step;
		for (; kernel < rows.kernels; kernel += kUnitsAtOnce) {
			UnitVector loaded[kUnitsAtOnce];
			for (size_t i = 0; i < kUnitsAtOnce; i++, in += rows.step) {
				if (count == kUnitsAtOnce && kernel + i < rows.kernels)
					loaded[i] = Format::load(in);
				else if (kernel + i < rows.kernels)
					loaded[i] = loadSome<Format, kSourceBytes>(in, count);
				else
					loaded[i] = loadSome<Format, kSourceBytes>(in, 0);
			}
			storeTransposed(loaded, count, columns, out + kernel);
		}
	}
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

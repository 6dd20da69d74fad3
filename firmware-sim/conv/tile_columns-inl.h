/* SPDX-License-Identifier: MIT */
/*
 * Transposes weights, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstring>

#include <hwy/highway.h>

#include "conv/tile_operands.h"

/* An include guard that lets the file be included once for each instruction set. */
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

/** \brief Converts FP16 to f32; infinities become 65536 */
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
	/* Multiplying by 2^112 corrects the exponent's bias, for denormals as well. */
	const auto value =
		hn::Mul(hn::BitCast(tag, hn::ShiftLeft<13>(magnitude)), hn::Set(tag, 0x1p112F));

	return hn::IfThenElse(hn::RebindMask(tag, nan), nanBits,
			      hn::Or(value, hn::BitCast(tag, sign)));
#endif
}

#if HWY_TARGET != HWY_SCALAR

/* A vector with one unit of each kernel: four kernels in each 128 bits. */
using UnitTag = hn::CappedTag<int32_t, kTileColumns / 2>;
using UnitVector = hn::Vec<UnitTag>;
constexpr size_t kKernelsOfBlock = hn::MaxLanes(UnitTag());
constexpr size_t kUnitsAtOnce = 4;

/** \return four lanes from \a in, the next four from \a step bytes further, and so on */
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

/** \return four units of every fourth kernel, converted to operands; \a step as for gather() */
template<UnitFormat kFormat>
HWY_INLINE UnitVector loadUnits(const std::byte *in, size_t step)
{
	const UnitTag tag;

	if constexpr (kFormat == UnitFormat::Float) {
		const hn::Rebind<uint16_t, UnitTag> halfTag;
		const hn::Rebind<float, UnitTag> floatTag;
		return hn::BitCast(tag, floatsOf(floatTag, gather(halfTag, in, step)));
	} else if constexpr (kFormat == UnitFormat::WideBytes) {
		const hn::Rebind<uint16_t, UnitTag> halfTag;
		const hn::Repartition<int16_t, UnitTag> wideTag;
		const hn::Rebind<int8_t, decltype(wideTag)> byteTag;
		const auto bytes = hn::BitCast(byteTag, gather(halfTag, in, step));
		return hn::BitCast(tag, hn::PromoteTo(wideTag, bytes));
	} else {
		return gather(tag, in, step);
	}
}

/**
 * Transposes four units of kKernelsOfBlock kernels to four rows of columns
 * \param in units of the first kernel
 * \param step bytes between kernels
 * \param count units to store
 * \param kernels columns to store; rows of \a out are \a columns numbers apart
 */
template<UnitFormat kFormat>
HWY_INLINE void transposeFour(const std::byte *in, size_t step, size_t count, size_t kernels,
			      size_t columns, int32_t *out)
{
	const hn::Repartition<int64_t, UnitTag> pairTag;
	const UnitTag tag;
	const UnitVector first = loadUnits<kFormat>(in, 4 * step);
	const UnitVector second = loadUnits<kFormat>(in + step, 4 * step);
	const UnitVector third = loadUnits<kFormat>(in + 2 * step, 4 * step);
	const UnitVector fourth = loadUnits<kFormat>(in + 3 * step, 4 * step);
	const auto low01 = hn::BitCast(pairTag, hn::InterleaveLower(tag, first, second));
	const auto low23 = hn::BitCast(pairTag, hn::InterleaveLower(tag, third, fourth));
	const auto high01 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, first, second));
	const auto high23 = hn::BitCast(pairTag, hn::InterleaveUpper(tag, third, fourth));
	const UnitVector units[] = {
		hn::BitCast(tag, hn::InterleaveLower(pairTag, low01, low23)),
		hn::BitCast(tag, hn::InterleaveUpper(pairTag, low01, low23)),
		hn::BitCast(tag, hn::InterleaveLower(pairTag, high01, high23)),
		hn::BitCast(tag, hn::InterleaveUpper(pairTag, high01, high23)),
	};

	if (count == kUnitsAtOnce && kernels == kKernelsOfBlock) {
		hn::StoreU(units[0], tag, out);
		hn::StoreU(units[1], tag, out + columns);
		hn::StoreU(units[2], tag, out + 2 * columns);
		hn::StoreU(units[3], tag, out + 3 * columns);
		return;
	}
	for (size_t i = 0; i < count; i++)
		hn::BlendedStore(units[i], hn::FirstN(tag, kernels), tag, out + i * columns);
}

/**
 * Transposes two contiguous units of each kernel, as cores with atoms of 8 bytes have them
 * \return the number of kernels whose units were stored
 */
HWY_INLINE size_t transposePairs(const KernelRows &rows, size_t columns, int32_t *out)
{
	const hn::CappedTag<int32_t, kTileColumns / 4> tag;
	const size_t some = hn::Lanes(tag);
	const auto *in = reinterpret_cast<const int32_t *>(rows.first);
	size_t kernel = 0;

	for (; kernel + some <= rows.kernels; kernel += some, in += 2 * some) {
		const auto first = hn::LoadU(tag, in);
		const auto second = hn::LoadU(tag, in + some);
		hn::StoreU(hn::ConcatEven(tag, second, first), tag, out + kernel);
		hn::StoreU(hn::ConcatOdd(tag, second, first), tag, out + columns + kernel);
	}
	return kernel;
}

/** Transposes the rows of all kernels, four units at a time */
template<UnitFormat kFormat>
void transpose(const KernelRows &rows, size_t units, size_t columns, int32_t *out)
{
	constexpr size_t kSourceBytes = unitSourceBytes(kFormat);
	constexpr size_t kBytes = kUnitsAtOnce * kSourceBytes;
	size_t first = 0;

	if (kSourceBytes == kUnitBytes && units == 2 && rows.step == 2 * kUnitBytes)
		first = transposePairs(rows, columns, out);
	for (size_t unit = 0; unit < units; unit += kUnitsAtOnce, out += kUnitsAtOnce * columns) {
		const size_t count = std::min(kUnitsAtOnce, units - unit);
		const std::byte *in = rows.first + unit * kSourceBytes;
		for (size_t kernel = first; kernel < rows.kernels; kernel += kKernelsOfBlock) {
			const size_t some = std::min(kKernelsOfBlock, rows.kernels - kernel);
			const std::byte *from = in + kernel * rows.step;
			if (count == kUnitsAtOnce && some == kKernelsOfBlock) {
				transposeFour<kFormat>(from, rows.step, count, some, columns,
						       out + kernel);
				continue;
			}
			std::byte padded[kKernelsOfBlock][kBytes] = {};
			for (size_t i = 0; i < some; i++)
				std::memcpy(padded[i], from + i * rows.step, count * kSourceBytes);
			transposeFour<kFormat>(padded[0], kBytes, count, some, columns,
					       out + kernel);
		}
	}
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

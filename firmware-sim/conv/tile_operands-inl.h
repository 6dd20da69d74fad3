/* SPDX-License-Identifier: MIT */
/*
 * Implements tile_operands.h; compiled once for each instruction set (Highway), by conv_simd.cpp.
 */
#include "conv/tile_operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "conv/conv_tile.h"

#include <hwy/highway.h>

#include "conv/tile_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** Converts to LineFormat::WideBytes */
struct ToWide {
	using In = int8_t;
	using Out = int16_t;

	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> load(Tag tag, const In *in)
	{
		return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<In, Tag>(), in));
	}
};

/** Converts to LineFormat::Floats */
struct ToFloats {
	using In = uint16_t;
	using Out = float;

	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> load(Tag tag, const In *in)
	{
		return floatsOf(tag, hn::LoadU(hn::Rebind<In, Tag>(), in));
	}
};

/** Converts to LineFormat::Bytes */
struct ToBytes {
	using In = uint8_t;
	using Out = uint8_t;

	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> load(Tag tag, const In *in)
	{
		return hn::LoadU(tag, in);
	}
};

/** Converts to LineFormat::Unsigned */
struct ToUnsigned : ToBytes {
	template<typename Tag>
	static HWY_INLINE hn::Vec<Tag> load(Tag tag, const In *in)
	{
		return hn::Xor(hn::LoadU(tag, in), hn::Set(tag, 0x80));
	}
};

/** Converts a part: whole vectors first, then smaller ones, as most parts are short */
template<typename To, size_t kMost = 64>
HWY_INLINE void packPart(const typename To::In *in, size_t count, typename To::Out *out)
{
	const hn::CappedTag<typename To::Out, kMost> tag;
	constexpr size_t kLanes = hn::MaxLanes(tag);
	size_t i = 0;

	for (; i + kLanes <= count; i += kLanes)
		hn::StoreU(To::load(tag, in + i), tag, out + i);
	if constexpr (kLanes > 4)
		packPart<To, kLanes / 2>(in + i, count - i, out + i);
	else if (i < count) {
		typename To::In rest[kLanes] = {};
		typename To::Out values[kLanes];
		std::copy_n(in + i, count - i, rest);
		hn::StoreU(To::load(tag, rest), tag, values);
		std::copy_n(values, count - i, out + i);
	}
}

/** Converts all parts of a piece, each of \a count elements, which is a constant after inlining */
template<typename To>
HWY_INLINE void packParts(const LinePiece &piece, size_t count, typename To::Out *out)
{
	for (size_t i = 0; i < piece.parts; i++)
		packPart<To>(
			reinterpret_cast<const typename To::In *>(piece.from + i * piece.fromStep),
			count, out + i * piece.toStep / sizeof(typename To::In));
}

template<typename To>
void packAll(const LinePiece &piece, std::byte *to)
{
	constexpr size_t kAtom = atomBytes / sizeof(typename To::In);
	auto *out = reinterpret_cast<typename To::Out *>(to);

	/* The usual sizes of parts become constants: from a quarter of an atom to an entry. */
	if (piece.bytes == atomBytes / 4)
		packParts<To>(piece, kAtom / 4, out);
	else if (piece.bytes == atomBytes / 2)
		packParts<To>(piece, kAtom / 2, out);
	else if (piece.bytes == atomBytes)
		packParts<To>(piece, kAtom, out);
	else if (piece.bytes == 2 * atomBytes)
		packParts<To>(piece, 2 * kAtom, out);
	else if (piece.bytes == kEntryBytes)
		packParts<To>(piece, 4 * kAtom, out);
	else
		packParts<To>(piece, piece.bytes / sizeof(typename To::In), out);
}

void packOfTarget(LineFormat format, const LinePiece &piece, std::byte *out)
{
	switch (format) {
	case LineFormat::Bytes:
		return packAll<ToBytes>(piece, out);
	case LineFormat::Unsigned:
		return packAll<ToUnsigned>(piece, out);
	case LineFormat::WideBytes:
		return packAll<ToWide>(piece, out);
	case LineFormat::Floats:
		return packAll<ToFloats>(piece, out);
	}
}

bool areFiniteOfTarget(const std::byte *halves, size_t count)
{
	constexpr uint16_t kMagnitude = 0x7fff;
	constexpr uint16_t kInfinity = 0x7c00;
	const hn::ScalableTag<uint16_t> tag;
	const auto *in = reinterpret_cast<const uint16_t *>(halves);
	const size_t lanes = hn::Lanes(tag);
	const auto mask = hn::Set(tag, kMagnitude);
	auto first = hn::Zero(tag);
	auto second = hn::Zero(tag);
	bool finite = true;
	size_t i = 0;

	for (; i + 2 * lanes <= count; i += 2 * lanes) {
		first = hn::Max(first, hn::And(hn::LoadU(tag, in + i), mask));
		second = hn::Max(second, hn::And(hn::LoadU(tag, in + i + lanes), mask));
	}
	for (; i < count; i++)
		finite = finite && (in[i] & kMagnitude) < kInfinity;
	return finite && hn::AllTrue(tag, hn::Lt(hn::Max(first, second), hn::Set(tag, kInfinity)));
}

#if HWY_TARGET != HWY_SCALAR

template<typename Element>
bool ownElementsOf(const KernelRows &rows, std::byte *own)
{
	constexpr size_t kElements = atomBytes / sizeof(Element);
	const hn::CappedTag<Element, kElements> tag;
	constexpr size_t kLanes = hn::MaxLanes(tag);
	auto others = hn::Zero(tag);

	for (size_t first = 0; first < kElements; first += kLanes) {
		const auto numbers = hn::Iota(tag, static_cast<Element>(first));
		const std::byte *atom = rows.first + first * sizeof(Element);
		auto found = hn::Zero(tag);
		for (size_t kernel = 0; kernel < rows.kernels; kernel++, atom += rows.step) {
			const auto elements =
				hn::LoadU(tag, reinterpret_cast<const Element *>(atom));
			const auto isOwn =
				hn::Eq(numbers, hn::Set(tag, static_cast<Element>(kernel)));
			found = hn::Or(found, hn::IfThenElseZero(isOwn, elements));
			others = hn::Or(others, hn::IfThenZeroElse(isOwn, elements));
		}
		hn::StoreU(found, tag, reinterpret_cast<Element *>(own) + first);
	}
	return hn::AllTrue(tag, hn::Eq(others, hn::Zero(tag)));
}

bool ownElementsOfTarget(const KernelRows &rows, size_t elementBytes, std::byte *own)
{
	return elementBytes == sizeof(uint8_t) ? ownElementsOf<uint8_t>(rows, own)
					       : ownElementsOf<uint16_t>(rows, own);
}

size_t putUnitsOfTarget(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out)
{
	switch (format) {
	case UnitFormat::Bytes:
		transpose<UnitFormat::Bytes>(rows, units, kTileColumns, out);
		break;
	case UnitFormat::WideBytes:
		transpose<UnitFormat::WideBytes>(rows, units, kTileColumns, out);
		break;
	case UnitFormat::Float:
		transpose<UnitFormat::Float>(rows, units, kTileColumns, out);
		break;
	}
	return units;
}

Int16Magnitudes magnitudesOfTarget(const std::byte *numbers, size_t count)
{
	const hn::ScalableTag<uint32_t> tag;
	const hn::Repartition<int16_t, decltype(tag)> numberTag;
	const size_t step = hn::Lanes(numberTag);
	int16_t rest[hn::MaxLanes(numberTag)] = {};
	auto number = hn::Zero(tag);
	auto pair = hn::Zero(tag);
	size_t i = 0;
	const auto add = [&](const void *at) HWY_ATTR {
		/* The magnitude of INT16_MIN is correct as an unsigned number. */
		const auto both = hn::BitCast(
			tag, hn::Abs(hn::LoadU(numberTag, static_cast<const int16_t *>(at))));
		const auto one = hn::And(both, hn::Set(tag, UINT16_MAX));
		const auto other = hn::ShiftRight<16>(both);
		number = hn::Max(number, hn::Max(one, other));
		pair = hn::Max(pair, hn::Add(one, other));
	};

	for (; i + step <= count; i += step)
		add(numbers + i * sizeof(int16_t));
	if (i < count)
		std::memcpy(rest, numbers + i * sizeof(int16_t), (count - i) * sizeof(int16_t));
	add(rest);
	return { hn::GetLane(hn::MaxOfLanes(tag, number)), hn::GetLane(hn::MaxOfLanes(tag, pair)) };
}

#else

bool ownElementsOfTarget(const KernelRows &, size_t, std::byte *)
{
	return false;
}

size_t putUnitsOfTarget(UnitFormat, const KernelRows &, size_t, int32_t *)
{
	return 0;
}

Int16Magnitudes magnitudesOfTarget(const std::byte *, size_t)
{
	return {};
}

#endif

bool anyNanOfTarget(const float *numbers, size_t count)
{
	const hn::ScalableTag<float> tag;
	const size_t lanes = hn::Lanes(tag);
	auto nans = hn::IsNaN(hn::Zero(tag));
	bool any = false;
	size_t i = 0;

	for (; i + lanes <= count; i += lanes)
		nans = hn::Or(nans, hn::IsNaN(hn::LoadU(tag, numbers + i)));
	for (; i < count; i++)
		any |= std::isnan(numbers[i]);
	return any || !hn::AllFalse(tag, nans);
}

bool anyNegativeOfTarget(const std::byte *numbers, size_t count)
{
	const hn::ScalableTag<int8_t> tag;
	const auto *in = reinterpret_cast<const int8_t *>(numbers);
	auto all = hn::Zero(tag);
	int rest = 0;
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		all = hn::Or(all, hn::LoadU(tag, in + i));
	for (; i < count; i++)
		rest |= in[i];
	return rest < 0 || !hn::AllFalse(tag, hn::Lt(all, hn::Zero(tag)));
}

/** Expands 64 bits of elements: the next packed element for a mask bit that is 1, else zero */
template<typename Element>
HWY_INLINE uint64_t expanded(unsigned int mask, const std::byte *packed)
{
	uint64_t out = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	constexpr uint64_t kAll = std::numeric_limits<Element>::max();

	std::memcpy(&out, packed, sizeof(out));
	return _pdep_u64(out, _pdep_u64(mask, ~uint64_t{ 0 } / kAll) * kAll);
#else
	for (; mask; mask &= mask - 1, packed += sizeof(Element))
		std::memcpy(reinterpret_cast<std::byte *>(&out) +
				    static_cast<size_t>(std::countr_zero(mask)) * sizeof(Element),
			    packed, sizeof(Element));
	return out;
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/** Expands whole vectors of 64 bytes, if the host can, and advances \a packed and \a out.
 * \return the bytes of the mask that remain to be expanded */
template<typename Element>
ControlView expandVectors(ControlView masks, const std::byte *&packed, std::byte *&out)
{
	constexpr size_t kMaskBytes = 8 / sizeof(Element);
	const hn::FixedTag<uint8_t, 64> tag;

	if (!__builtin_cpu_supports("avx512vbmi2"))
		return masks;
	for (; masks.size() >= kMaskBytes; masks = masks.subspan(kMaskBytes)) {
		uint64_t mask = 0;
		std::memcpy(&mask, masks.data(), kMaskBytes);
		auto elements = hn::LoadU(tag, reinterpret_cast<const uint8_t *>(packed));
		if constexpr (sizeof(Element) == sizeof(uint8_t))
			asm("vpexpandb %0, %0%{%1%}%{z%}" : "+v"(elements.raw) : "Yk"(mask));
		else
			asm("vpexpandw %0, %0%{%1%}%{z%}" : "+v"(elements.raw) : "Yk"(mask));
		hn::StoreU(elements, tag, reinterpret_cast<uint8_t *>(out));
		packed += static_cast<size_t>(std::popcount(mask)) * sizeof(Element);
		out += hn::Lanes(tag);
	}
	return masks;
}
#endif

template<typename Element>
void expandAll(ControlView masks, const std::byte *packed, std::byte *out)
{
	constexpr unsigned int kElements = sizeof(uint64_t) / sizeof(Element);

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	masks = expandVectors<Element>(masks, packed, out);
#endif
	for (const std::byte mask : masks) {
		for (unsigned int bit = 0; bit < 8; bit += kElements, out += sizeof(uint64_t)) {
			const unsigned int some = std::to_integer<unsigned int>(mask) >> bit &
						  ((1U << kElements) - 1);
			const uint64_t elements = expanded<Element>(some, packed);
			std::memcpy(out, &elements, sizeof(elements));
			packed += static_cast<size_t>(std::popcount(some)) * sizeof(Element);
		}
	}
}

/* Compiled for each target, since not every host has an instruction that counts ones. */
size_t countOfTarget(ControlView masks)
{
	uint64_t some = 0;
	size_t ones = 0;
	size_t i = 0;

	for (; i + sizeof(some) <= masks.size(); i += sizeof(some)) {
		std::memcpy(&some, masks.data() + i, sizeof(some));
		ones += static_cast<size_t>(std::popcount(some));
	}
	for (; i < masks.size(); i++)
		ones += static_cast<size_t>(std::popcount(std::to_integer<uint8_t>(masks[i])));
	return ones;
}

void expandOfTarget(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out)
{
	if (elementBytes == sizeof(uint8_t))
		expandAll<uint8_t>(masks, packed, out);
	else
		expandAll<uint16_t>(masks, packed, out);
}

void roundSumsOfTarget(int32_t *sums, size_t count, uint32_t truncate)
{
	const hn::CappedTag<int32_t, 16> tag;
	const int shift = static_cast<int>(truncate);

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		const auto value = hn::LoadU(tag, sums + i);
		const auto sign = hn::BroadcastSignBit(value);
		const auto magnitude = hn::Sub(hn::Xor(value, sign), sign);
		const auto half =
			hn::And(hn::ShiftRightSame(magnitude, shift - 1), hn::Set(tag, 1));
		const auto rounded = hn::Add(hn::ShiftRightSame(magnitude, shift), half);
		hn::StoreU(hn::Sub(hn::Xor(rounded, sign), sign), tag, sums + i);
	}
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(packOfTarget);
HWY_EXPORT(areFiniteOfTarget);
HWY_EXPORT(putUnitsOfTarget);
HWY_EXPORT(ownElementsOfTarget);
HWY_EXPORT(anyNanOfTarget);
HWY_EXPORT(anyNegativeOfTarget);
HWY_EXPORT(magnitudesOfTarget);
HWY_EXPORT(countOfTarget);
HWY_EXPORT(expandOfTarget);
HWY_EXPORT(roundSumsOfTarget);

void packPiece(LineFormat format, const LinePiece &piece, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(packOfTarget)(format, piece, out);
}

bool areFinite(const std::byte *halves, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(areFiniteOfTarget)(halves, count);
}

size_t putUnits(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out)
{
	return HWY_DYNAMIC_DISPATCH(putUnitsOfTarget)(format, rows, units, out);
}

bool ownElements(const KernelRows &rows, size_t elementBytes, std::byte *own)
{
	return HWY_DYNAMIC_DISPATCH(ownElementsOfTarget)(rows, elementBytes, own);
}

bool anyNan(const float *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(anyNanOfTarget)(numbers, count);
}

bool anyNegative(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(anyNegativeOfTarget)(numbers, count);
}

Int16Magnitudes magnitudesOf(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(magnitudesOfTarget)(numbers, count);
}

size_t countOnes(ControlView masks)
{
	return HWY_DYNAMIC_DISPATCH(countOfTarget)(masks);
}

void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(expandOfTarget)(masks, packed, elementBytes, out);
}

void roundSums(int32_t *sums, size_t count, uint32_t truncate)
{
	HWY_DYNAMIC_DISPATCH(roundSumsOfTarget)(sums, count, truncate);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

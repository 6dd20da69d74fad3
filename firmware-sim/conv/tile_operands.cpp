/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/tile_operands.h"

#include <algorithm>
#include <cstring>

#include "conv/conv_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/tile_operands.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/tile_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

void widenBytesOfTarget(const std::byte *bytes, size_t count, int16_t *out)
{
	const hn::ScalableTag<int16_t> tag;
	const hn::Rebind<int8_t, decltype(tag)> byteTag;
	const auto *in = reinterpret_cast<const int8_t *>(bytes);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		hn::StoreU(hn::PromoteTo(tag, hn::LoadU(byteTag, in + i)), tag, out + i);
	for (; i < count; i++)
		out[i] = in[i];
}

/** \a count is almost always that of one atom or more */
HWY_INLINE void flipPart(const uint8_t *in, size_t count, uint8_t *out)
{
	constexpr uint8_t kSign = 0x80;
	const hn::ScalableTag<uint8_t> tag;
	const hn::CappedTag<uint8_t, atomBytes / 2> smallTag;
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		hn::StoreU(hn::Xor(hn::LoadU(tag, in + i), hn::Set(tag, kSign)), tag, out + i);
	for (; i + hn::Lanes(smallTag) <= count; i += hn::Lanes(smallTag))
		hn::StoreU(hn::Xor(hn::LoadU(smallTag, in + i), hn::Set(smallTag, kSign)), smallTag,
			   out + i);
	for (; i < count; i++)
		out[i] = in[i] ^ kSign;
}

void flipSignsOfTarget(const LinePiece &piece, std::byte *out)
{
	const auto *in = reinterpret_cast<const uint8_t *>(piece.from);
	auto *to = reinterpret_cast<uint8_t *>(out);

	if (piece.bytes == kEntryBytes) {
		for (size_t i = 0; i < piece.parts; i++)
			flipPart(in + i * piece.fromStep, kEntryBytes, to + i * piece.toStep);
		return;
	}
	for (size_t i = 0; i < piece.parts; i++)
		flipPart(in + i * piece.fromStep, piece.bytes, to + i * piece.toStep);
}

void highBytesOfTarget(const std::byte *numbers, size_t count, std::byte *out)
{
	constexpr int16_t kSign = 128;
	const hn::ScalableTag<int16_t> tag;
	const hn::Rebind<uint8_t, decltype(tag)> byteTag;
	const auto *in = reinterpret_cast<const int16_t *>(numbers);
	auto *to = reinterpret_cast<uint8_t *>(out);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag)) {
		const auto high = hn::ShiftRight<8>(hn::LoadU(tag, in + i));
		hn::StoreU(hn::DemoteTo(byteTag, hn::Add(high, hn::Set(tag, kSign))), byteTag,
			   to + i);
	}
	for (; i < count; i++)
		to[i] = static_cast<uint8_t>((in[i] >> 8) + kSign);
}

void widenHalvesOfTarget(const std::byte *halves, size_t count, float *out)
{
	const hn::ScalableTag<float> tag;
	const hn::Rebind<uint16_t, decltype(tag)> halfTag;
	const size_t lanes = hn::Lanes(tag);
	uint16_t rest[hn::MaxLanes(tag)] = {};
	float values[hn::MaxLanes(tag)];

	for (; count >= lanes; count -= lanes, halves += lanes * sizeof(uint16_t), out += lanes) {
		std::memcpy(rest, halves, lanes * sizeof(uint16_t));
		hn::StoreU(floatsOf(tag, hn::LoadU(halfTag, rest)), tag, out);
	}
	std::memcpy(rest, halves, count * sizeof(uint16_t));
	hn::StoreU(floatsOf(tag, hn::LoadU(halfTag, rest)), tag, values);
	std::copy_n(values, count, out);
}

/* Vectors of known size, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

void putUnitsOfTarget(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
		      int32_t *out)
{
	switch (format) {
	case UnitFormat::Bytes:
		transpose<Bytes, 4>(rows, units, columns, out);
		break;
	case UnitFormat::WideBytes:
		transpose<WideBytes, 2>(rows, units, columns, out);
		break;
	case UnitFormat::Float:
		transpose<Float, 2>(rows, units, columns, out);
		break;
	}
}

#else

void putUnitsOfTarget(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
		      int32_t *out)
{
	putUnitsReference(format, rows, units, columns, out);
}

#endif

Int16Range rangeOfTarget(const std::byte *numbers, size_t count)
{
	const hn::ScalableTag<int16_t> tag;
	const auto *in = reinterpret_cast<const int16_t *>(numbers);
	auto highest = hn::Zero(tag);
	auto lowest = hn::Zero(tag);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag)) {
		highest = hn::Max(highest, hn::LoadU(tag, in + i));
		lowest = hn::Min(lowest, hn::LoadU(tag, in + i));
	}
	Int16Range range;
	int16_t ends[2 * hn::MaxLanes(tag)];
	hn::StoreU(highest, tag, ends);
	hn::StoreU(lowest, tag, ends + hn::Lanes(tag));
	for (size_t lane = 0; lane < 2 * hn::Lanes(tag); lane++)
		range.add(ends[lane]);
	for (; i < count; i++)
		range.add(in[i]);
	return range;
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

HWY_EXPORT(widenBytesOfTarget);
HWY_EXPORT(flipSignsOfTarget);
HWY_EXPORT(highBytesOfTarget);
HWY_EXPORT(widenHalvesOfTarget);
HWY_EXPORT(putUnitsOfTarget);
HWY_EXPORT(rangeOfTarget);
HWY_EXPORT(roundSumsOfTarget);

void widenBytes(const std::byte *bytes, size_t count, int16_t *out)
{
	HWY_DYNAMIC_DISPATCH(widenBytesOfTarget)(bytes, count, out);
}

void flipSigns(const LinePiece &piece, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(flipSignsOfTarget)(piece, out);
}

void highBytes(const std::byte *numbers, size_t count, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(highBytesOfTarget)(numbers, count, out);
}

void widenHalves(const std::byte *halves, size_t count, float *out)
{
	HWY_DYNAMIC_DISPATCH(widenHalvesOfTarget)(halves, count, out);
}

void putUnits(UnitFormat format, const KernelRows &rows, size_t units, size_t columns, int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(putUnitsOfTarget)(format, rows, units, columns, out);
}

void putUnitsReference(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
		       int32_t *out)
{
	for (size_t kernel = 0; kernel < rows.kernels; kernel++) {
		for (size_t unit = 0; unit < units; unit++) {
			const std::byte *in =
				rows.first + kernel * rows.step + unit * unitSourceBytes(format);
			int32_t *to = out + unit * columns + kernel;
			int16_t halves[2];
			switch (format) {
			case UnitFormat::Bytes:
				std::memcpy(to, in, sizeof(*to));
				break;
			case UnitFormat::WideBytes:
				widenBytes(in, std::size(halves), halves);
				std::memcpy(to, halves, sizeof(*to));
				break;
			case UnitFormat::Float:
				widenHalves(in, 1, reinterpret_cast<float *>(to));
				break;
			}
		}
	}
}

Int16Range rangeOf(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(rangeOfTarget)(numbers, count);
}

void roundSums(int32_t *sums, size_t count, uint32_t truncate)
{
	HWY_DYNAMIC_DISPATCH(roundSumsOfTarget)(sums, count, truncate);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

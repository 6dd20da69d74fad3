/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/tile_operands.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "conv/conv_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/tile_operands.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** \brief Values of f32 that FP16 bits stand for */
template<typename Tag, typename Halves>
HWY_INLINE hn::Vec<Tag> floatsOf(Tag tag, Halves halves)
{
	const hn::RebindToUnsigned<Tag> bitsTag;
	const hn::RebindToSigned<Tag> signedTag;
	const auto bits = hn::PromoteTo(bitsTag, halves);
	const auto magnitude = hn::And(bits, hn::Set(bitsTag, 0x7fff));
	const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
	const auto nan = hn::Gt(hn::BitCast(signedTag, magnitude), hn::Set(signedTag, 0x7c00));
	/* With the exponent's bias made right by a product, denormals are, too. */
	const auto value =
		hn::Mul(hn::BitCast(tag, hn::ShiftLeft<13>(magnitude)), hn::Set(tag, 0x1p112F));

	return hn::IfThenElse(hn::RebindMask(tag, nan),
			      hn::BitCast(tag, hn::Set(bitsTag, 0x7fc00000)),
			      hn::Or(value, hn::BitCast(tag, sign)));
}

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

/** \a count is almost always that of four atoms */
HWY_INLINE void flipPart(const uint8_t *in, size_t count, uint8_t *out)
{
	constexpr uint8_t kSign = 0x80;
	const hn::ScalableTag<uint8_t> tag;
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		hn::StoreU(hn::Xor(hn::LoadU(tag, in + i), hn::Set(tag, kSign)), tag, out + i);
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

struct LowHalves {
	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		return hn::And(Bytes::load(in), hn::Set(Units(), 0x00ff00ff));
	}
};

struct HighHalves {
	static HWY_INLINE UnitVector load(const std::byte *in)
	{
		const hn::FixedTag<int16_t, 8> tag;
		return hn::BitCast(Units(), hn::ShiftRight<8>(hn::BitCast(tag, Bytes::load(in))));
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

/** The formats whose kernels are worked on so: four units of each */
template<typename Format>
HWY_INLINE WideVector loadWide(const std::byte *in, size_t step)
{
	if constexpr (std::is_same_v<Format, Float>) {
		const hn::Rebind<float, WideTag> tag;
		const hn::Rebind<uint16_t, WideTag> halfTag;
		return hn::BitCast(WideTag(), floatsOf(tag, gather(halfTag, in, step)));
	} else {
		return gather(WideTag(), in, step);
	}
}

/** Four units of kWideKernels kernels */
template<typename Format>
HWY_INLINE void transposeWide(const std::byte *in, size_t step, size_t columns, int32_t *out)
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

	hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairTag, low01, low23)), tag, out);
	hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairTag, low01, low23)), tag,
		   out + columns);
	hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairTag, high01, high23)), tag,
		   out + 2 * columns);
	hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairTag, high01, high23)), tag,
		   out + 3 * columns);
}

/** \return kernels that are done, from the first on */
template<typename Format>
HWY_INLINE size_t transposeSomeWide(const KernelRows &rows, const std::byte *in, size_t columns,
				    int32_t *out)
{
	size_t kernel = 0;

	if constexpr (kWideKernels > kUnitsAtOnce &&
		      (std::is_same_v<Format, Bytes> || std::is_same_v<Format, Float>)) {
		for (; kernel + kWideKernels <= rows.kernels; kernel += kWideKernels)
			transposeWide<Format>(in + kernel * rows.step, rows.step, columns,
					      out + kernel);
	}
	return kernel;
}

/** Columns four by four; where there are fewer kernels or units, with zeroes in their place */
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
					loaded[i] = hn::Zero(Units());
			}
			storeTransposed(loaded, count, columns, out + kernel);
		}
	}
}

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
	case UnitFormat::Halves:
		transpose<LowHalves, 4>(rows, units, columns, out);
		transpose<HighHalves, 4>(rows, units, columns, out + kTileColumns / 2);
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

uint32_t largestOfTarget(const std::byte *numbers, size_t count)
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
	int32_t largest = 0;
	int16_t ends[2 * hn::MaxLanes(tag)];
	hn::StoreU(highest, tag, ends);
	hn::StoreU(lowest, tag, ends + hn::Lanes(tag));
	for (size_t lane = 0; lane < 2 * hn::Lanes(tag); lane++)
		largest = std::max<int32_t>(largest, std::abs(ends[lane]));
	for (; i < count; i++)
		largest = std::max<int32_t>(largest, std::abs(in[i]));
	return static_cast<uint32_t>(largest);
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

void addHalvesOfTarget(const int32_t *sums, size_t positions, int64_t *wide)
{
	constexpr size_t kKernels = kTileColumns / 2;
	const hn::CappedTag<int64_t, 8> tag;
	const hn::Rebind<int32_t, decltype(tag)> sumTag;

	for (size_t p = 0; p < positions; p++, sums += kTileColumns, wide += kKernels) {
		for (size_t k = 0; k < kKernels; k += hn::Lanes(tag)) {
			const auto low = hn::PromoteTo(tag, hn::LoadU(sumTag, sums + k));
			const auto high =
				hn::PromoteTo(tag, hn::LoadU(sumTag, sums + kKernels + k));
			const auto sum = hn::Add(low, hn::ShiftLeft<8>(high));
			hn::StoreU(hn::Add(hn::LoadU(tag, wide + k), sum), tag, wide + k);
		}
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
HWY_EXPORT(widenHalvesOfTarget);
HWY_EXPORT(putUnitsOfTarget);
HWY_EXPORT(largestOfTarget);
HWY_EXPORT(roundSumsOfTarget);
HWY_EXPORT(addHalvesOfTarget);

void widenBytes(const std::byte *bytes, size_t count, int16_t *out)
{
	HWY_DYNAMIC_DISPATCH(widenBytesOfTarget)(bytes, count, out);
}

void flipSigns(const LinePiece &piece, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(flipSignsOfTarget)(piece, out);
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
			case UnitFormat::Halves:
				std::memcpy(halves, in, sizeof(halves));
				to[0] = (halves[0] & 0xff) | (halves[1] & 0xff) << 16;
				to[kTileColumns / 2] =
					((halves[0] >> 8) & 0xffff) | (halves[1] >> 8) * 65536;
				break;
			case UnitFormat::Float:
				widenHalves(in, 1, reinterpret_cast<float *>(to));
				break;
			}
		}
	}
}

uint32_t largestMagnitude(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(largestOfTarget)(numbers, count);
}

void roundSums(int32_t *sums, size_t count, uint32_t truncate)
{
	HWY_DYNAMIC_DISPATCH(roundSumsOfTarget)(sums, count, truncate);
}

void addHalves(const int32_t *sums, size_t positions, int64_t *wide)
{
	HWY_DYNAMIC_DISPATCH(addHalvesOfTarget)(sums, positions, wide);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/tile_operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "conv/conv_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/tile_operands.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/lane_totals-inl.h"
#include "conv/tile_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/*
 * Columns of a picture have three or four elements, and take longer to be counted than to be moved.
 * Four are put for each of them: where there are three, the next column takes the fourth one's
 * place.
 */
constexpr size_t kFew = 4;

/** \return for how many parts, from the first one on, four elements may be read and put */
HWY_INLINE size_t partsOfFew(const LinePiece &piece, size_t elementBytes)
{
	const size_t bytes = kFew * elementBytes;

	if (piece.bytes > bytes || piece.toStep != piece.bytes || piece.fromStep < bytes)
		return 0;
	/* Behind the last ones there may be something else. */
	return piece.parts - std::min(piece.parts, (bytes - 1) / piece.bytes);
}

HWY_INLINE void widenPart(const std::byte *bytes, size_t count, int16_t *out)
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

void widenBytesOfTarget(const LinePiece &piece, int16_t *out)
{
	const hn::CappedTag<int16_t, kFew> tag;
	const hn::Rebind<int8_t, decltype(tag)> byteTag;
	size_t i = 0;

	if constexpr (hn::MaxLanes(tag) == kFew) {
		for (const size_t few = partsOfFew(piece, sizeof(int8_t)); i < few; i++) {
			const auto *in =
				reinterpret_cast<const int8_t *>(piece.from + i * piece.fromStep);
			hn::StoreU(hn::PromoteTo(tag, hn::LoadU(byteTag, in)), tag,
				   out + i * piece.toStep);
		}
	}
	for (; i < piece.parts; i++)
		widenPart(piece.from + i * piece.fromStep, piece.bytes, out + i * piece.toStep);
}

/** \a count is almost always that of one atom or more \param kFlip bits that change */
template<uint8_t kFlip>
HWY_INLINE void flipPart(const uint8_t *in, size_t count, uint8_t *out)
{
	const hn::ScalableTag<uint8_t> tag;
	const hn::CappedTag<uint8_t, atomBytes / 2> smallTag;
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		hn::StoreU(hn::Xor(hn::LoadU(tag, in + i), hn::Set(tag, kFlip)), tag, out + i);
	for (; i + hn::Lanes(smallTag) <= count; i += hn::Lanes(smallTag))
		hn::StoreU(hn::Xor(hn::LoadU(smallTag, in + i), hn::Set(smallTag, kFlip)), smallTag,
			   out + i);
	for (; i < count; i++)
		out[i] = in[i] ^ kFlip;
}

/** All parts of a piece, of as many bytes, which is known when it is compiled */
template<uint8_t kFlip, size_t kBytes>
HWY_INLINE void flipParts(const LinePiece &piece, const uint8_t *in, uint8_t *out)
{
	for (size_t i = 0; i < piece.parts; i++, in += piece.fromStep, out += piece.toStep)
		flipPart<kFlip>(in, kBytes, out);
}

template<uint8_t kFlip>
HWY_INLINE void flip(const LinePiece &piece, std::byte *out)
{
	constexpr uint32_t kFlips = 0x01010101 * uint32_t{ kFlip };
	const auto *in = reinterpret_cast<const uint8_t *>(piece.from);
	auto *to = reinterpret_cast<uint8_t *>(out);
	size_t i = 0;

	switch (piece.bytes) {
	case atomBytes / 2:
		return flipParts<kFlip, atomBytes / 2>(piece, in, to);
	case atomBytes:
		return flipParts<kFlip, atomBytes>(piece, in, to);
	case 2 * atomBytes:
		return flipParts<kFlip, 2 * atomBytes>(piece, in, to);
	case kEntryBytes:
		return flipParts<kFlip, kEntryBytes>(piece, in, to);
	default:
		break;
	}
	for (const size_t few = partsOfFew(piece, sizeof(uint8_t)); i < few; i++) {
		uint32_t elements;
		std::memcpy(&elements, in + i * piece.fromStep, sizeof(elements));
		elements ^= kFlips;
		std::memcpy(to + i * piece.toStep, &elements, sizeof(elements));
	}
	for (; i < piece.parts; i++)
		flipPart<kFlip>(in + i * piece.fromStep, piece.bytes, to + i * piece.toStep);
}

void flipSignsOfTarget(const LinePiece &piece, std::byte *out)
{
	flip<0x80>(piece, out);
}

void copyBytesOfTarget(const LinePiece &piece, std::byte *out)
{
	flip<0>(piece, out);
}

HWY_INLINE void widenHalvesOfPart(const std::byte *halves, size_t count, float *out)
{
	const hn::ScalableTag<float> tag;
	const hn::Rebind<uint16_t, decltype(tag)> halfTag;
	const size_t lanes = hn::Lanes(tag);
	uint16_t rest[hn::MaxLanes(tag)] = {};
	float values[hn::MaxLanes(tag)];

	for (; count >= lanes; count -= lanes, halves += lanes * sizeof(uint16_t), out += lanes) {
		const auto *some = reinterpret_cast<const uint16_t *>(halves);
		hn::StoreU(floatsOf(tag, hn::LoadU(halfTag, some)), tag, out);
	}
	if (count == 0)
		return;
	std::memcpy(rest, halves, count * sizeof(uint16_t));
	hn::StoreU(floatsOf(tag, hn::LoadU(halfTag, rest)), tag, values);
	std::copy_n(values, count, out);
}

void widenHalvesOfTarget(const LinePiece &piece, float *out)
{
	const hn::CappedTag<float, kFew> tag;
	const hn::Rebind<uint16_t, decltype(tag)> halfTag;
	size_t i = 0;

	if constexpr (hn::MaxLanes(tag) == kFew) {
		for (const size_t few = partsOfFew(piece, sizeof(uint16_t)); i < few; i++) {
			uint16_t halves[kFew];
			std::memcpy(halves, piece.from + i * piece.fromStep, sizeof(halves));
			hn::StoreU(floatsOf(tag, hn::LoadU(halfTag, halves)), tag,
				   out + i * piece.toStep / sizeof(uint16_t));
		}
	}
	for (; i < piece.parts; i++)
		widenHalvesOfPart(piece.from + i * piece.fromStep, piece.bytes / sizeof(uint16_t),
				  out + i * piece.toStep / sizeof(uint16_t));
}

/* Those that the exact FP16 cells are for. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

/** Stores FP16 as doubles, and notes NaNs */
class HalvesToDoubles
{
public:
	using Tag = hn::ScalableTag<float>;
	static constexpr size_t kMostLanes = hn::MaxLanes(Tag());

	HWY_INLINE HalvesToDoubles() : nans_(hn::IsNaN(hn::Zero(Tag()))) {}

	/** As many as a vector of f32 has */
	HWY_INLINE void widen(const uint16_t *halves, double *out)
	{
		const hn::Rebind<uint16_t, Tag> halfTag;
		const hn::Half<Tag> floatTag;
		const hn::Repartition<double, Tag> tag;
		const auto floats = floatsOf(Tag(), hn::LoadU(halfTag, halves));

		nans_ = hn::Or(nans_, hn::IsNaN(floats));
		hn::StoreU(hn::PromoteTo(tag, hn::LowerHalf(floatTag, floats)), tag, out);
		hn::StoreU(hn::PromoteTo(tag, hn::UpperHalf(floatTag, floats)), tag,
			   out + hn::Lanes(tag));
	}

	HWY_INLINE bool hasNan() const { return !hn::AllFalse(Tag(), nans_); }

private:
	hn::Mask<Tag> nans_;
};

bool widenHalvesToDoublesOfTarget(const LinePiece &piece, double *out)
{
	const size_t lanes = hn::Lanes(HalvesToDoubles::Tag());
	const size_t count = piece.bytes / sizeof(uint16_t);
	const size_t step = piece.toStep / sizeof(uint16_t);
	uint16_t rest[HalvesToDoubles::kMostLanes] = {};
	double values[HalvesToDoubles::kMostLanes];
	HalvesToDoubles halves;

	for (size_t part = 0; part < piece.parts; part++) {
		const auto *in =
			reinterpret_cast<const uint16_t *>(piece.from + part * piece.fromStep);
		double *to = out + part * step;
		size_t i = 0;
		for (; i + lanes <= count; i += lanes)
			halves.widen(in + i, to + i);
		if (i == count)
			continue;
		std::memcpy(rest, in + i, (count - i) * sizeof(uint16_t));
		halves.widen(rest, values);
		std::copy_n(values, count - i, to + i);
	}
	return !halves.hasNan();
}

#else

bool widenHalvesToDoublesOfTarget(const LinePiece &piece, double *out)
{
	const size_t count = piece.bytes / sizeof(uint16_t);
	const size_t step = piece.toStep / sizeof(uint16_t);
	std::vector<float> part(count);
	bool hasNan = false;

	for (size_t i = 0; i < piece.parts; i++) {
		widenHalvesOfPart(piece.from + i * piece.fromStep, count, part.data());
		hasNan |=
			std::ranges::any_of(part, [](float number) { return std::isnan(number); });
		std::ranges::copy(part, out + i * step);
	}
	return !hasNan;
}

#endif

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

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

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

#else

template<typename Element>
bool ownElementsOf(const KernelRows &rows, std::byte *own)
{
	bool areOthersZero = true;

	std::fill_n(own, atomBytes, std::byte{ 0 });
	for (size_t kernel = 0; kernel < rows.kernels; kernel++) {
		const std::byte *atom = rows.first + kernel * rows.step;
		for (size_t i = 0; i < atomBytes; i++) {
			if (i / sizeof(Element) == kernel)
				own[i] = atom[i];
			else
				areOthersZero &= atom[i] == std::byte{ 0 };
		}
	}
	return areOthersZero;
}

#endif

bool ownElementsOfTarget(const KernelRows &rows, size_t elementBytes, std::byte *own)
{
	return elementBytes == sizeof(uint8_t) ? ownElementsOf<uint8_t>(rows, own)
					       : ownElementsOf<uint16_t>(rows, own);
}

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

/* Vectors of known size, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

void putUnitsOfTarget(UnitFormat format, const KernelRows &rows, size_t units, size_t columns,
		      int32_t *out)
{
	switch (format) {
	case UnitFormat::Bytes:
		transpose<Bytes, 4>(rows, units, columns, out);
		break;
	case UnitFormat::Unsigned:
		transpose<Unsigned, 4>(rows, units, columns, out);
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

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

using SumTag = hn::FixedTag<int32_t, 16>;
using Sums = hn::Vec<SumTag>;

/** Sums of bytes of some positions, in registers: indices are constants once inlined */
template<size_t... kIndex>
struct ByteSums {
	Sums sums[sizeof...(kIndex)] = { ((void)kIndex, hn::Zero(SumTag()))... };
	const std::byte *positions[sizeof...(kIndex)];

	/** \param line the first position's first unit \param last the last position's number */
	HWY_INLINE ByteSums(const std::byte *line, size_t step, size_t last)
		: positions{ line + std::min(kIndex, last) * step... }
	{
	}

	/** Each four bytes are added to one number */
	static HWY_INLINE void add(Sums &sum, __m512i data)
	{
		const Sums ones = hn::Set(SumTag(), 0x01010101);

		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(ones.raw), "v"(data));
	}

	HWY_INLINE void add(const TileRun &run)
	{
		constexpr uint32_t kUnits = hn::MaxLanes(SumTag());
		const uint32_t rest = run.units % kUnits;
		const size_t end = run.offset + (run.units - rest) * kUnitBytes;
		const auto there = static_cast<__mmask16>((1U << rest) - 1);

		for (size_t at = run.offset; at < end; at += kUnits * kUnitBytes)
			(add(sums[kIndex], _mm512_loadu_si512(positions[kIndex] + at)), ...);
		if (rest)
			(add(sums[kIndex],
			     _mm512_maskz_loadu_epi32(there, positions[kIndex] + end)),
			 ...);
	}
};

void byteSumsOfTarget(const std::byte *line, size_t step, std::span<const TileRun> runs,
		      std::span<int32_t> sums)
{

	if (!__builtin_cpu_supports("avx512vnni")) {
		byteSumsReference(line, step, runs, sums);
		return;
	}
	for (size_t x = 0; x < sums.size(); x += kTotalsAtOnce, line += kTotalsAtOnce * step) {
		const size_t count = std::min(kTotalsAtOnce, sums.size() - x);
		ByteSums<0, 1, 2, 3> some(line, step, count - 1);
		for (const TileRun &run : runs)
			some.add(run);
		if (count == kTotalsAtOnce) {
			hn::StoreU(totalsOf(SumTag(), some.sums), TotalsTag(), &sums[x]);
			continue;
		}
		int32_t out[kTotalsAtOnce];
		hn::StoreU(totalsOf(SumTag(), some.sums), TotalsTag(), out);
		std::copy_n(out, count, &sums[x]);
	}
}

#else

void byteSumsOfTarget(const std::byte *line, size_t step, std::span<const TileRun> runs,
		      std::span<int32_t> sums)
{
	byteSumsReference(line, step, runs, sums);
}

#endif

int8_t lowestOfTarget(const std::byte *numbers, size_t count)
{
	const hn::ScalableTag<int8_t> tag;
	const auto *in = reinterpret_cast<const int8_t *>(numbers);
	const size_t lanes = hn::Lanes(tag);
	auto first = hn::Zero(tag);
	auto second = hn::Zero(tag);
	int8_t ends[hn::MaxLanes(tag)];
	size_t i = 0;

	for (; i + 2 * lanes <= count; i += 2 * lanes) {
		first = hn::Min(first, hn::LoadU(tag, in + i));
		second = hn::Min(second, hn::LoadU(tag, in + i + lanes));
	}
	hn::StoreU(hn::Min(first, second), tag, ends);
	int8_t lowest = *std::min_element(ends, ends + lanes);
	for (; i < count; i++)
		lowest = std::min(lowest, in[i]);
	return lowest;
}

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
HWY_EXPORT(copyBytesOfTarget);
HWY_EXPORT(flipSignsOfTarget);
HWY_EXPORT(widenHalvesOfTarget);
HWY_EXPORT(areFiniteOfTarget);
HWY_EXPORT(putUnitsOfTarget);
HWY_EXPORT(widenHalvesToDoublesOfTarget);
HWY_EXPORT(ownElementsOfTarget);
HWY_EXPORT(anyNanOfTarget);
HWY_EXPORT(byteSumsOfTarget);
HWY_EXPORT(lowestOfTarget);
HWY_EXPORT(rangeOfTarget);
HWY_EXPORT(roundSumsOfTarget);

void widenBytes(const LinePiece &piece, int16_t *out)
{
	HWY_DYNAMIC_DISPATCH(widenBytesOfTarget)(piece, out);
}

void copyBytes(const LinePiece &piece, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(copyBytesOfTarget)(piece, out);
}

void flipSigns(const LinePiece &piece, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(flipSignsOfTarget)(piece, out);
}

void widenHalves(const LinePiece &piece, float *out)
{
	HWY_DYNAMIC_DISPATCH(widenHalvesOfTarget)(piece, out);
}

bool areFinite(const std::byte *halves, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(areFiniteOfTarget)(halves, count);
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
			case UnitFormat::Unsigned:
				flipSigns({ .from = in, .bytes = kUnitBytes, .parts = 1 },
					  reinterpret_cast<std::byte *>(to));
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

bool widenHalves(const LinePiece &piece, double *out)
{
	return HWY_DYNAMIC_DISPATCH(widenHalvesToDoublesOfTarget)(piece, out);
}

bool ownElements(const KernelRows &rows, size_t elementBytes, std::byte *own)
{
	return HWY_DYNAMIC_DISPATCH(ownElementsOfTarget)(rows, elementBytes, own);
}

bool anyNan(const float *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(anyNanOfTarget)(numbers, count);
}

void byteSums(const std::byte *line, size_t step, std::span<const TileRun> runs,
	      std::span<int32_t> sums)
{
	HWY_DYNAMIC_DISPATCH(byteSumsOfTarget)(line, step, runs, sums);
}

void byteSumsReference(const std::byte *line, size_t step, std::span<const TileRun> runs,
		       std::span<int32_t> sums)
{
	for (int32_t &sum : sums) {
		sum = 0;
		for (const TileRun &run : runs)
			for (size_t i = 0; i < run.units * kUnitBytes; i++)
				sum += static_cast<int8_t>(line[run.offset + i]);
		line += step;
	}
}

int8_t lowestOf(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(lowestOfTarget)(numbers, count);
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

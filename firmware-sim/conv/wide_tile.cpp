/* SPDX-License-Identifier: MIT */
/*
 * Products are added up in 32 bits, as many as these hold: then the upper halves of the sums are
 * added up apart, and the lower ones go on.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/wide_tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/wide_tile.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/ahead.h"
#include "conv/tile_products-inl.h"
#include "conv/wide_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/* Two vectors for each position, beside weights, data and products. */
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr size_t kWidePositions = 4;
#else
constexpr size_t kWidePositions = 12;
#endif
constexpr size_t kLanes = hn::MaxLanes(Tag());

/** What all tiles of a call share */
struct WideOperands {
	std::span<const TileRun> runs;
	const WideParts &parts;
	const int32_t *weights;
	Ahead *ahead;
};

/** Pairs of products, and what carries sums on */
template<typename Product>
struct Carrying : Product {
	/** Adds the upper half of sums to others */
	static HWY_INLINE Vector addHighs(Vector highs, Vector sums)
	{
		return hn::Add(highs, hn::ShiftRight<16>(sums));
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/* The upper half times one, in one instruction. */
template<typename Columns>
struct Carrying<VnniPairs<Columns>> : VnniPairs<Columns> {
	static HWY_INLINE Vector addHighs(Vector highs, Vector sums)
	{
		return VnniPairs<Columns>::add(highs, sums, hn::Set(Tag(), 1 << 16));
	}
};
#endif

/** The sums of one tile, in registers: indices are constants once inlined */
template<typename Product, size_t... kIndex>
struct WideTile {
	static constexpr size_t kCount = sizeof...(kIndex);

	Vector sums[kCount] = { ((void)kIndex, hn::Zero(Tag()))... };
	Vector highs[kCount] = { ((void)kIndex, hn::Zero(Tag()))... };
	const std::byte *at[kCount];

	HWY_INLINE explicit WideTile(const TilePosition *positions) : at{ positions[kIndex].at... }
	{
	}

	static HWY_INLINE Vector data(const std::byte *from)
	{
		int32_t number;

		std::memcpy(&number, from, sizeof(number));
		return hn::Set(Tag(), number);
	}

	/** \param offset of the unit, bytes */
	HWY_INLINE void addUnit(size_t offset, const int32_t *weights)
	{
		const Vector column = hn::LoadU(Tag(), weights);

		((sums[kIndex] = Product::add(sums[kIndex], data(at[kIndex] + offset), column)),
		 ...);
	}

	/** Makes room in the sums for another chunk */
	HWY_INLINE void carry()
	{
		((highs[kIndex] = Carrying<Product>::addHighs(highs[kIndex], sums[kIndex])), ...);
		((sums[kIndex] = hn::And(sums[kIndex], hn::Set(Tag(), 0xffff))), ...);
	}

	/**
	 * Chunks of kHalvedChunk, unrolled
	 * \param halved for each chunk
	 * \return units that are in whole chunks
	 */
	HWY_INLINE uint32_t addHalved(size_t offset, uint32_t units, const int32_t *weights,
				      const uint8_t *halved, Ahead &ahead)
	{
		uint32_t unit = 0;

		for (; unit + 4 <= units; unit += 4) {
			ahead.bring(4);
			addUnit(offset, weights);
			addUnit(offset + kUnitBytes, weights + kFewColumns);
			if (*halved++)
				carry();
			addUnit(offset + 2 * kUnitBytes, weights + 2 * kFewColumns);
			addUnit(offset + 3 * kUnitBytes, weights + 3 * kFewColumns);
			carry();
			offset += 4 * kUnitBytes;
			weights += 4 * kFewColumns;
		}
		return unit;
	}

	/** \param halved of the part's chunks; of those behind it afterwards */
	HWY_INLINE void addPart(size_t offset, const WidePart &part, const int32_t *weights,
				const uint8_t *&halved, Ahead &ahead)
	{
		uint32_t chunk = part.chunk;
		uint32_t unit = 0;

		static_assert(WideParts::kHalvedChunk == 4);
		if (chunk == WideParts::kHalvedChunk) {
			unit = addHalved(offset, part.units, weights, halved, ahead);
			halved += (part.units + chunk - 1) / chunk;
			chunk = 1; /* what is left over */
		}
		while (unit < part.units) {
			const uint32_t end = std::min(unit + chunk, part.units);
			for (; unit < end; unit++)
				addUnit(offset + unit * kUnitBytes, weights + unit * kFewColumns);
			carry();
		}
	}

	HWY_INLINE void store(int64_t *out) const
	{
		(storeTotal<kIndex>(out + kIndex * kFewColumns), ...);
	}

private:
	template<size_t kPosition>
	HWY_INLINE void storeTotal(int64_t *out) const
	{
		WideSum total;

		total.high = highs[kPosition];
		total.low = hn::Add(sums[kPosition], hn::ShiftLeft<16>(highs[kPosition]));
		total.store(out);
	}
};

template<typename Product, size_t... kIndex>
HWY_INLINE void wideTile(const TilePosition *positions, const WideOperands &operands, int64_t *sums,
			 std::index_sequence<kIndex...>)
{
	for (size_t column = 0; column < kFewColumns; column += kLanes) {
		WideTile<Product, kIndex...> tile(positions);
		const int32_t *weights = operands.weights + column;
		const WidePart *part = operands.parts.parts.data();
		const uint8_t *halved = operands.parts.halved.data();

		for (const TileRun &run : operands.runs) {
			for (uint32_t unit = 0; unit < run.units; part++) {
				tile.addPart(run.offset + unit * kUnitBytes, *part, weights, halved,
					     *operands.ahead);
				weights += size_t{ part->units } * kFewColumns;
				unit += part->units;
			}
		}
		tile.store(sums + column);
	}
}

template<typename Product>
void wideTiles(const TilePosition *positions, size_t count, const WideOperands &operands,
	       int64_t *sums)
{
	for (; count >= kWidePositions; count -= kWidePositions) {
		wideTile<Product>(positions, operands, sums,
				  std::make_index_sequence<kWidePositions>());
		positions += kWidePositions;
		sums += kWidePositions * kFewColumns;
	}
	if (count == 0)
		return;
	if (count == 1) {
		wideTile<Product>(positions, operands, sums, std::make_index_sequence<1>());
		return;
	}
	/* What is missing to a full tile is the last position again. */
	TilePosition padded[kWidePositions];
	int64_t out[kWidePositions * kFewColumns];
	for (size_t i = 0; i < kWidePositions; i++)
		padded[i] = positions[std::min(i, count - 1)];
	if (count <= kFewPositions)
		wideTile<Product>(padded, operands, out, std::make_index_sequence<kFewPositions>());
	else
		wideTile<Product>(padded, operands, out,
				  std::make_index_sequence<kWidePositions>());
	std::copy_n(out, count * kFewColumns, sums);
}

/** \return how many units are multiplied for \a count positions */
size_t stepsOf(size_t count, std::span<const TileRun> runs)
{
	size_t units = 0;

	for (const TileRun &run : runs)
		units += run.units;
	return (count + kWidePositions - 1) / kWidePositions * units;
}

void wideSumsOfTarget(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		      const WideParts &parts, const int32_t *weights, int64_t *sums,
		      std::span<const std::byte> bytesAhead)
{
	Ahead ahead(bytesAhead, stepsOf(count, runs));
	const WideOperands operands = { runs, parts, weights, &ahead };

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (hasVnni()) {
		wideTiles<VnniPairs<FewColumns>>(positions, count, operands, sums);
		return;
	}
#endif
	wideTiles<Pairs<FewColumns>>(positions, count, operands, sums);
}

/** What sums of products with some weights may come to, for a vector of columns */
struct WeightSides {
	Vector positive = hn::Zero(Tag());
	Vector negative = hn::Zero(Tag()); /* without its sign */

	HWY_INLINE WeightSides() {} /* an implicit one has no vectors */

	HWY_INLINE WeightSides(const int32_t *weights, uint32_t units)
	{
		const hn::Repartition<int16_t, Tag> pairTag;
		const Vector ones = hn::Set(Tag(), 0x10001);
		Vector all = hn::Zero(Tag());

		for (uint32_t i = 0; i < units; i++, weights += kFewColumns) {
			const Vector pair = hn::LoadU(Tag(), weights);
			const Vector above = hn::BitCast(
				Tag(), hn::Max(hn::BitCast(pairTag, pair), hn::Zero(pairTag)));
			all = hn::Add(all, Pairs<FewColumns>::multiply(pair, ones));
			positive = hn::Add(positive, Pairs<FewColumns>::multiply(above, ones));
		}
		negative = hn::Sub(positive, all);
	}

	HWY_INLINE void add(const WeightSides &other)
	{
		positive = hn::Add(positive, other.positive);
		negative = hn::Add(negative, other.negative);
	}
};

/** What sums are held against: either side alone counts if no data are below zero */
struct SumLimit {
	/* Of the sum before there is no more than the lower half. */
	static constexpr int32_t kRoom = INT32_MAX - UINT16_MAX;

	const bool bothSides;
	const Vector most;

	HWY_INLINE explicit SumLimit(Int16Range data)
		: bothSides(data.lowest < 0),
		  most(hn::Set(Tag(), kRoom / static_cast<int32_t>(std::max(1U, data.largest()))))
	{
	}

	HWY_INLINE bool fits(const WeightSides &sides) const
	{
		const Vector worst = bothSides ? hn::Add(sides.positive, sides.negative)
					       : hn::Max(sides.positive, sides.negative);
		return hn::AllFalse(Tag(), hn::Gt(worst, most));
	}
};

size_t findUnfitOfTarget(const int32_t *weights, uint32_t units, uint32_t chunk, Int16Range data,
			 size_t most, uint8_t *unfit)
{
	const SumLimit limit(data);
	size_t count = 0;

	for (uint32_t first = 0; first < units && count <= most; first += chunk) {
		const int32_t *from = weights + first * kFewColumns;
		const uint32_t some = std::min(chunk, units - first);
		bool fits = true;
		for (size_t column = 0; column < kFewColumns; column += kLanes)
			fits = fits && limit.fits(WeightSides(from + column, some));
		*unfit++ = !fits;
		count += !fits;
	}
	return count;
}

bool findHalvedOfTarget(const int32_t *weights, uint32_t units, Int16Range data, uint8_t *unfit,
			uint8_t *unfitHalves)
{
	constexpr uint32_t kHalf = WideParts::kHalvedChunk / 2;
	const SumLimit limit(data);
	bool any = false;

	for (uint32_t first = 0; first < units; first += 2 * kHalf) {
		const uint32_t one = std::min(kHalf, units - first);
		const uint32_t other = std::min(kHalf, units - first - one);
		const int32_t *from = weights + first * kFewColumns;
		bool halves = true;
		bool whole = true;
		for (size_t column = 0; column < kFewColumns; column += kLanes) {
			WeightSides sides(from + column, one);
			const WeightSides others(from + one * kFewColumns + column, other);
			halves = halves && limit.fits(sides) && limit.fits(others);
			sides.add(others);
			whole = whole && limit.fits(sides);
		}
		*unfit++ = !whole;
		*unfitHalves++ = !halves;
		any |= !halves;
	}
	return any;
}

#else /* vectors of any size */

void wideSumsOfTarget(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		      const WideParts &, const int32_t *weights, int64_t *sums,
		      std::span<const std::byte>)
{
	wideSumsReference(positions, count, runs, weights, sums);
}

size_t findUnfitOfTarget(const int32_t *, uint32_t, uint32_t, Int16Range, size_t most, uint8_t *)
{
	return most + 1;
}

bool findHalvedOfTarget(const int32_t *, uint32_t, Int16Range, uint8_t *, uint8_t *)
{
	return true;
}

#endif

uint32_t clipSumsOfTarget(std::span<const int64_t> sums, uint32_t truncate, int32_t *out)
{
	const hn::CappedTag<int64_t, 8> tag;
	const hn::RebindToUnsigned<decltype(tag)> bitsTag;
	const hn::Rebind<uint32_t, decltype(tag)> outTag;
	const auto most = hn::Set(tag, INT32_MAX);
	const auto least = hn::Set(tag, INT32_MIN);
	const auto half = hn::Set(bitsTag, truncate ? uint64_t{ 1 } << (truncate - 1) : 0);
	size_t clipped = 0;

	for (size_t i = 0; i < sums.size(); i += hn::Lanes(tag)) {
		const auto sum = hn::LoadU(tag, &sums[i]);
		const auto sign = hn::BroadcastSignBit(sum);
		const auto magnitude = hn::BitCast(bitsTag, hn::Sub(hn::Xor(sum, sign), sign));
		const auto shifted =
			hn::BitCast(tag, hn::ShiftRightSame(hn::Add(magnitude, half),
							    static_cast<int>(truncate)));
		const auto rounded = hn::Sub(hn::Xor(shifted, sign), sign);
		const auto fitting = hn::Min(hn::Max(rounded, least), most);
		clipped += hn::CountTrue(tag, hn::Ne(fitting, rounded));
		hn::StoreU(hn::TruncateTo(outTag, hn::BitCast(bitsTag, fitting)), outTag,
			   reinterpret_cast<uint32_t *>(out + i));
	}
	return static_cast<uint32_t>(clipped);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(wideSumsOfTarget);
HWY_EXPORT(findUnfitOfTarget);
HWY_EXPORT(findHalvedOfTarget);
HWY_EXPORT(clipSumsOfTarget);

void wideSums(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
	      const WideParts &parts, const int32_t *weights, int64_t *sums,
	      std::span<const std::byte> ahead)
{
	HWY_DYNAMIC_DISPATCH(wideSumsOfTarget)(positions, count, runs, parts, weights, sums, ahead);
}

void wideSumsReference(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		       const int32_t *weights, int64_t *sums)
{
	int16_t pair[2];
	int16_t weightPair[2];

	for (size_t p = 0; p < count; p++) {
		for (size_t column = 0; column < kFewColumns; column++) {
			const int32_t *weight = weights + column;
			int64_t sum = 0;
			for (const TileRun &run : runs) {
				const std::byte *at = positions[p].at + run.offset;
				for (uint32_t unit = 0; unit < run.units;
				     unit++, at += kUnitBytes, weight += kFewColumns) {
					std::memcpy(pair, at, sizeof(pair));
					std::memcpy(weightPair, weight, sizeof(weightPair));
					sum += int64_t{ pair[0] } * weightPair[0] +
					       int64_t{ pair[1] } * weightPair[1];
				}
			}
			*sums++ = sum;
		}
	}
}

size_t findUnfit(const int32_t *weights, uint32_t units, uint32_t chunk, Int16Range data,
		 size_t most, uint8_t *unfit)
{
	return HWY_DYNAMIC_DISPATCH(findUnfitOfTarget)(weights, units, chunk, data, most, unfit);
}

bool findHalved(const int32_t *weights, uint32_t units, Int16Range data, uint8_t *unfit,
		uint8_t *unfitHalves)
{
	return HWY_DYNAMIC_DISPATCH(findHalvedOfTarget)(weights, units, data, unfit, unfitHalves);
}

uint32_t clipSums(std::span<const int64_t> sums, uint32_t truncate, int32_t *out)
{
	return HWY_DYNAMIC_DISPATCH(clipSumsOfTarget)(sums, truncate, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

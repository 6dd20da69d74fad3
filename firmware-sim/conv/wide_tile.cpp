/* SPDX-License-Identifier: MIT */
/*
 * A chunk of products is summed in 32 bits, and all chunks' sums as wide_sums-inl.h has it.
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

/* Three vectors for each position, beside weights and data. */
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr size_t kWidePositions = 4;
#else
constexpr size_t kWidePositions = 8;
#endif
constexpr size_t kLanes = hn::MaxLanes(Tag());

/** What all tiles of a call share */
struct WideOperands {
	std::span<const TileRun> runs;
	std::span<const WidePart> parts;
	const int32_t *weights;
};

/** The sums of one tile, in registers: indices are constants once inlined */
template<typename Product, size_t... kIndex>
struct WideTile {
	static constexpr size_t kCount = sizeof...(kIndex);

	WideSum totals[kCount]; /* of the chunks' sums */
	const std::byte *at[kCount];

	HWY_INLINE WideTile() {} /* an implicit one has no vectors */

	HWY_INLINE void begin(const TilePosition *positions, const TileRun &run)
	{
		((at[kIndex] =
			  positions[kIndex].rows[run.row] + positions[kIndex].offset + run.offset),
		 ...);
	}

	static HWY_INLINE Vector data(const std::byte *from)
	{
		int32_t number;

		std::memcpy(&number, from, sizeof(number));
		return hn::Set(Tag(), number);
	}

	HWY_INLINE void addUnit(Vector (&sums)[kCount], size_t offset, const int32_t *weights)
	{
		const Vector column = hn::LoadU(Tag(), weights);

		((sums[kIndex] = Product::add(sums[kIndex], data(at[kIndex] + offset), column)),
		 ...);
	}

	HWY_INLINE void addSums(const Vector (&sums)[kCount])
	{
		(totals[kIndex].add(sums[kIndex]), ...);
	}

	/** \param offset of the first unit in its run, bytes */
	HWY_INLINE void addChunk(size_t offset, uint32_t units, const int32_t *weights)
	{
		const Vector first = hn::LoadU(Tag(), weights);
		Vector sums[] = { Product::multiply(data(at[kIndex] + offset), first)... };

		for (uint32_t unit = 1; unit < units; unit++)
			addUnit(sums, offset + unit * kUnitBytes, weights + unit * kFewColumns);
		addSums(sums);
	}

	/** \return units that are in whole chunks of kChunk */
	template<size_t... kUnit>
	HWY_INLINE uint32_t addChunks(size_t offset, uint32_t units, const int32_t *weights,
				      std::index_sequence<kUnit...>)
	{
		constexpr uint32_t chunk = sizeof...(kUnit) + 1;
		uint32_t unit = 0;

		for (; unit + chunk <= units; unit += chunk) {
			const Vector first = hn::LoadU(Tag(), weights);
			Vector sums[] = { Product::multiply(data(at[kIndex] + offset), first)... };
			(addUnit(sums, offset + (kUnit + 1) * kUnitBytes,
				 weights + (kUnit + 1) * kFewColumns),
			 ...);
			addSums(sums);
			offset += chunk * kUnitBytes;
			weights += chunk * kFewColumns;
		}
		return unit;
	}

	/* Short chunks are unrolled. */
	HWY_INLINE void addPart(size_t offset, const WidePart &part, const int32_t *weights)
	{
		uint32_t unit = 0;

		if (part.chunk == 4)
			unit = addChunks(offset, part.units, weights,
					 std::make_index_sequence<3>());
		else if (part.chunk == 2)
			unit = addChunks(offset, part.units, weights,
					 std::make_index_sequence<1>());
		for (; unit < part.units; unit += part.chunk)
			addChunk(offset + unit * kUnitBytes,
				 std::min(part.chunk, part.units - unit),
				 weights + unit * kFewColumns);
	}

	HWY_INLINE void store(int64_t *out) const
	{
		(totals[kIndex].store(out + kIndex * kFewColumns), ...);
	}
};

template<typename Product, size_t... kIndex>
HWY_INLINE void wideTile(const TilePosition *positions, const WideOperands &operands, int64_t *sums,
			 std::index_sequence<kIndex...>)
{
	for (size_t column = 0; column < kFewColumns; column += kLanes) {
		WideTile<Product, kIndex...> tile;
		const int32_t *weights = operands.weights + column;
		const WidePart *part = operands.parts.data();

		for (const TileRun &run : operands.runs) {
			tile.begin(positions, run);
			for (uint32_t unit = 0; unit < run.units; part++) {
				tile.addPart(unit * kUnitBytes, *part, weights);
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
	wideTile<Product>(padded, operands, out, std::make_index_sequence<kWidePositions>());
	std::copy_n(out, count * kFewColumns, sums);
}

void wideSumsOfTarget(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		      std::span<const WidePart> parts, const int32_t *weights, int64_t *sums)
{
	const WideOperands operands = { runs, parts, weights };

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (hasVnni()) {
		wideTiles<VnniPairs<FewColumns>>(positions, count, operands, sums);
		return;
	}
#endif
	wideTiles<Pairs<FewColumns>>(positions, count, operands, sums);
}

size_t findUnfitOfTarget(const int32_t *weights, uint32_t units, uint32_t chunk, Int16Range data,
			 size_t most, uint8_t *unfit)
{
	const hn::Repartition<int16_t, Tag> pairTag;
	const auto largest = static_cast<int32_t>(data.largest());
	const Vector limit = hn::Set(Tag(), largest ? INT32_MAX / largest : INT32_MAX);
	const Vector ones = hn::Set(Tag(), 0x10001);
	size_t count = 0;

	for (uint32_t first = 0; first < units && count <= most; first += chunk) {
		const uint32_t some = std::min(chunk, units - first);
		bool fits = true;
		for (size_t column = 0; column < kFewColumns; column += kLanes) {
			Vector all = hn::Zero(Tag());
			Vector positive = hn::Zero(Tag());
			const int32_t *from = weights + first * kFewColumns + column;
			for (uint32_t i = 0; i < some; i++, from += kFewColumns) {
				const Vector pair = hn::LoadU(Tag(), from);
				const auto none = hn::Zero(pairTag);
				const Vector above = hn::BitCast(
					Tag(), hn::Max(hn::BitCast(pairTag, pair), none));
				all = hn::Add(all, Pairs<FewColumns>::multiply(pair, ones));
				positive =
					hn::Add(positive, Pairs<FewColumns>::multiply(above, ones));
			}
			/* The magnitudes of those below zero; either side alone counts if no data
			 * are below zero. */
			const Vector negative = hn::Sub(positive, all);
			const Vector worst = data.lowest < 0 ? hn::Add(positive, negative)
							     : hn::Max(positive, negative);
			fits = fits && hn::AllFalse(Tag(), hn::Gt(worst, limit));
		}
		*unfit++ = !fits;
		count += !fits;
	}
	return count;
}

#else /* vectors of any size */

void wideSumsOfTarget(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
		      std::span<const WidePart>, const int32_t *weights, int64_t *sums)
{
	wideSumsReference(positions, count, runs, weights, sums);
}

size_t findUnfitOfTarget(const int32_t *, uint32_t, uint32_t, Int16Range, size_t most, uint8_t *)
{
	return most + 1;
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
HWY_EXPORT(clipSumsOfTarget);

void wideSums(const TilePosition *positions, size_t count, std::span<const TileRun> runs,
	      std::span<const WidePart> parts, const int32_t *weights, int64_t *sums)
{
	HWY_DYNAMIC_DISPATCH(wideSumsOfTarget)(positions, count, runs, parts, weights, sums);
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
				const std::byte *at = positions[p].rows[run.row] +
						      positions[p].offset + run.offset;
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

uint32_t clipSums(std::span<const int64_t> sums, uint32_t truncate, int32_t *out)
{
	return HWY_DYNAMIC_DISPATCH(clipSumsOfTarget)(sums, truncate, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

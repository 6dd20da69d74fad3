/* SPDX-License-Identifier: MIT */
/*
 * Tiles of positions by columns, held in registers. Compiled once for each
 * instruction set (Highway).
 */
#include "conv/conv_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/conv_tile.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/ahead.h"
#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if !HWY_HAVE_SCALABLE

/**
 * The sums of one tile, in registers: indices are constants, without a loop that could have them in
 * memory
 */
template<typename Product, size_t... kIndex>
struct Tile {
	using Tag = typename Product::Tag;
	using Vector = typename Product::Vector;
	using Number = typename Product::Number;
	static constexpr size_t kCount = sizeof...(kIndex);
	static constexpr size_t kVectors = Product::kVectors;
	static constexpr size_t kLanes = hn::MaxLanes(Tag());

	Vector sums[kCount][kVectors];
	const std::byte *at[kCount];

	using Vectors = std::make_index_sequence<kVectors>;

	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void start(const TilePosition *positions, const int32_t *from,
			      std::index_sequence<kVector...>)
	{
		if constexpr (Product::kPositionsStart)
			((sums[kPosition][kVector] = hn::Set(Tag(), positions[kPosition].start)),
			 ...);
		else
			((sums[kPosition][kVector] = Product::load(from + kVector * kLanes)), ...);
	}

	HWY_INLINE void start(const TilePosition *positions, const int32_t *from)
	{
		(start<kIndex>(positions, from, Vectors()), ...);
		((at[kIndex] = positions[kIndex].at), ...);
	}

	template<size_t kPosition, size_t kUnit, size_t... kVector>
	HWY_INLINE void addUnit(const std::byte *from, const Vector *weights,
				std::index_sequence<kVector...>)
	{
		Number number;
		std::memcpy(&number, from + kUnit * sizeof(number), sizeof(number));
		const Vector data = Product::spread(number);
		((sums[kPosition][kVector] = Product::add(sums[kPosition][kVector], data,
							  weights[kUnit * kVectors + kVector])),
		 ...);
	}

	template<size_t kPosition, size_t... kUnit>
	HWY_INLINE void add(size_t offset, const Vector *weights, std::index_sequence<kUnit...>)
	{
		const std::byte *from = at[kPosition] + offset;

		(addUnit<kPosition, kUnit>(from, weights, Vectors()), ...);
	}

	/** \param offset of the unit, bytes \param kColumn vectors of weights of all units */
	template<size_t kUnits, size_t... kColumn>
	HWY_INLINE void step(size_t offset, const int32_t *weights, std::index_sequence<kColumn...>)
	{
		const Vector columns[] = { hn::BitCast(
			Tag(), hn::LoadU(hn::RebindToSigned<Tag>(),
					 weights + kColumn / kVectors * Product::kAllColumns +
						 kColumn % kVectors * kLanes))... };

		(add<kIndex>(offset, columns, std::make_index_sequence<kUnits>()), ...);
	}

	template<size_t kUnits>
	HWY_INLINE void step(size_t offset, const int32_t *weights)
	{
		step<kUnits>(offset, weights, std::make_index_sequence<kUnits * kVectors>());
	}

	template<typename Bring>
	HWY_INLINE const int32_t *multiply(const TileRun &run, const int32_t *weights, Bring bring)
	{
		constexpr size_t most = Product::kUnitsAtOnce;
		const size_t end = run.offset + run.units * sizeof(Number);
		size_t offset = run.offset;

		for (; offset + most * sizeof(Number) <= end; offset += most * sizeof(Number)) {
			bring(most);
			step<most>(offset, weights);
			weights += most * Product::kAllColumns;
		}
		for (; offset < end; offset += sizeof(Number)) {
			bring(1);
			step<1>(offset, weights);
			weights += Product::kAllColumns;
		}
		return weights;
	}

	HWY_INLINE const int32_t *multiply(const TileRun &run, const int32_t *weights, Ahead &ahead)
	{
		if (!ahead.has())
			return multiply(run, weights, [](size_t) HWY_ATTR {});
		return multiply(run, weights, [&](size_t count) HWY_ATTR { ahead.bring(count); });
	}

	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void store(int32_t *out, std::index_sequence<kVector...>) const
	{
		(Product::store(sums[kPosition][kVector],
				out + kPosition * Product::kAllColumns + kVector * kLanes),
		 ...);
	}

	HWY_INLINE void store(int32_t *out) const { (store<kIndex>(out, Vectors()), ...); }
};

/** What all tiles of a call share */
struct Operands {
	const TileRun *runs;
	size_t runCount;
	const int32_t *weights;
	const int32_t *start;
	Ahead *ahead;
};

template<typename Product, size_t... kIndex>
void oneTile(const TilePosition *positions, const Operands &operands, int32_t *out,
	     std::index_sequence<kIndex...>)
{
	using ThisTile = Tile<Product, kIndex...>;
	Ahead ahead = *operands.ahead;

	for (size_t column = 0; column < Product::kAllColumns;
	     column += ThisTile::kVectors * ThisTile::kLanes) {
		ThisTile tile;
		const int32_t *weights = operands.weights + column;

		tile.start(positions, operands.start + column);
		for (size_t i = 0; i < operands.runCount; i++)
			weights = tile.multiply(operands.runs[i], weights, ahead);
		tile.store(out + column);
	}
	*operands.ahead = ahead;
}

template<typename Product, size_t kCount>
size_t oneTileOf(const TilePosition *positions, size_t count, const Operands &operands,
		 int32_t *sums)
{
	constexpr std::make_index_sequence<kCount> indices;

	if (count >= kCount) {
		oneTile<Product>(positions, operands, sums, indices);
		return kCount;
	}
	/* What is missing to a full tile is the last position again. */
	TilePosition padded[kCount];
	int32_t out[kCount * Product::kAllColumns];
	for (size_t i = 0; i < kCount; i++)
		padded[i] = positions[std::min(i, count - 1)];
	oneTile<Product>(padded, operands, out, indices);
	std::copy_n(out, count * Product::kAllColumns, sums);
	return count;
}

template<typename Product>
void allTiles(const TilePosition *positions, size_t count, const Operands &operands, int32_t *sums)
{
	while (count > 0) {
		size_t done = 0;
		if (count > kFewPositions)
			done = oneTileOf<Product, Product::kMostPositions>(positions, count,
									   operands, sums);
		else if (count > 1)
			done = oneTileOf<Product, kFewPositions>(positions, count, operands, sums);
		else
			done = oneTileOf<Product, 1>(positions, count, operands, sums);
		positions += done;
		count -= done;
		sums += done * Product::kAllColumns;
	}
}

/** \return how many units are multiplied for \a count positions */
size_t stepsOf(size_t count, const TileRun *runs, size_t runCount)
{
	size_t units = 0;

	for (size_t i = 0; i < runCount; i++)
		units += runs[i].units;
	return (count + kPositions - 1) / kPositions * units;
}

TileKind kindOfTarget()
{
	if (hasVnni())
		return TileKind::Quads;
	return HWY_TARGET == HWY_SCALAR ? TileKind::None : TileKind::Pairs;
}

void sumsOfTarget(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
		  size_t runCount, const int32_t *weights, const int32_t *start, int32_t *sums,
		  std::span<const std::byte> bytesAhead)
{
	Ahead ahead(bytesAhead, stepsOf(count, runs, runCount));
	const Operands operands = { runs, runCount, weights, start, &ahead };

	if (kind == TileKind::Float) {
		allTiles<Floats>(positions, count, operands, sums);
		return;
	}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads) {
		allTiles<Quads>(positions, count, operands, sums);
		return;
	}
	if (kind == TileKind::SignedQuads) {
		allTiles<SignedQuads>(positions, count, operands, sums);
		return;
	}
	if (hasVnni()) {
		if (kind == TileKind::FewPairs)
			allTiles<VnniPairs<FewColumns>>(positions, count, operands, sums);
		else
			allTiles<VnniPairs<AllColumns>>(positions, count, operands, sums);
		return;
	}
#endif
	if (kind == TileKind::FewPairs)
		allTiles<Pairs<FewColumns>>(positions, count, operands, sums);
	else
		allTiles<Pairs<AllColumns>>(positions, count, operands, sums);
}

#else /* vectors of any size */

TileKind kindOfTarget()
{
	return TileKind::None;
}

void sumsOfTarget(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
		  size_t runCount, const int32_t *weights, const int32_t *start, int32_t *sums,
		  std::span<const std::byte>)
{
	tileSumsReference(kind, positions, count, runs, runCount, weights, start, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(kindOfTarget);
HWY_EXPORT(sumsOfTarget);

namespace
{

template<typename Number>
Number numberAt(const std::byte *at)
{
	Number number;
	std::memcpy(&number, at, sizeof(number));
	return number;
}

/** A unit's operands times a column's weights, added to the bits of a sum */
int32_t addUnit(TileKind kind, int32_t sum, const std::byte *data, int32_t weights)
{
	const auto *weight = reinterpret_cast<const std::byte *>(&weights);

	switch (kind) {
	case TileKind::Quads:
		for (size_t i = 0; i < kUnitBytes; i++)
			sum += numberAt<uint8_t>(data + i) * numberAt<int8_t>(weight + i);
		return sum;
	case TileKind::SignedQuads:
		for (size_t i = 0; i < kUnitBytes; i++)
			sum += numberAt<int8_t>(data + i) * numberAt<uint8_t>(weight + i);
		return sum;
	case TileKind::Float:
		return std::bit_cast<int32_t>(std::bit_cast<float>(sum) +
					      numberAt<float>(data) * numberAt<float>(weight));
	default:
		for (size_t i = 0; i < kUnitBytes; i += sizeof(int16_t))
			sum += numberAt<int16_t>(data + i) * numberAt<int16_t>(weight + i);
		return sum;
	}
}

} /* namespace */

TileKind tileKind()
{
	return HWY_DYNAMIC_DISPATCH(kindOfTarget)();
}

void tileSums(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
	      size_t runCount, const int32_t *weights, const int32_t *start, int32_t *sums,
	      std::span<const std::byte> ahead)
{
	HWY_DYNAMIC_DISPATCH(sumsOfTarget)
	(kind, positions, count, runs, runCount, weights, start, sums, ahead);
}

void tileSumsReference(TileKind kind, const TilePosition *positions, size_t count,
		       const TileRun *runs, size_t runCount, const int32_t *weights,
		       const int32_t *start, int32_t *sums)
{
	const bool few = kind == TileKind::Float || kind == TileKind::FewPairs;
	const size_t columns = few ? kFewColumns : kTileColumns;

	for (size_t p = 0; p < count; p++) {
		for (size_t column = 0; column < columns; column++) {
			const int32_t *weight = weights + column;
			int32_t sum =
				kind == TileKind::SignedQuads ? positions[p].start : start[column];
			for (size_t i = 0; i < runCount; i++) {
				const std::byte *at = positions[p].at + runs[i].offset;
				for (uint32_t unit = 0; unit < runs[i].units;
				     unit++, at += kUnitBytes, weight += columns)
					sum = addUnit(kind, sum, at, *weight);
			}
			if (kind == TileKind::Float && std::isnan(std::bit_cast<float>(sum)))
				sum = kFloatNan;
			*sums++ = sum;
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

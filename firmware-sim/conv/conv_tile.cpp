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
#include "conv/matrix_tile.h"
#include "conv/tile-inl.h"
#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if !HWY_HAVE_SCALABLE

/** A tile from its first sums to its last */
template<typename ThisProduct, typename ThisShape, size_t... kIndex>
struct SumTile : Tile<ThisProduct, ThisShape, kIndex...> {
	using Base = Tile<ThisProduct, ThisShape, kIndex...>;
	using Base::kLanes;
	using Base::sums;
	using typename Base::Number;
	using typename Base::Product;
	using typename Base::Shape;
	using typename Base::Tag;
	using typename Base::Vector;
	using typename Base::Vectors;

	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void start(const TilePosition &position, const int32_t *from,
			      std::index_sequence<kVector...>)
	{
		if constexpr (Product::kPositionsStart)
			((sums[kPosition][kVector] = hn::Set(Tag(), position.start)), ...);
		else
			((sums[kPosition][kVector] = Product::load(from + kVector * kLanes)), ...);
	}

	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void clear(std::index_sequence<kVector...>)
	{
		((sums[kPosition][kVector] = hn::Zero(Tag())), ...);
	}

	HWY_INLINE void clear() { (clear<kIndex>(Vectors()), ...); }

	HWY_INLINE void start(const TilePosition *positions, const int32_t *from)
	{
		(start<kIndex>(positions[kIndex], from, Vectors()), ...);
	}

	HWY_INLINE const int32_t *multiply(const TileRun &run, const int32_t *weights, Ahead &ahead)
	{
		/* Behind which more is brought nearer: behind each one takes longer. */
		constexpr uint32_t kUnitsBetween = 16;
		size_t offset = run.offset;

		for (uint32_t left = run.units; left > 0;) {
			const uint32_t units = std::min(left, kUnitsBetween);
			ahead.bring(units);
			weights = multiply(offset, units, weights);
			offset += units * sizeof(Number);
			left -= units;
		}
		return weights;
	}

	HWY_INLINE const int32_t *multiply(size_t offset, uint32_t units, const int32_t *weights)
	{
		constexpr size_t most = Shape::kUnitsAtOnce;
		const size_t end = offset + units * sizeof(Number);

		if constexpr (most > 1) {
			for (; offset + most * sizeof(Number) <= end;
			     offset += most * sizeof(Number)) {
				this->template step<most>(offset, weights);
				weights += most * this->stride();
			}
		}
		for (; offset < end; offset += sizeof(Number)) {
			this->template step<1>(offset, weights);
			weights += this->stride();
		}
		return weights;
	}

	/** \param first the tile's first position */
	template<size_t... kVector>
	HWY_INLINE void store(const TileSums &out, size_t first, size_t column,
			      std::index_sequence<kVector...>) const
	{
		(storeVector<kVector>(out.at(first, column + kVector * kLanes), out.step), ...);
	}

	template<size_t kVector>
	HWY_INLINE void storeVector(int32_t *out, size_t step) const
	{
		(Product::store(sums[kIndex][kVector], out + kIndex * step), ...);
	}
};

/** What all tiles of a call share */
struct Work {
	std::span<const TilePosition> positions;
	const TileOperands &operands;
	const TileSums &sums;
	Ahead ahead;
};

template<typename Product, typename Shape, size_t... kIndex>
void oneTile(Work &work, size_t first, std::index_sequence<kIndex...>)
{
	using ThisTile = SumTile<Product, Shape, kIndex...>;
	const TileOperands &operands = work.operands;
	const TilePosition *positions = &work.positions[first];
	Ahead ahead = work.ahead;

	constexpr size_t step = ThisTile::kVectors * ThisTile::kLanes;
	size_t column = 0;

	for (; column < operands.used; column += step) {
		ThisTile tile;
		const int32_t *weights = operands.weights + column;

		tile.place(positions, operands.columns);
		tile.start(positions, operands.start + column);
		for (const TileRun &run : operands.runs)
			weights = tile.multiply(run, weights, ahead);
		tile.store(work.sums, first, column, typename ThisTile::Vectors());
	}
	for (; column < operands.columns; column += step) {
		ThisTile tile;
		tile.clear();
		tile.store(work.sums, first, column, typename ThisTile::Vectors());
	}
	work.ahead = ahead;
}

template<typename Product, typename Shape>
void allTilesOf(Work &work)
{
	forEachTile<Shape>(work.positions.size(), [&](size_t first, size_t, auto indices) HWY_ATTR {
		oneTile<Product, Shape>(work, first, indices);
	});
}

/** Of kTileColumns: half of them where the others are zero */
template<typename Product>
void allTilesOfUsed(Work &work)
{
	if (work.operands.used <= kFewColumns)
		allTilesOf<Product, FirstOfTwo>(work);
	else
		allTilesOf<Product, TwoVectors>(work);
}

/** Of what has as many columns as there are kernels, and of bytes */
template<typename Product>
void allTiles(Work &work)
{
	if constexpr (hn::MaxLanes(typename Product::Tag()) == kFewColumns) {
		if (work.operands.columns == kFewColumns) {
			allTilesOf<Product, OneVector>(work);
			return;
		}
	}
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (work.operands.used > kFewColumns) {
		allTilesOf<Product, FourVectors>(work);
		return;
	}
#endif
	allTilesOf<Product, TwoVectors>(work);
}

/* As many as a tile has: a number that is read then meets two vectors of weights. */
size_t columnsOfTarget()
{
	return std::max(kFewColumns, TwoVectors::kVectors * hn::MaxLanes(Tag()));
}

void sumsOfTarget(TileKind kind, std::span<const TilePosition> positions,
		  const TileOperands &operands, const TileSums &sums,
		  std::span<const std::byte> bytesAhead)
{
	Work work = { positions, operands, sums,
		      Ahead(bytesAhead, stepsOf(positions.size(), operands)) };

	if (kind == TileKind::Float) {
		allTiles<Floats>(work);
		return;
	}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads) {
		allTilesOfUsed<Quads>(work);
		return;
	}
	if (kind == TileKind::SignedQuads) {
		allTilesOfUsed<SignedQuads>(work);
		return;
	}
	if (hasVnni()) {
		allTiles<VnniPairs>(work);
		return;
	}
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (kind == TileKind::PositiveBytes) {
		allTiles<PositiveBytes>(work);
		return;
	}
	if (kind == TileKind::Bytes) {
		allTiles<SignedBytes>(work);
		return;
	}
#endif
	allTiles<Pairs>(work);
}

#else /* vectors of any size */

size_t columnsOfTarget()
{
	return kFewColumns;
}

void sumsOfTarget(TileKind kind, std::span<const TilePosition> positions,
		  const TileOperands &operands, const TileSums &sums, std::span<const std::byte>)
{
	tileSumsReference(kind, positions, operands, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(columnsOfTarget);
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

/** \return what a sum begins with */
int32_t startOf(TileKind kind, const TilePosition &position, const int32_t *ofColumn)
{
	if (kind == TileKind::Matrices)
		return 0;
	return kind == TileKind::SignedQuads ? position.start : *ofColumn;
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
	case TileKind::Bytes:
	case TileKind::PositiveBytes:
	case TileKind::Matrices:
		for (size_t i = 0; i < kUnitBytes; i++)
			sum += numberAt<int8_t>(data + i) * numberAt<int8_t>(weight + i);
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

size_t tileColumns()
{
	return HWY_DYNAMIC_DISPATCH(columnsOfTarget)();
}

void tileSums(TileKind kind, std::span<const TilePosition> positions, const TileOperands &operands,
	      const TileSums &sums, std::span<const std::byte> ahead)
{
	if (kind == TileKind::Matrices)
		matrixSums(positions, operands, sums, ahead);
	else
		HWY_DYNAMIC_DISPATCH(sumsOfTarget)(kind, positions, operands, sums, ahead);
}

void tileSumsReference(TileKind kind, std::span<const TilePosition> positions,
		       const TileOperands &operands, const TileSums &sums)
{
	for (size_t p = 0; p < positions.size(); p++) {
		for (size_t column = 0; column < operands.columns; column++) {
			const int32_t *weight = operands.weights + column;
			int32_t sum = startOf(kind, positions[p], operands.start + column);
			for (const TileRun &run : operands.runs) {
				const std::byte *at = positions[p].at + run.offset;
				for (uint32_t unit = 0; unit < run.units;
				     unit++, at += kUnitBytes, weight += operands.columns)
					sum = addUnit(kind, sum, at, *weight);
			}
			if (kind == TileKind::Float && std::isnan(std::bit_cast<float>(sum)))
				sum = kFloatNan;
			*sums.at(p, column) = sum;
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

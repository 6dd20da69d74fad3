/* SPDX-License-Identifier: MIT */
/*
 * Multiplies tiles of output positions by weight columns and keeps the sums in registers. Compiled
 * once for each instruction set (Highway), by conv_simd.cpp.
 */
#include "conv/conv_tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "conv/tile_products-inl.h"
#include "core/bring_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Units, each 4 bytes of operands, between two prefetches of the next weights; a prefetch for each
 * unit is slower. */
constexpr uint32_t kUnitsBetween = 16;

/** The sums of one tile. Template parameters expand its loops, so that the compiler keeps the sums
 * in registers */
template<typename ThisProduct, typename ThisShape, size_t... kIndex>
struct Tile {
	using Product = ThisProduct;
	using Shape = ThisShape;
	using Tag = typename Product::Tag;
	using Vector = typename Product::Vector;
	using Number = typename Product::Number;
	static constexpr size_t kCount = sizeof...(kIndex);
	static constexpr size_t kVectors = Shape::kVectors;
	static constexpr size_t kLanes = hn::MaxLanes(Tag());
	using Vectors = std::make_index_sequence<kVectors>;

	Vector sums[kCount][kVectors];
	const std::byte *at[kCount];

	/** \param starts initial values of the tile's columns */
	HWY_INLINE Tile(const TilePosition *positions, const int32_t *starts)
		: at{ positions[kIndex].at... }
	{
		(start<kIndex>(starts, Vectors()), ...);
	}

	/** \return pointer to the weights that follow those of \a units */
	HWY_INLINE const int32_t *multiply(size_t offset, uint32_t units, const int32_t *weights)
	{
		constexpr size_t most = Shape::kUnitsAtOnce;
		const size_t end = offset + units * sizeof(Number);

		if constexpr (most > 1) {
			for (; offset + most * sizeof(Number) <= end;
			     offset += most * sizeof(Number)) {
				step(offset, weights, std::make_index_sequence<most * kVectors>());
				weights += most * kTileColumns;
			}
		}
		for (; offset < end; offset += sizeof(Number)) {
			step(offset, weights, Vectors());
			weights += kTileColumns;
		}
		return weights;
	}

	HWY_INLINE void multiply(const Panel &panel, size_t column, Ahead &ahead)
	{
		const int32_t *weights = panel.weights + column;

		for (const TileRun &run : panel.runs) {
			for (uint32_t unit = 0; unit < run.units; unit += kUnitsBetween) {
				ahead.bring();
				weights = multiply(run.offset + unit * sizeof(Number),
						   std::min(kUnitsBetween, run.units - unit),
						   weights);
			}
		}
	}

	/** \param first the tile's first position */
	HWY_INLINE void store(const TileSums &out, size_t first, size_t column) const
	{
		constexpr size_t kRow = kVectors * kLanes;
		HWY_ALIGN int32_t rows[kCount * kRow];

		if (out.columns >= kLanes) {
			storeAll(out.columns, Vectors(), [&](size_t vector) HWY_ATTR {
				return out.at(first, column + vector * kLanes);
			});
			return;
		}
		storeAll(kRow, Vectors(),
			 [&](size_t vector) HWY_ATTR { return rows + vector * kLanes; });
		for (size_t i = 0; i < kCount; i++)
			out.put(first + i, column, rows + i * kRow, kRow);
	}

private:
	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void start(const int32_t *starts, std::index_sequence<kVector...>)
	{
		((sums[kPosition][kVector] = Product::start(starts + kVector * kLanes)), ...);
	}

	/**
	 * \param step numbers from a position's sums to the next position's
	 * \param at returns the place of the first position's sums
	 */
	template<typename At, size_t... kVector>
	HWY_INLINE void storeAll(size_t step, std::index_sequence<kVector...>, At at) const
	{
		(storeVector<kVector>(at(kVector), step), ...);
	}

	template<size_t kVector>
	HWY_INLINE void storeVector(int32_t *out, size_t step) const
	{
		(Product::store(sums[kIndex][kVector], out + kIndex * step), ...);
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
		(addUnit<kPosition, kUnit>(at[kPosition] + offset, weights, Vectors()), ...);
	}

	/**
	 * \param offset offset of the units in bytes
	 * \param kColumn vectors of weights, unit by unit
	 */
	template<size_t... kColumn>
	HWY_INLINE void step(size_t offset, const int32_t *weights, std::index_sequence<kColumn...>)
	{
		const Vector vectors[] = { hn::BitCast(
			Tag(), hn::LoadU(hn::RebindToSigned<Tag>(),
					 weights + kColumn / kVectors * kTileColumns +
						 kColumn % kVectors * kLanes))... };

		(add<kIndex>(offset, vectors,
			     std::make_index_sequence<sizeof...(kColumn) / kVectors>()),
		 ...);
	}
};

/**
 * Divides positions into tiles; the last tiles overlap earlier ones rather than being partial
 * \param make function of a tile's first position and of an index for each position
 */
template<typename Shape, typename Make>
HWY_INLINE void forEachTile(size_t count, Make make)
{
	constexpr size_t most = Shape::kMostPositions;
	constexpr size_t few = std::min(most, kFewPositions);
	size_t done = 0;

	while (done < count) {
		const size_t left = count - done;
		/* Two tiles of `few` positions take less time than one tile of `most`. */
		if (left >= most || (left > 2 * few && count >= most)) {
			const size_t first = std::min(done, count - most);
			make(first, std::make_index_sequence<most>());
			done = first + most;
		} else if (left > 1 && count >= few) {
			const size_t first = std::min(done, count - few);
			make(first, std::make_index_sequence<few>());
			done = first + few;
		} else {
			make(done++, std::make_index_sequence<1>());
		}
	}
}

template<typename Product, typename Shape>
void tilesOf(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	Ahead ahead(panel.next,
		    (positions.size() / Shape::kMostPositions + 1) * panel.units() / kUnitsBetween);

	forEachTile<Shape>(
		positions.size(), [&]<size_t... kIndex>(size_t first,
							std::index_sequence<kIndex...>) HWY_ATTR {
			using ThisTile = Tile<Product, Shape, kIndex...>;
			constexpr size_t step = ThisTile::kVectors * ThisTile::kLanes;
			for (size_t column = 0; column < kTileColumns; column += step) {
				ThisTile tile(&positions[first], panel.starts + column);
				if (column < panel.used)
					tile.multiply(panel, column, ahead);
				tile.store(sums, first, column);
			}
		});
}

/** Computes all tiles of a panel; skips the upper half of the columns if this half is zero */
template<typename Product>
void allTiles(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	if (hn::MaxLanes(typename Product::Tag()) == kFewColumns && panel.used <= kFewColumns)
		tilesOf<Product, OneVector>(positions, panel, sums);
	else
		tilesOf<Product, TwoVectors>(positions, panel, sums);
}

/** Calls allTiles() with the instructions for \a kind on this target */
void tileSumsOfTarget(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
		      const TileSums &sums)
{
	if (kind == TileKind::Float)
		return allTiles<Floats>(positions, panel, sums);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads)
		return allTiles<Quads>(positions, panel, sums);
	if (hasVnni())
		return allTiles<VnniPairs>(positions, panel, sums);
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (kind == TileKind::Bytes && panel.used <= kFewColumns)
		return tilesOf<PositiveBytes, TwoVectors>(positions, panel, sums);
	if (kind == TileKind::Bytes)
		return tilesOf<PositiveBytes, FourVectors>(positions, panel, sums);
#endif
	allTiles<Pairs>(positions, panel, sums);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(tileSumsOfTarget);

void tileSums(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
	      const TileSums &sums)
{
	if (kind == TileKind::Matrices)
		matrixSums(positions, panel, sums);
	else
		HWY_DYNAMIC_DISPATCH(tileSumsOfTarget)(kind, positions, panel, sums);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

/* SPDX-License-Identifier: MIT */
/*
 * Tiles of positions by columns, held in registers. Compiled once for each
 * instruction set (Highway).
 */
#include "conv/conv_tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/conv_tile.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/matrix_tile.h"
#include "conv/tile_products-inl.h"
#include "core/bring_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if !HWY_HAVE_SCALABLE

/* Units between two prefetches of the next weights: one behind each unit takes longer. */
constexpr uint32_t kUnitsBetween = 16;

/**
 * The sums of one tile, in registers: indices are constants, without a loop that could have them in
 * memory
 */
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

	HWY_INLINE Tile(const TilePosition *positions, const Panel &panel, size_t column)
		: at{ positions[kIndex].at... }
	{
		const bool isUsed = column < panel.used;

		(start<kIndex>(isUsed ? positions[kIndex].start : 0, &panel.start[column],
			       Vectors()),
		 ...);
	}

	/** \return weights behind those of the units */
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
		HWY_ALIGN int32_t rows[kCount][kVectors * kLanes];

		if (out.columns >= kLanes) {
			storeAll(out.columns, Vectors(), [&](size_t vector) HWY_ATTR {
				return out.at(first, column + vector * kLanes);
			});
			return;
		}
		storeAll(kVectors * kLanes, Vectors(),
			 [&](size_t vector) HWY_ATTR { return rows[0] + vector * kLanes; });
		for (size_t i = 0; i < kCount; i++)
			out.put(first + i, column, rows[i], kVectors * kLanes);
	}

private:
	template<size_t kPosition, size_t... kVector>
	HWY_INLINE void start(int32_t sum, const int32_t *columns, std::index_sequence<kVector...>)
	{
		((sums[kPosition][kVector] = Product::start(sum, columns + kVector * kLanes)), ...);
	}

	/** \param step numbers to the next position's \param at where the first one's are */
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

	/** \param offset of the units, bytes \param kColumn vectors of weights of all of them */
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
 * Sums that 32 bits do not hold: their upper halves are added up apart before they leave them, and
 * the lower ones go on
 */
template<typename Product, typename Shape, size_t... kIndex>
struct WideTile : Tile<Product, Shape, kIndex...> {
	using Base = Tile<Product, Shape, kIndex...>;
	using Base::kCount;
	using Base::kLanes;
	using Base::kVectors;
	using Base::sums;

	static constexpr int kHalfBits = 16;

	Vector highs[kCount][kVectors];

	HWY_INLINE WideTile(const TilePosition *positions, const Panel &panel, size_t column)
		: Base(positions, panel, column)
	{
		forEachSum([](Vector &, Vector &high) HWY_ATTR { high = hn::Zero(Tag()); });
	}

	HWY_INLINE void multiply(const Panel &panel, size_t column)
	{
		const int32_t *weights = panel.weights + column;

		for (const TileRun &run : panel.runs) {
			for (uint32_t unit = 0; unit < run.units; unit += panel.unitsThatFit) {
				weights = Base::multiply(
					run.offset + unit * kUnitBytes,
					std::min(panel.unitsThatFit, run.units - unit), weights);
				carry();
			}
		}
	}

	/** \return how many were clipped of those from the tile's position \a made on */
	HWY_INLINE size_t deliver(const TileSums &out, size_t first, size_t made, size_t column,
				  uint32_t truncate) const
	{
		HWY_ALIGN int32_t rests[kCount][kVectors][kLanes];
		HWY_ALIGN int32_t uppers[kCount][kVectors][kLanes];
		size_t clipped = 0;

		(store<kIndex>(rests, uppers, typename Base::Vectors()), ...);
		for (size_t i = made; i < kCount; i++) {
			for (size_t k = 0; k < kVectors * kLanes; k += hn::Lanes(WideTag()))
				clipped += clip(uppers[i][0] + k, rests[i][0] + k, truncate,
						rests[i][0] + k);
			out.put(first + i, column, rests[i][0], kVectors * kLanes);
		}
		return clipped;
	}

private:
	using WideTag = hn::CappedTag<int64_t, 8>;

	template<typename Use>
	HWY_INLINE void forEachSum(Use use)
	{
		(forEachSum<kIndex>(use, typename Base::Vectors()), ...);
	}

	template<size_t kPosition, typename Use, size_t... kVector>
	HWY_INLINE void forEachSum(Use use, std::index_sequence<kVector...>)
	{
		(use(sums[kPosition][kVector], highs[kPosition][kVector]), ...);
	}

	HWY_INLINE void carry()
	{
		forEachSum([](Vector &sum, Vector &high) HWY_ATTR {
			high = hn::Add(high, hn::ShiftRight<kHalfBits>(sum));
			sum = hn::And(sum, hn::Set(Tag(), UINT16_MAX));
		});
	}

	template<size_t kPosition, typename Numbers, size_t... kVector>
	HWY_INLINE void store(Numbers &rests, Numbers &uppers,
			      std::index_sequence<kVector...>) const
	{
		(hn::Store(sums[kPosition][kVector], Tag(), rests[kPosition][kVector]), ...);
		(hn::Store(highs[kPosition][kVector], Tag(), uppers[kPosition][kVector]), ...);
	}

	/** Round and clip some sums as CACC does; \return how many were clipped */
	static HWY_INLINE size_t clip(const int32_t *uppers, const int32_t *rests,
				      uint32_t truncate, int32_t *out)
	{
		const WideTag tag;
		const hn::RebindToUnsigned<WideTag> bitsTag;
		const hn::Rebind<int32_t, WideTag> partTag;
		const auto load = [&](const int32_t *from) HWY_ATTR {
			return hn::PromoteTo(tag, hn::LoadU(partTag, from));
		};
		const auto sum = hn::Add(hn::ShiftLeft<kHalfBits>(load(uppers)), load(rests));
		const auto half = hn::Set(bitsTag, (uint64_t{ 1 } << truncate) >> 1);
		const auto sign = hn::BroadcastSignBit(sum);
		const auto magnitude = hn::BitCast(bitsTag, hn::Sub(hn::Xor(sum, sign), sign));
		const auto shifted =
			hn::BitCast(tag, hn::ShiftRightSame(hn::Add(magnitude, half),
							    static_cast<int>(truncate)));
		const auto rounded = hn::Sub(hn::Xor(shifted, sign), sign);
		const auto fitting =
			hn::Min(hn::Max(rounded, hn::Set(tag, INT32_MIN)), hn::Set(tag, INT32_MAX));

		hn::StoreU(hn::BitCast(partTag,
				       hn::TruncateTo(hn::RebindToUnsigned<decltype(partTag)>(),
						      hn::BitCast(bitsTag, fitting))),
			   partTag, out);
		return hn::CountTrue(tag, hn::Ne(fitting, rounded));
	}
};

/**
 * Cuts positions into tiles, of which the last ones go back to positions that there was a tile for
 * \param make called with a tile's first position, how many of it were made before, and an index
 *	  for each
 */
template<typename Shape, typename Make>
HWY_INLINE void forEachTile(size_t count, Make make)
{
	constexpr size_t most = Shape::kMostPositions;
	constexpr size_t few = std::min(most, kFewPositions);
	size_t done = 0;

	while (done < count) {
		const size_t left = count - done;
		/* Less time than a tile of most take two of few. */
		if (left >= most || (left > 2 * few && count >= most)) {
			const size_t first = std::min(done, count - most);
			make(first, done - first, std::make_index_sequence<most>());
			done = first + most;
		} else if (left > 1 && count >= few) {
			const size_t first = std::min(done, count - few);
			make(first, done - first, std::make_index_sequence<few>());
			done = first + few;
		} else {
			make(done++, 0, std::make_index_sequence<1>());
		}
	}
}

template<typename Product, typename Shape>
void tilesOf(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	Ahead ahead(panel.next,
		    (positions.size() / Shape::kMostPositions + 1) * panel.units() / kUnitsBetween);

	forEachTile<Shape>(
		positions.size(), [&]<size_t... kIndex>(size_t first, size_t,
							std::index_sequence<kIndex...>) HWY_ATTR {
			using ThisTile = Tile<Product, Shape, kIndex...>;
			constexpr size_t step = ThisTile::kVectors * ThisTile::kLanes;
			for (size_t column = 0; column < kTileColumns; column += step) {
				ThisTile tile(&positions[first], panel, column);
				if (column < panel.used)
					tile.multiply(panel, column, ahead);
				tile.store(sums, first, column);
			}
		});
}

/** Half of the columns where the others are zero */
template<typename Product>
void allTiles(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	if (hn::MaxLanes(typename Product::Tag()) == kFewColumns && panel.used <= kFewColumns)
		tilesOf<Product, OneVector>(positions, panel, sums);
	else
		tilesOf<Product, TwoVectors>(positions, panel, sums);
}

template<typename Product>
uint32_t allWideTiles(std::span<const TilePosition> positions, const Panel &panel,
		      const TileSums &sums)
{
	size_t clipped = 0;

	forEachTile<WideVectors>(
		positions.size(), [&]<size_t... kIndex>(size_t first, size_t made,
							std::index_sequence<kIndex...>) HWY_ATTR {
			using ThisTile = WideTile<Product, WideVectors, kIndex...>;
			constexpr size_t step = ThisTile::kVectors * ThisTile::kLanes;
			for (size_t column = 0; column < kTileColumns; column += step) {
				ThisTile tile(&positions[first], panel, column);
				tile.multiply(panel, column);
				clipped += tile.deliver(sums, first, made, column, panel.truncate);
			}
		});
	return static_cast<uint32_t>(clipped);
}

/** The kernels that this target has; \return what were clipped */
uint32_t sumsOfTarget(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
		      const TileSums &sums)
{
	if (kind == TileKind::Float) {
		allTiles<Floats>(positions, panel, sums);
		return 0;
	}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads) {
		allTiles<Quads>(positions, panel, sums);
		return 0;
	}
	if (kind == TileKind::SignedQuads) {
		allTiles<SignedQuads>(positions, panel, sums);
		return 0;
	}
	if (hasVnni()) {
		if (kind == TileKind::WidePairs)
			return allWideTiles<VnniPairs>(positions, panel, sums);
		allTiles<VnniPairs>(positions, panel, sums);
		return 0;
	}
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	if (kind == TileKind::Bytes) {
		if (panel.used <= kFewColumns)
			tilesOf<PositiveBytes, TwoVectors>(positions, panel, sums);
		else
			tilesOf<PositiveBytes, FourVectors>(positions, panel, sums);
		return 0;
	}
#endif
	if (kind == TileKind::WidePairs)
		return allWideTiles<Pairs>(positions, panel, sums);
	allTiles<Pairs>(positions, panel, sums);
	return 0;
}

#else /* vectors of any size */

uint32_t sumsOfTarget(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
		      const TileSums &sums)
{
	return tileSumsReference(kind, positions, panel, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(sumsOfTarget);

uint32_t tileSums(TileKind kind, std::span<const TilePosition> positions, const Panel &panel,
		  const TileSums &sums)
{
	if (kind != TileKind::Matrices)
		return HWY_DYNAMIC_DISPATCH(sumsOfTarget)(kind, positions, panel, sums);
	matrixSums(positions, panel, sums);
	return 0;
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

/* SPDX-License-Identifier: MIT */
/*
 * Sums of some positions and columns, held in registers, for files that are compiled once for each
 * instruction set (Highway).
 */
#include <algorithm>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "conv/conv_tile.h"
#include "conv/tile_products-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_TILE_INL_H
#undef NVDLA_SIM_CONV_TILE_INL_H
#else
#define NVDLA_SIM_CONV_TILE_INL_H
#endif

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
	size_t columns; /* of the weights */

	/** \return numbers from a unit's weights to the next one's */
	HWY_INLINE size_t stride() const { return Shape::kHasAllColumns ? kLanes : columns; }

	HWY_INLINE void place(const TilePosition *positions, size_t allColumns)
	{
		((at[kIndex] = positions[kIndex].at), ...);
		columns = allColumns;
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
		const Vector vectors[] = { hn::BitCast(
			Tag(), hn::LoadU(hn::RebindToSigned<Tag>(),
					 weights + kColumn / kVectors * stride() +
						 kColumn % kVectors * kLanes))... };

		(add<kIndex>(offset, vectors, std::make_index_sequence<kUnits>()), ...);
	}

	/** \brief Adds the products of some units, from \a offset on */
	template<size_t kUnits>
	HWY_INLINE void step(size_t offset, const int32_t *weights)
	{
		step<kUnits>(offset, weights, std::make_index_sequence<kUnits * kVectors>());
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

/** \return how many units are multiplied for all positions */
HWY_INLINE size_t stepsOf(size_t count, const TileOperands &operands)
{
	return (count + kPositions - 1) / kPositions * operands.units();
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif

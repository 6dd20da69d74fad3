/* SPDX-License-Identifier: MIT */
/*
 * Tiles of positions by columns, held in registers. Compiled once for each
 * instruction set (Highway); x86 has the multiply-add instructions that make it
 * worth while, other hosts use the reference.
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

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Tag>;

/* Columns in two vectors; as many positions as the other registers hold. */
constexpr size_t kColumns = 2 * hn::MaxLanes(Tag());
constexpr size_t kPositions = HWY_TARGET <= HWY_AVX3 ? 12 : 5;
constexpr size_t kFewPositions = 4;

struct Pairs {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
#if HWY_TARGET <= HWY_AVX3
		return hn::Add(sum, Vector{ _mm512_madd_epi16(data.raw, weights.raw) });
#else
		return hn::Add(sum, Vector{ _mm256_madd_epi16(data.raw, weights.raw) });
#endif
	}
};

#if HWY_TARGET <= HWY_AVX3
struct Quads {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		/* VNNI comes with more hosts than the set of instructions Highway wants to see. */
		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(data.raw), "v"(weights.raw));
		return sum;
	}
};
#endif

/** The sums of one tile, in registers: indices are constants once inlined */
template<typename Product, size_t... kIndex>
struct Tile {
	static constexpr size_t kCount = sizeof...(kIndex);

	Vector sums[kCount][2];
	const std::byte *at[kCount];

	HWY_INLINE void clear() { ((sums[kIndex][0] = sums[kIndex][1] = hn::Zero(Tag())), ...); }

	HWY_INLINE void begin(const TilePosition *positions, const TileRun &run)
	{
		((at[kIndex] =
			  positions[kIndex].rows[run.row] + positions[kIndex].offset + run.offset),
		 ...);
	}

	template<size_t kPosition>
	HWY_INLINE void add(Vector first, Vector second)
	{
		int32_t unit;
		std::memcpy(&unit, at[kPosition], sizeof(unit));
		at[kPosition] += sizeof(unit);
		const Vector data = hn::Set(Tag(), unit);
		sums[kPosition][0] = Product::add(sums[kPosition][0], data, first);
		sums[kPosition][1] = Product::add(sums[kPosition][1], data, second);
	}

	HWY_INLINE void step(const int32_t *weights)
	{
		const Vector first = hn::LoadU(Tag(), weights);
		const Vector second = hn::LoadU(Tag(), weights + hn::Lanes(Tag()));
		(add<kIndex>(first, second), ...);
	}

	HWY_INLINE void store(int32_t *out) const
	{
		((hn::StoreU(sums[kIndex][0], Tag(), out + kIndex * kTileColumns),
		  hn::StoreU(sums[kIndex][1], Tag(),
			     out + kIndex * kTileColumns + hn::Lanes(Tag()))),
		 ...);
	}
};

template<typename Product, size_t... kIndex>
void oneTile(const TilePosition *positions, const TileRun *runs, size_t runCount,
	     const int32_t *weights, int32_t *out, std::index_sequence<kIndex...>)
{
	for (size_t column = 0; column < kTileColumns; column += kColumns) {
		Tile<Product, kIndex...> tile;
		const int32_t *unit = weights + column;

		tile.clear();
		for (size_t i = 0; i < runCount; i++) {
			tile.begin(positions, runs[i]);
			for (uint32_t u = 0; u < runs[i].units; u++, unit += kTileColumns)
				tile.step(unit);
		}
		tile.store(out + column);
	}
}

template<typename Product, size_t kCount>
size_t oneTileOf(const TilePosition *positions, size_t count, const TileRun *runs, size_t runCount,
		 const int32_t *weights, int32_t *sums)
{
	TilePosition padded[kCount];
	int32_t out[kCount * kTileColumns];

	/* What is missing to a full tile is the last position again. */
	for (size_t i = 0; i < kCount; i++)
		padded[i] = positions[std::min(i, count - 1)];
	oneTile<Product>(padded, runs, runCount, weights, out, std::make_index_sequence<kCount>());
	const size_t done = std::min(count, kCount);
	std::copy_n(out, done * kTileColumns, sums);
	return done;
}

template<typename Product>
void allTiles(const TilePosition *positions, size_t count, const TileRun *runs, size_t runCount,
	      const int32_t *weights, int32_t *sums)
{
	while (count > 0) {
		const size_t done =
			count > kFewPositions
				? oneTileOf<Product, kPositions>(positions, count, runs, runCount,
								 weights, sums)
				: oneTileOf<Product, kFewPositions>(positions, count, runs,
								    runCount, weights, sums);
		positions += done;
		count -= done;
		sums += done * kTileColumns;
	}
}

TileKind kindOfTarget()
{
	return HWY_TARGET <= HWY_AVX3 && __builtin_cpu_supports("avx512vnni") ? TileKind::Quads
									      : TileKind::Pairs;
}

void sumsOfTarget(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
		  size_t runCount, const int32_t *weights, int32_t *sums)
{
#if HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads) {
		allTiles<Quads>(positions, count, runs, runCount, weights, sums);
		return;
	}
#else
	(void)kind;
#endif
	allTiles<Pairs>(positions, count, runs, runCount, weights, sums);
}

#else /* no suitable instructions */

TileKind kindOfTarget()
{
	return TileKind::None;
}

void sumsOfTarget(TileKind, const TilePosition *, size_t, const TileRun *, size_t, const int32_t *,
		  int32_t *)
{
}

#endif

/** CACC's delivery for sums that fit 32 bits after it, too */
void deliverOfTarget(const int32_t *sums, size_t count, const int32_t *offsets, uint32_t truncate,
		     int32_t *out)
{
	namespace hn = hwy::HWY_NAMESPACE;
	const hn::CappedTag<int32_t, kTileColumns> tag;
	const int shift = static_cast<int>(truncate);

	for (size_t i = 0; i < count * kTileColumns; i += hn::Lanes(tag)) {
		auto value = hn::Sub(hn::LoadU(tag, sums + i),
				     hn::LoadU(tag, offsets + i % kTileColumns));
		if (truncate) {
			const auto sign = hn::BroadcastSignBit(value);
			const auto magnitude = hn::Sub(hn::Xor(value, sign), sign);
			const auto half =
				hn::And(hn::ShiftRightSame(magnitude, shift - 1), hn::Set(tag, 1));
			const auto rounded = hn::Add(hn::ShiftRightSame(magnitude, shift), half);
			value = hn::Sub(hn::Xor(rounded, sign), sign);
		}
		hn::StoreU(value, tag, out + i);
	}
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(kindOfTarget);
HWY_EXPORT(sumsOfTarget);
HWY_EXPORT(deliverOfTarget);

TileKind tileKind()
{
	return HWY_DYNAMIC_DISPATCH(kindOfTarget)();
}

void tileSums(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
	      size_t runCount, const int32_t *weights, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(sumsOfTarget)(kind, positions, count, runs, runCount, weights, sums);
}

void deliverTile(const int32_t *sums, size_t count, const int32_t *offsets, uint32_t truncate,
		 int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(deliverOfTarget)(sums, count, offsets, truncate, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

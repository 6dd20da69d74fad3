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

#include "conv/csc.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/conv_tile.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#ifndef NVDLA_SIM_CONV_TILE_ONCE
#define NVDLA_SIM_CONV_TILE_ONCE

namespace nvdla::sim
{

/* What an FP16 NaN without sign, 0x7e00, is in the accumulator. */
constexpr int32_t kFloatNan = 0x7f800200;

} /* namespace nvdla::sim */

#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if !HWY_HAVE_SCALABLE

using Tag = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Tag>;

/* As many positions as registers hold beside the weights. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kPositions = 12;
#elif HWY_ARCH_X86
constexpr size_t kPositions = 5;
#else
constexpr size_t kPositions = 10;
#endif
constexpr size_t kFewPositions = 4;

struct Pairs {
	using Number = int32_t;
	using Tag = HWY_NAMESPACE::Tag;
	using Vector = HWY_NAMESPACE::Vector;
	static constexpr size_t kVectors = 2;
	static constexpr size_t kAllColumns = kTileColumns;

	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		return hn::Add(sum, Vector{ _mm512_madd_epi16(data.raw, weights.raw) });
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
		return hn::Add(sum, Vector{ _mm256_madd_epi16(data.raw, weights.raw) });
#else
		const Vector low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(data)),
					   hn::ShiftRight<16>(hn::ShiftLeft<16>(weights)));
		const Vector high = hn::Mul(hn::ShiftRight<16>(data), hn::ShiftRight<16>(weights));
		return hn::Add(sum, hn::Add(low, high));
#endif
	}

	static HWY_INLINE void store(Vector sum, int32_t *out)
	{
		hn::StoreU(sum, Tag(), out);
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
struct Quads : Pairs {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		/* VNNI comes with more hosts than the set of instructions Highway wants to see. */
		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(data.raw), "v"(weights.raw));
		return sum;
	}
};
#endif

struct Floats {
	using Number = float;
	using Tag = hn::CappedTag<float, kFloatColumns>;
	using Vector = hn::Vec<Tag>;
	static constexpr size_t kVectors =
		kFloatColumns / hn::MaxLanes(Tag()) < 4 ? kFloatColumns / hn::MaxLanes(Tag()) : 4;
	static constexpr size_t kAllColumns = kFloatColumns;

	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		return hn::MulAdd(data, weights, sum);
	}

	static HWY_INLINE void store(Vector sum, int32_t *out)
	{
		const hn::RebindToSigned<Tag> bitsTag;
		const auto nan = hn::RebindMask(bitsTag, hn::IsNaN(sum));
		hn::StoreU(
			hn::IfThenElse(nan, hn::Set(bitsTag, kFloatNan), hn::BitCast(bitsTag, sum)),
			bitsTag, out);
	}
};

/** The sums of one tile, in registers: indices are constants once inlined */
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

	HWY_INLINE void clear()
	{
		for (auto &position : sums)
			for (Vector &sum : position)
				sum = hn::Zero(Tag());
	}

	HWY_INLINE void begin(const TilePosition *positions, const TileRun &run)
	{
		((at[kIndex] =
			  positions[kIndex].rows[run.row] + positions[kIndex].offset + run.offset),
		 ...);
	}

	template<size_t kPosition>
	HWY_INLINE void add(const Vector *weights)
	{
		Number unit;
		std::memcpy(&unit, at[kPosition], sizeof(unit));
		at[kPosition] += sizeof(unit);
		const Vector data = hn::Set(Tag(), unit);
		for (size_t i = 0; i < kVectors; i++)
			sums[kPosition][i] = Product::add(sums[kPosition][i], data, weights[i]);
	}

	HWY_INLINE void step(const Number *weights)
	{
		Vector columns[kVectors];

		for (size_t i = 0; i < kVectors; i++)
			columns[i] = hn::LoadU(Tag(), weights + i * kLanes);
		(add<kIndex>(columns), ...);
	}

	HWY_INLINE void store(int32_t *out) const
	{
		for (size_t position = 0; position < kCount; position++)
			for (size_t i = 0; i < kVectors; i++)
				Product::store(sums[position][i],
					       out + position * Product::kAllColumns + i * kLanes);
	}
};

template<typename Product, size_t... kIndex>
void oneTile(const TilePosition *positions, const TileRun *runs, size_t runCount,
	     const typename Product::Number *weights, int32_t *out, std::index_sequence<kIndex...>)
{
	using ThisTile = Tile<Product, kIndex...>;

	for (size_t column = 0; column < Product::kAllColumns;
	     column += ThisTile::kVectors * ThisTile::kLanes) {
		ThisTile tile;
		const auto *unit = weights + column;

		tile.clear();
		for (size_t i = 0; i < runCount; i++) {
			tile.begin(positions, runs[i]);
			for (uint32_t u = 0; u < runs[i].units; u++, unit += Product::kAllColumns)
				tile.step(unit);
		}
		tile.store(out + column);
	}
}

template<typename Product, size_t kCount>
size_t oneTileOf(const TilePosition *positions, size_t count, const TileRun *runs, size_t runCount,
		 const typename Product::Number *weights, int32_t *sums)
{
	TilePosition padded[kCount];
	int32_t out[kCount * Product::kAllColumns];

	/* What is missing to a full tile is the last position again. */
	for (size_t i = 0; i < kCount; i++)
		padded[i] = positions[std::min(i, count - 1)];
	oneTile<Product>(padded, runs, runCount, weights, out, std::make_index_sequence<kCount>());
	const size_t done = std::min(count, kCount);
	std::copy_n(out, done * Product::kAllColumns, sums);
	return done;
}

template<typename Product, size_t kMost>
void allTiles(const TilePosition *positions, size_t count, const TileRun *runs, size_t runCount,
	      const typename Product::Number *weights, int32_t *sums)
{
	while (count > 0) {
		const size_t done =
			count > kFewPositions
				? oneTileOf<Product, kMost>(positions, count, runs, runCount,
							    weights, sums)
				: oneTileOf<Product, kFewPositions>(positions, count, runs,
								    runCount, weights, sums);
		positions += done;
		count -= done;
		sums += done * Product::kAllColumns;
	}
}

void floatSumsOfTarget(const TilePosition *positions, size_t count, const TileRun *runs,
		       size_t runCount, const float *weights, int32_t *sums)
{
	/* One vector of columns leaves room for more positions. */
	constexpr size_t most = Floats::kVectors == 1 ? 2 * kPositions : kPositions;

	allTiles<Floats, most>(positions, count, runs, runCount, weights, sums);
}

TileKind kindOfTarget()
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (__builtin_cpu_supports("avx512vnni"))
		return TileKind::Quads;
#endif
	return HWY_TARGET == HWY_SCALAR ? TileKind::None : TileKind::Pairs;
}

void sumsOfTarget(TileKind kind, const TilePosition *positions, size_t count, const TileRun *runs,
		  size_t runCount, const int32_t *weights, int32_t *sums)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (kind == TileKind::Quads) {
		allTiles<Quads, kPositions>(positions, count, runs, runCount, weights, sums);
		return;
	}
#else
	(void)kind;
#endif
	allTiles<Pairs, kPositions>(positions, count, runs, runCount, weights, sums);
}

#else /* vectors of any size */

TileKind kindOfTarget()
{
	return TileKind::None;
}

void sumsOfTarget(TileKind, const TilePosition *, size_t, const TileRun *, size_t, const int32_t *,
		  int32_t *)
{
}

void floatSumsOfTarget(const TilePosition *positions, size_t count, const TileRun *runs,
		       size_t runCount, const float *weights, int32_t *sums)
{
	tileFloatSumsReference(positions, count, runs, runCount, weights, sums);
}

#endif

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

void putQuadsOfTarget(const int16_t *elements, size_t units, std::byte *out)
{
	const hn::CappedTag<int16_t, 32> tag;
	const hn::Rebind<int8_t, decltype(tag)> byteTag;
	constexpr size_t kStep = kTileColumns * kUnitBytes;
	int8_t bytes[kMacLanes];

	while (units > 0) {
		const size_t some = std::min(units, kMacLanes / kUnitBytes);
		const size_t count = some * kUnitBytes;
		size_t i = 0;
		for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
			hn::StoreU(hn::DemoteTo(byteTag, hn::LoadU(tag, elements + i)), byteTag,
				   bytes + i);
		for (; i < count; i++)
			bytes[i] = static_cast<int8_t>(elements[i]);
		for (size_t unit = 0; unit < some; unit++, out += kStep)
			std::memcpy(out, bytes + unit * kUnitBytes, kUnitBytes);
		elements += count;
		units -= some;
	}
}

void widenOfTarget(const int16_t *halves, size_t count, float *out)
{
	const hn::ScalableTag<float> tag;
	const hn::RebindToUnsigned<decltype(tag)> bitsTag;
	const hn::Rebind<uint16_t, decltype(tag)> halfTag;
	const auto *in = reinterpret_cast<const uint16_t *>(halves);

	auto widen = [&](auto half) HWY_ATTR {
		const auto bits = hn::PromoteTo(bitsTag, half);
		const auto magnitude = hn::And(bits, hn::Set(bitsTag, 0x7fff));
		const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
		const auto nan = hn::Gt(hn::BitCast(hn::RebindToSigned<decltype(tag)>(), magnitude),
					hn::Set(hn::RebindToSigned<decltype(tag)>(), 0x7c00));
		/* With the exponent's bias made right by a product, denormals are, too. */
		const auto value = hn::Mul(hn::BitCast(tag, hn::ShiftLeft<13>(magnitude)),
					   hn::Set(tag, 0x1p112F));
		const auto number = hn::Or(value, hn::BitCast(tag, sign));
		return hn::IfThenElse(hn::RebindMask(tag, nan),
				      hn::BitCast(tag, hn::Set(bitsTag, 0x7fc00000)), number);
	};
	size_t i = 0;
	for (; i + hn::Lanes(tag) <= count; i += hn::Lanes(tag))
		hn::StoreU(widen(hn::LoadU(halfTag, in + i)), tag, out + i);
	for (; i < count; i++)
		out[i] = hn::GetLane(widen(hn::Set(halfTag, in[i])));
}

/** CACC's delivery for sums that fit 32 bits after it, too */
void deliverOfTarget(const int32_t *sums, size_t count, const int32_t *offsets, uint32_t truncate,
		     int32_t *out)
{
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
HWY_EXPORT(floatSumsOfTarget);
HWY_EXPORT(widenOfTarget);
HWY_EXPORT(widenBytesOfTarget);
HWY_EXPORT(putQuadsOfTarget);
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

void tileFloatSums(const TilePosition *positions, size_t count, const TileRun *runs,
		   size_t runCount, const float *weights, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(floatSumsOfTarget)(positions, count, runs, runCount, weights, sums);
}

void widenHalves(const int16_t *halves, size_t count, float *out)
{
	HWY_DYNAMIC_DISPATCH(widenOfTarget)(halves, count, out);
}

void widenBytes(const std::byte *bytes, size_t count, int16_t *out)
{
	HWY_DYNAMIC_DISPATCH(widenBytesOfTarget)(bytes, count, out);
}

void putQuads(const int16_t *elements, size_t units, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(putQuadsOfTarget)(elements, units, out);
}

void tileFloatSumsReference(const TilePosition *positions, size_t count, const TileRun *runs,
			    size_t runCount, const float *weights, int32_t *sums)
{
	for (size_t p = 0; p < count; p++) {
		for (size_t column = 0; column < kFloatColumns; column++) {
			const float *weight = weights + column;
			float sum = 0;
			for (size_t i = 0; i < runCount; i++) {
				const std::byte *at = positions[p].rows[runs[i].row] +
						      positions[p].offset + runs[i].offset;
				for (uint32_t unit = 0; unit < runs[i].units; unit++) {
					float data;
					std::memcpy(&data, at + unit * sizeof(data), sizeof(data));
					sum += data * *weight;
					weight += kFloatColumns;
				}
			}
			*sums++ = std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
		}
	}
}

void deliverTile(const int32_t *sums, size_t count, const int32_t *offsets, uint32_t truncate,
		 int32_t *out)
{
	HWY_DYNAMIC_DISPATCH(deliverOfTarget)(sums, count, offsets, truncate, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

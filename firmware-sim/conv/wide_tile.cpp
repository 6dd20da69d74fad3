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
#include "conv/cacc.h"
#include "conv/tile-inl.h"
#include "conv/tile_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/**
 * Shifts sums, and clips them to 32 bits
 * \return how many were clipped
 */
template<typename WideTag>
HWY_INLINE size_t clip(WideTag tag, hn::Vec<WideTag> sums, uint32_t truncate, int32_t *out)
{
	const hn::RebindToUnsigned<WideTag> bitsTag;
	const hn::Rebind<uint32_t, WideTag> outTag;
	const auto half = hn::Set(bitsTag, truncate ? uint64_t{ 1 } << (truncate - 1) : 0);
	const auto sign = hn::BroadcastSignBit(sums);
	const auto magnitude = hn::BitCast(bitsTag, hn::Sub(hn::Xor(sums, sign), sign));
	const auto shifted = hn::BitCast(
		tag, hn::ShiftRightSame(hn::Add(magnitude, half), static_cast<int>(truncate)));
	const auto rounded = hn::Sub(hn::Xor(shifted, sign), sign);
	const auto fitting =
		hn::Min(hn::Max(rounded, hn::Set(tag, INT32_MIN)), hn::Set(tag, INT32_MAX));

	hn::StoreU(hn::TruncateTo(outTag, hn::BitCast(bitsTag, fitting)), outTag,
		   reinterpret_cast<uint32_t *>(out));
	return hn::CountTrue(tag, hn::Ne(fitting, rounded));
}

uint32_t clipSumsOfTarget(std::span<const int64_t> sums, uint32_t truncate, int32_t *out)
{
	const hn::CappedTag<int64_t, 8> tag;
	size_t clipped = 0;

	for (size_t i = 0; i < sums.size(); i += hn::Lanes(tag))
		clipped += clip(tag, hn::LoadU(tag, &sums[i]), truncate, out + i);
	return static_cast<uint32_t>(clipped);
}

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/* Two vectors for each position and vector of columns, beside weights and data. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kWidePositions = 7;
#elif HWY_ARCH_X86
constexpr size_t kWidePositions = 3;
#else
constexpr size_t kWidePositions = 6;
#endif
constexpr size_t kLanes = hn::MaxLanes(Tag());

template<size_t kVectorsOfShape>
struct WideShape {
	static constexpr size_t kVectors = kVectorsOfShape;
	static constexpr bool kHasAllColumns = kVectors == 1;
	static constexpr size_t kMostPositions = 2 * kWidePositions / kVectors;
};

/** What carries sums on */
template<typename Product>
struct Carrying {
	/** Adds the upper half of sums to others */
	static HWY_INLINE void addHighs(Vector &highs, Vector sums)
	{
		highs = hn::Add(highs, hn::ShiftRight<16>(sums));
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/* The upper half times one, in one instruction. */
template<>
struct Carrying<VnniPairs> {
	static HWY_INLINE void addHighs(Vector &highs, Vector sums)
	{
		highs = VnniPairs::add(highs, sums, hn::Set(Tag(), 1 << 16));
	}
};
#endif

constexpr uint32_t kHalfBits = 16;

/** Sums that are not clipped with that many bits less, from their upper halves */
class Fitting
{
public:
	/** \param truncate at most kHalfBits */
	HWY_INLINE explicit Fitting(uint32_t truncate)
		: truncate_(static_cast<int>(truncate)),
		  half_(hn::Set(Tag(), (1 << truncate) >> 1)),
		  sign_(hn::Set(Tag(), truncate ? -1 : 0)),
		  bias_(hn::Set(Tag(), (INT32_MAX >> (kHalfBits - truncate)) - 1))
	{
	}

	/** Looks at upper halves */
	HWY_INLINE void add(Vector upper)
	{
		largest_ = hn::Max(largest_, hn::BitCast(BitsTag(), hn::Add(upper, bias_)));
	}

	/** \return nothing with one of them is clipped, nor with one more */
	HWY_INLINE bool all() const
	{
		const auto end =
			hn::BitCast(BitsTag(), hn::Add(hn::Add(bias_, bias_), hn::Set(Tag(), 1)));

		return hn::AllTrue(BitsTag(), hn::Lt(largest_, end));
	}

	/* Halves are away from zero, what is below it is rounded up from just behind them. */
	HWY_INLINE void put(Vector upper, Vector rest, int32_t *out) const
	{
		const auto below = hn::And(hn::BroadcastSignBit(upper), sign_);
		const auto rounded =
			hn::ShiftRightSame(hn::Add(hn::Add(rest, half_), below), truncate_);

		hn::StoreU(
			hn::Add(hn::ShiftLeftSame(upper, static_cast<int>(kHalfBits) - truncate_),
				rounded),
			Tag(), out);
	}

private:
	using BitsTag = hn::RebindToUnsigned<Tag>;

	int truncate_;
	Vector half_;
	Vector sign_;
	Vector bias_;
	hn::Vec<BitsTag> largest_ = hn::Zero(BitsTag());
};

/** The sums of a tile in memory: for each position of each vector of columns */
struct WideMemory {
	static constexpr size_t kNumbers = 2 * kWidePositions * kLanes;

	HWY_ALIGN int32_t highs[kNumbers]; /* upper halves */
	HWY_ALIGN int32_t rests[kNumbers]; /* of less than 2^16 */

	/** \return how many of the vector at \a index were clipped */
	HWY_INLINE size_t put(size_t index, uint32_t truncate, int32_t *out) const
	{
		const hn::CappedTag<int64_t, 8> tag;
		const hn::Rebind<int32_t, decltype(tag)> partTag;
		size_t clipped = 0;

		for (size_t i = 0; i < kLanes; i += hn::MaxLanes(tag)) {
			const auto load = [&](const int32_t *from) HWY_ATTR {
				return hn::PromoteTo(tag, hn::LoadU(partTag, from + index + i));
			};
			const auto sum =
				hn::Add(hn::ShiftLeft<kHalfBits>(load(highs)), load(rests));
			clipped += clip(tag, sum, truncate, out + i);
		}
		return clipped;
	}
};

/** Sums, and their upper halves added up apart */
template<typename Product, typename Shape, size_t... kIndex>
struct WideTile : Tile<Product, Shape, kIndex...> {
	using Base = Tile<Product, Shape, kIndex...>;
	using Base::kCount;
	using Base::kVectors;
	using Base::sums;
	using typename Base::Vectors;

	static constexpr uint32_t kUnitsAtOnce = 4;

	Vector highs[kCount][kVectors];

	HWY_INLINE WideTile()
	{
		(clear(sums[kIndex], Vectors()), ...);
		(clear(highs[kIndex], Vectors()), ...);
	}

	/** Makes room in the sums */
	HWY_INLINE void carry() { (carry(sums[kIndex], highs[kIndex], Vectors()), ...); }

	/** \param carries of this run; of the next one afterwards */
	HWY_INLINE const int32_t *multiply(const TileRun &run, const int32_t *weights,
					   const uint8_t *&carries, Ahead &ahead)
	{
		const size_t end = run.offset + run.units * kUnitBytes;

		for (size_t offset = run.offset; offset < end; carry()) {
			uint32_t units = *carries++;
			for (; units >= kUnitsAtOnce; units -= kUnitsAtOnce) {
				if (ahead.has())
					ahead.bring(kUnitsAtOnce);
				add(offset, weights, std::make_index_sequence<kUnitsAtOnce>());
				offset += kUnitsAtOnce * kUnitBytes;
				weights += kUnitsAtOnce * this->stride();
			}
			for (; units > 0; units--) {
				this->template step<1>(offset, weights);
				offset += kUnitBytes;
				weights += this->stride();
			}
		}
		return weights;
	}

	/**
	 * Puts sums of which none is clipped
	 * \return false if there may be others, and nothing was done
	 */
	HWY_INLINE bool put(uint32_t truncate, const TileSums &out, size_t first,
			    size_t column) const
	{
		if (truncate > kHalfBits)
			return false;
		Fitting fitting(truncate);
		(add(fitting, highs[kIndex], Vectors()), ...);
		if (!fitting.all())
			return false;
		(put(fitting, highs[kIndex], sums[kIndex], out, first + kIndex, column, Vectors()),
		 ...);
		return true;
	}

	HWY_INLINE void store(WideMemory &memory) const
	{
		(store(memory.rests + kIndex * kVectors * kLanes, sums[kIndex], Vectors()), ...);
		(store(memory.highs + kIndex * kVectors * kLanes, highs[kIndex], Vectors()), ...);
	}

private:
	template<size_t... kUnit>
	HWY_INLINE void add(size_t offset, const int32_t *weights, std::index_sequence<kUnit...>)
	{
		(this->template step<1>(offset + kUnit * kUnitBytes,
					weights + kUnit * this->stride()),
		 ...);
	}

	template<size_t... kVector>
	static HWY_INLINE void clear(Vector *vectors, std::index_sequence<kVector...>)
	{
		((vectors[kVector] = hn::Zero(Tag())), ...);
	}

	template<size_t... kVector>
	static HWY_INLINE void carry(Vector *lows, Vector *uppers, std::index_sequence<kVector...>)
	{
		(Carrying<Product>::addHighs(uppers[kVector], lows[kVector]), ...);
		((lows[kVector] = hn::And(lows[kVector], hn::Set(Tag(), UINT16_MAX))), ...);
	}

	template<size_t... kVector>
	static HWY_INLINE void add(Fitting &fitting, const Vector *uppers,
				   std::index_sequence<kVector...>)
	{
		(fitting.add(uppers[kVector]), ...);
	}

	template<size_t... kVector>
	static HWY_INLINE void put(const Fitting &fitting, const Vector *uppers,
				   const Vector *rests, const TileSums &out, size_t position,
				   size_t column, std::index_sequence<kVector...>)
	{
		(fitting.put(uppers[kVector], rests[kVector],
			     out.at(position, column + kVector * kLanes)),
		 ...);
	}

	template<size_t... kVector>
	static HWY_INLINE void store(int32_t *out, const Vector *vectors,
				     std::index_sequence<kVector...>)
	{
		(hn::Store(vectors[kVector], Tag(), out + kVector * kLanes), ...);
	}
};

/** What all tiles of a call share */
struct WideWork {
	std::span<const TilePosition> positions;
	const TileOperands &operands;
	std::span<const uint8_t> carries;
	uint32_t truncate;
	const TileSums &sums;
	Ahead ahead;
};

/** \return how many were clipped of those that were not \a made before */
template<typename Product, typename Shape, size_t... kIndex>
size_t wideTile(WideWork &work, size_t first, size_t made, std::index_sequence<kIndex...>)
{
	constexpr size_t kVectors = Shape::kVectors;
	const TileOperands &operands = work.operands;
	Ahead ahead = work.ahead;
	WideMemory memory;
	size_t clipped = 0;

	for (size_t column = 0; column < operands.columns; column += kVectors * kLanes) {
		WideTile<Product, Shape, kIndex...> tile;
		const int32_t *weights = operands.weights + column;
		const uint8_t *carries = work.carries.data();

		tile.place(&work.positions[first], operands.columns);
		for (const TileRun &run : operands.runs)
			weights = tile.multiply(run, weights, carries, ahead);
		if (tile.put(work.truncate, work.sums, first, column))
			continue;
		tile.store(memory);
		for (size_t vector = 0; vector < kVectors; vector++) {
			int32_t *out = work.sums.at(first + made, column + vector * kLanes);
			for (size_t i = made; i < sizeof...(kIndex); i++, out += work.sums.step)
				clipped += memory.put((i * kVectors + vector) * kLanes,
						      work.truncate, out);
		}
	}
	work.ahead = ahead;
	return clipped;
}

template<typename Product, size_t kVectors>
uint32_t wideTiles(WideWork work)
{
	using Shape = WideShape<kVectors>;
	size_t clipped = 0;

	forEachTile<Shape>(work.positions.size(),
			   [&](size_t first, size_t made, auto indices) HWY_ATTR {
				   clipped += wideTile<Product, Shape>(work, first, made, indices);
			   });
	return static_cast<uint32_t>(clipped);
}

template<typename Product>
uint32_t allWideTiles(const WideWork &work)
{
	if constexpr (kLanes == kFewColumns) {
		if (work.operands.columns == kFewColumns)
			return wideTiles<Product, 1>(work);
	}
	return wideTiles<Product, 2>(work);
}

uint32_t wideSumsOfTarget(std::span<const TilePosition> positions, const TileOperands &operands,
			  std::span<const uint8_t> carries, uint32_t truncate, const TileSums &sums,
			  std::span<const std::byte> bytesAhead)
{
	const WideWork work = { positions, operands,
				carries,   truncate,
				sums,	   Ahead(bytesAhead, stepsOf(positions.size(), operands)) };

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (hasVnni())
		return allWideTiles<VnniPairs>(work);
#endif
	return allWideTiles<Pairs>(work);
}

#else /* vectors of any size */

uint32_t wideSumsOfTarget(std::span<const TilePosition> positions, const TileOperands &operands,
			  std::span<const uint8_t>, uint32_t truncate, const TileSums &sums,
			  std::span<const std::byte>)
{
	return wideSumsReference(positions, operands, truncate, sums);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(wideSumsOfTarget);
HWY_EXPORT(clipSumsOfTarget);

uint32_t wideSums(std::span<const TilePosition> positions, const TileOperands &operands,
		  std::span<const uint8_t> carries, uint32_t truncate, const TileSums &sums,
		  std::span<const std::byte> ahead)
{
	return HWY_DYNAMIC_DISPATCH(wideSumsOfTarget)(positions, operands, carries, truncate, sums,
						      ahead);
}

uint32_t wideSumsReference(std::span<const TilePosition> positions, const TileOperands &operands,
			   uint32_t truncate, const TileSums &sums)
{
	int16_t pair[2];
	int16_t weightPair[2];
	uint32_t clipped = 0;

	for (size_t p = 0; p < positions.size(); p++) {
		for (size_t column = 0; column < operands.columns; column++) {
			const int32_t *weight = operands.weights + column;
			bool saturated = false;
			IntegerSum sum;
			for (const TileRun &run : operands.runs) {
				const std::byte *at = positions[p].at + run.offset;
				for (uint32_t unit = 0; unit < run.units;
				     unit++, at += kUnitBytes, weight += operands.columns) {
					std::memcpy(pair, at, sizeof(pair));
					std::memcpy(weightPair, weight, sizeof(weightPair));
					sum.value += int64_t{ pair[0] } * weightPair[0] +
						     int64_t{ pair[1] } * weightPair[1];
				}
			}
			*sums.at(p, column) = sum.deliver(truncate, saturated);
			clipped += saturated;
		}
	}
	return clipped;
}

uint32_t clipSums(std::span<const int64_t> sums, uint32_t truncate, int32_t *out)
{
	return HWY_DYNAMIC_DISPATCH(clipSumsOfTarget)(sums, truncate, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

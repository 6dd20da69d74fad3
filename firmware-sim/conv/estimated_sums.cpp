/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/estimated_sums.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/estimated_sums.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#ifndef NVDLA_SIM_CONV_ESTIMATED_SUMS_ONCE
#define NVDLA_SIM_CONV_ESTIMATED_SUMS_ONCE

namespace nvdla::sim
{

/* Units of a double unit of high bytes, and those of a double unit of weights. */
inline constexpr uint32_t kHighUnits = 4;
inline constexpr uint32_t kLowUnits = 2;

/** What is known of some units of weights, for each column */
struct WeightSums {
	int32_t high[kFewColumns]; /* of the high bytes */
	int32_t highMagnitudes[kFewColumns];
	int32_t lowMagnitudes[kFewColumns]; /* of what is left */
};

} /* namespace nvdla::sim */

#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

using Tag = hn::FixedTag<int32_t, kFewColumns>;
using PairTag = hn::Repartition<int16_t, Tag>;
using Columns = hn::Vec<Tag>;
using PairColumns = hn::Vec<PairTag>;

HWY_INLINE Columns addPairs(Columns sum, PairColumns pairs)
{
	return hn::Add(sum, Columns{ _mm512_madd_epi16(pairs.raw, _mm512_set1_epi16(1)) });
}

/** Two units, one next to the other in each column */
HWY_INLINE void storeDouble(Columns first, Columns second, int32_t *out)
{
	const hn::Repartition<uint64_t, Tag> wideTag;
	const hn::Half<hn::RebindToUnsigned<Tag>> halfTag;
	const hn::RebindToUnsigned<Tag> tag;
	const auto one = hn::BitCast(tag, first);
	const auto two = hn::BitCast(tag, second);
	const auto zip = [&](auto low, auto high) HWY_ATTR {
		return hn::Or(hn::PromoteTo(wideTag, low),
			      hn::ShiftLeft<32>(hn::PromoteTo(wideTag, high)));
	};

	hn::StoreU(
		hn::BitCast(Tag(), zip(hn::LowerHalf(halfTag, one), hn::LowerHalf(halfTag, two))),
		Tag(), out);
	hn::StoreU(
		hn::BitCast(Tag(), zip(hn::UpperHalf(halfTag, one), hn::UpperHalf(halfTag, two))),
		Tag(), out + kFewColumns);
}

/** The low bytes of two pairs: a unit of bytes */
HWY_INLINE Columns bytesOf(PairColumns first, PairColumns second)
{
	const auto bytes = [](PairColumns pairs) HWY_ATTR {
		const Columns both = hn::BitCast(Tag(), pairs);
		return hn::Or(hn::And(both, hn::Set(Tag(), 0xff)),
			      hn::And(hn::ShiftRight<8>(both), hn::Set(Tag(), 0xff00)));
	};
	return hn::Or(bytes(first), hn::ShiftLeft<16>(bytes(second)));
}

void splitOfTarget(const int32_t *weights, uint32_t units, int32_t *out, int32_t *highs,
		   WeightSums &sums)
{
	Columns high = hn::Zero(Tag());
	Columns highMagnitudes = hn::Zero(Tag());
	Columns lowMagnitudes = hn::Zero(Tag());

	for (uint32_t unit = 0; unit < units; unit += kHighUnits) {
		Columns rows[kHighUnits];
		PairColumns bytes[kHighUnits];
		for (uint32_t i = 0; i < kHighUnits; i++) {
			rows[i] = unit + i < units
					  ? hn::LoadU(Tag(), weights + (unit + i) * kFewColumns)
					  : hn::Zero(Tag());
			const PairColumns pairs = hn::BitCast(PairTag(), rows[i]);
			/* Halves upwards, but for those that would not be a byte. */
			bytes[i] =
				hn::ShiftRight<8>(hn::SaturatedAdd(pairs, hn::Set(PairTag(), 128)));
			high = addPairs(high, bytes[i]);
			highMagnitudes = addPairs(highMagnitudes, hn::Abs(bytes[i]));
			lowMagnitudes = addPairs(
				lowMagnitudes, hn::Abs(hn::Sub(pairs, hn::ShiftLeft<8>(bytes[i]))));
		}
		for (uint32_t i = 0; i < kHighUnits; i += kLowUnits, out += kTileColumns)
			storeDouble(rows[i], rows[i + 1], out);
		storeDouble(bytesOf(bytes[0], bytes[1]), bytesOf(bytes[2], bytes[3]), highs);
		highs += kTileColumns;
	}
	hn::StoreU(high, Tag(), sums.high);
	hn::StoreU(highMagnitudes, Tag(), sums.highMagnitudes);
	hn::StoreU(lowMagnitudes, Tag(), sums.lowMagnitudes);
}

void addOfTarget(const int32_t *rounds, const int32_t *estimates, size_t count, int64_t *sums)
{
	const hn::Repartition<int64_t, Tag> wideTag;
	/* Both units' sums of each column, in the lower half of 64 bits. */
	const auto columns = [&](const int32_t *from) HWY_ATTR {
		const auto both = hn::BitCast(wideTag, hn::LoadU(Tag(), from));
		return hn::Add(both, hn::ShiftRight<32>(both));
	};

	for (size_t i = 0; i < count; i += hn::Lanes(wideTag)) {
		const auto estimate = hn::ShiftLeft<32>(columns(estimates + 2 * i));
		const auto round = hn::ShiftLeft<32>(columns(rounds + 2 * i));
		/* The rest is the upper half now, and so is the estimate. */
		const auto rest = hn::Sub(round, hn::ShiftLeft<16>(estimate));
		const auto sum = hn::Add(hn::ShiftRight<32>(rest), hn::ShiftRight<16>(estimate));
		hn::StoreU(hn::Add(hn::LoadU(wideTag, sums + i), sum), wideTag, sums + i);
	}
}

#else /* never called */

void splitOfTarget(const int32_t *, uint32_t, int32_t *, int32_t *, WeightSums &)
{
}

void addOfTarget(const int32_t *, const int32_t *, size_t, int64_t *)
{
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(splitOfTarget);
HWY_EXPORT(addOfTarget);

namespace
{

/* Units of which the rest fits whatever they are: 2^15 * (255 + 128) for each product. */
constexpr uint32_t kPieceUnits = 64;
/* Positions whose sums stay in the nearest cache. */
constexpr size_t kPositionsAtOnce = 48;

uint32_t divideRoundUp(uint32_t value, uint32_t divisor)
{
	return (value + divisor - 1) / divisor;
}

/* Runs that follow each other are one. */
void append(std::vector<TileRun> &runs, const TileRun &run, uint32_t unitBytes)
{
	if (!runs.empty() && runs.back().row == run.row &&
	    runs.back().offset + runs.back().units * unitBytes == run.offset)
		runs.back().units += run.units;
	else
		runs.push_back(run);
}

} /* namespace */

void EstimatedWeights::load(std::span<const TileRun> runs, const int32_t *weights, uint32_t largest)
{
	size_t doubles = 0;
	size_t highs = 0;

	for (const TileRun &run : runs) {
		highs += divideRoundUp(run.units, kHighUnits);
		doubles += divideRoundUp(run.units, kHighUnits) * (kHighUnits / kLowUnits);
	}
	weights_.resize(doubles * kTileColumns);
	highWeights_.resize(highs * kTileColumns);
	used_ = usedHighs_ = 0;
	chunks_.clear();
	std::fill(std::begin(offsets_), std::end(offsets_), 0);
	for (const TileRun &run : runs) {
		for (uint32_t unit = 0; unit < run.units; unit += kPieceUnits) {
			const auto offset = static_cast<uint32_t>(unit * kUnitBytes);
			addPiece({ run.row, run.offset + offset,
				   std::min(kPieceUnits, run.units - unit) },
				 weights, largest);
			weights += size_t{ std::min(kPieceUnits, run.units - unit) } * kFewColumns;
		}
	}
}

/* To the last chunk, if its rest then still fits. */
void EstimatedWeights::addPiece(const TileRun &piece, const int32_t *weights, uint32_t largest)
{
	constexpr uint32_t kDataError = 1 << 15; /* of data, times a high byte */
	constexpr int64_t kSign = 1 << 23;	 /* high bytes of data are more by 128 */
	const uint32_t highs = divideRoundUp(piece.units, kHighUnits);
	const uint32_t doubles = highs * (kHighUnits / kLowUnits);
	WeightSums sums;
	uint64_t rest[kFewColumns];
	bool fits = !chunks_.empty();

	HWY_DYNAMIC_DISPATCH(splitOfTarget)
	(weights, piece.units, &weights_[used_], &highWeights_[usedHighs_], sums);
	for (size_t i = 0; i < kFewColumns; i++) {
		rest[i] = uint64_t{ largest } * static_cast<uint32_t>(sums.lowMagnitudes[i]) +
			  uint64_t{ kDataError } * static_cast<uint32_t>(sums.highMagnitudes[i]);
		fits = fits && rest_[i] + rest[i] <= INT32_MAX;
	}
	if (!fits) {
		chunks_.push_back({ {}, {}, &weights_[used_], &highWeights_[usedHighs_], {} });
		std::fill(std::begin(rest_), std::end(rest_), 0);
	}
	Chunk &chunk = chunks_.back();
	append(chunk.runs, { piece.row, piece.offset, doubles }, kLowUnits * kUnitBytes);
	append(chunk.highs, { piece.row, piece.offset / 2, highs }, kLowUnits * kUnitBytes);
	for (size_t i = 0; i < kFewColumns; i++) {
		const int64_t offset = sums.high[i] * (int64_t{ kDataError } - kSign);
		rest_[i] += rest[i];
		chunk.start[2 * i] = static_cast<int32_t>(
			static_cast<uint32_t>(chunk.start[2 * i]) - static_cast<uint32_t>(offset));
		offsets_[i] += offset;
	}
	used_ += size_t{ doubles } * kTileColumns;
	usedHighs_ += size_t{ highs } * kTileColumns;
}

void EstimatedWeights::sums(const TilePosition *positions, const TilePosition *highs, size_t count,
			    int64_t *sums) const
{
	while (count > 0) {
		const size_t some = std::min(count, kPositionsAtOnce);
		someSums(positions, highs, some, sums);
		positions += some;
		highs += some;
		sums += some * kFewColumns;
		count -= some;
	}
}

void EstimatedWeights::someSums(const TilePosition *positions, const TilePosition *highs,
				size_t count, int64_t *sums) const
{
	static constexpr int32_t none[kTileColumns] = {};
	int32_t rounds[kPositionsAtOnce * kTileColumns];
	int32_t estimates[kPositionsAtOnce * kTileColumns];

	for (size_t p = 0; p < count; p++)
		std::copy_n(offsets_, kFewColumns, sums + p * kFewColumns);
	for (const Chunk &chunk : chunks_) {
		tileSums(TileKind::DoublePairs, positions, count, chunk.runs.data(),
			 chunk.runs.size(), chunk.weights, chunk.start, rounds);
		tileSums(TileKind::DoubleQuads, highs, count, chunk.highs.data(),
			 chunk.highs.size(), chunk.highWeights, none, estimates);
		HWY_DYNAMIC_DISPATCH(addOfTarget)(rounds, estimates, count * kFewColumns, sums);
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

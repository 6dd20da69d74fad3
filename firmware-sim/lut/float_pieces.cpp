/* SPDX-License-Identifier: MIT */
#include "lut/float_pieces.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <span>

#include "arith/float.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/* Inputs are not negative: their bits are in the order of the numbers. */
uint32_t fp32BitsOf(float number)
{
	return std::bit_cast<uint32_t>(number);
}

float fp32Of(int64_t fp32Bits)
{
	return std::bit_cast<float>(static_cast<uint32_t>(fp32Bits));
}

/* A table by its edges. */
struct FloatHalf {
	const LutTableConfig &config;
	std::span<const int16_t> entries;
	uint32_t first = 0; /* smallest input that hits */
	uint32_t end = 0;   /* smallest one that overflows */

	FloatHalf(const LutTableConfig &tableConfig, std::span<const int16_t> tableEntries)
		: config(tableConfig), entries(tableEntries)
	{
		first = firstOf([&](float x) { return indexOf(x) >= 0; });
		end = firstOf([&](float x) {
			return indexOf(x) >= static_cast<float>(entries.size() - 1);
		});
	}

	bool hits(uint32_t x) const { return x >= first && x < end; }

	/** \return whole steps from the first entry; below zero where the table underflows */
	float indexOf(float x) const
	{
		const float distance = x - fp32Of(config.start);

		if (distance < FLT_MIN)
			return -1;
		return config.exponential
			       ? static_cast<float>(std::ilogb(distance) - config.indexOffset)
			       : std::floor(std::ldexp(distance, -config.indexSelect));
	}

private:
	/** \return bits of the smallest finite input that \a is, as are all larger ones; infinity's
	 */
	template<typename Is>
	static uint32_t firstOf(Is is)
	{
		uint32_t below = 0;
		uint32_t from = fp32BitsOf(INFINITY);

		while (below < from) {
			const uint32_t middle = below + (from - below) / 2;
			if (is(std::bit_cast<float>(middle)))
				from = middle;
			else
				below = middle + 1;
		}
		return from;
	}
};

/* What becomes one piece, or is put to the one before. */
struct FloatRange {
	uint32_t first;
	uint32_t last;
	const FloatHalf *half; /* that is hit; null: the result is always the same */
	uint32_t value;	       /* that result, FP17 */
};

class FloatPiecesMaker
{
public:
	FloatPiecesMaker(const LutConfig &config, const LutTables &tables)
		: config_(config), lut_(cdpLut, config, tables), le_(config.le, tables.le),
		  lo_(config.lo, tables.lo)
	{
	}

	std::optional<FloatPieces> make(float highest);

private:
	bool addRange(uint32_t first, uint32_t last);
	bool startsWith(const FloatRange &before, const FloatRange &range) const;
	const FloatHalf &chosen(uint32_t x) const;
	uint32_t valueAt(uint32_t x) const;
	bool addPieces();
	bool addHit(const FloatHalf &half, const FloatRange &range, FloatPieces::Piece &piece);
	bool addSame(const FloatRange &range, FloatPieces::Piece &piece);
	bool addPair(uint32_t entry, uint32_t next);

	const LutConfig &config_;
	const Lut lut_;
	const FloatHalf le_;
	const FloatHalf lo_;
	std::array<FloatRange, FloatPieces::kMost> ranges_;
	size_t rangeCount_ = 0;
	size_t sameAt_ = 0; /* where the next result that is always the same goes */
	FloatPieces made_;
};

/* The table that answers, by the rules of lut.h. */
const FloatHalf &FloatPiecesMaker::chosen(uint32_t x) const
{
	const bool under = x < le_.first && x < lo_.first;
	const bool over = x >= le_.end && x >= lo_.end;
	bool lo = config_.hybridSelectsLo;

	if (le_.hits(x) != lo_.hits(x))
		lo = lo_.hits(x);
	else if (under)
		lo = config_.underflowSelectsLo;
	else if (over)
		lo = config_.overflowSelectsLo;
	return lo ? lo_ : le_;
}

uint32_t FloatPiecesMaker::valueAt(uint32_t x) const
{
	LutCounters counters;

	return lut_.lookupFloat(x, counters);
}

bool FloatPiecesMaker::addRange(uint32_t first, uint32_t last)
{
	const FloatHalf &half = chosen(first);
	const LutSlope &slope = first < half.first ? half.config.underflow : half.config.overflow;
	const FloatRange range = { first, last, half.hits(first) ? &half : nullptr,
				   valueAt(first) };

	/* Beyond an edge a zero has the sign of the distance from it. */
	if (!range.half && first != last &&
	    (!Fp16::isZero(static_cast<uint16_t>(slope.scale)) || valueAt(last) != range.value))
		return false;
	if (rangeCount_ && startsWith(ranges_[rangeCount_ - 1], range)) {
		FloatRange &before = ranges_[rangeCount_ - 1];
		before.half = range.half;
		before.last = last;
		return true;
	}
	ranges_[rangeCount_++] = range;
	return true;
}

/* The same goes on, or a table begins with what was before: at its start the first entry is it. */
bool FloatPiecesMaker::startsWith(const FloatRange &before, const FloatRange &range) const
{
	if (!range.half || before.half == range.half)
		return before.half == range.half && (before.half || before.value == range.value);
	return !before.half && !range.half->config.exponential &&
	       fp32Of(before.first) >= fp32Of(range.half->config.start) &&
	       before.value == fp16ToFp17(static_cast<uint16_t>(range.half->entries.front()));
}

/*
 * \return false if sums of the entry and parts of the step need care: the least part makes the step
 *	   zero, or a sum may cancel, so that it is too small or a zero with another sign
 */
bool FloatPiecesMaker::addPair(uint32_t entry, uint32_t next)
{
	constexpr float kLeastRise = 0x1p-14F; /* of which no part is below what FP17 has */
	const float first = fp32Of(entry);
	const float rise = fp32Of(fp17ToFp32(fp32ToFp17(subtract<Fp32>(next, entry))));
	const bool falls = std::signbit(rise);
	const bool turns = falls != std::signbit(first);

	if (first == 0 && (falls || turns))
		return false;
	if (rise != 0 && (std::fabs(rise) < kLeastRise ||
			  (first != 0 && turns && std::fabs(rise) >= std::fabs(first))))
		return false;
	made_.entries[made_.pairCount] = first;
	made_.rises[made_.pairCount] = std::ldexp(rise, -FloatPieces::kFraction);
	made_.pairCount++;
	return true;
}

/* A place's upper part. */
int32_t placeOf(int64_t index)
{
	return static_cast<int32_t>(index * (int64_t{ 1 } << FloatPieces::kFraction));
}

/* Only the entries that its inputs lie between. */
bool FloatPiecesMaker::addHit(const FloatHalf &half, const FloatRange &range,
			      FloatPieces::Piece &piece)
{
	const LutTableConfig &config = half.config;
	const auto first = static_cast<int64_t>(std::max(half.indexOf(piece.first), 0.F));
	const auto last = static_cast<int64_t>(half.indexOf(fp32Of(range.last)));

	piece.start = fp32Of(config.start);
	piece.exponential = config.exponential;
	piece.offset = placeOf(static_cast<int64_t>(made_.pairCount) - first);
	if (config.exponential) {
		piece.offset -= placeOf(config.indexOffset + Fp32::kBias);
		made_.exponential = true;
	} else {
		piece.scale = std::ldexp(1.F, FloatPieces::kFraction - config.indexSelect);
	}
	for (int64_t i = first; i <= last; i++) {
		const auto entry = static_cast<uint16_t>(half.entries[static_cast<size_t>(i)]);
		const auto next = static_cast<uint16_t>(half.entries[static_cast<size_t>(i) + 1]);
		if (!addPair(fp16ToFp32(entry), fp16ToFp32(next)))
			return false;
	}
	return true;
}

/* The place is always the same, and there is no step. */
bool FloatPiecesMaker::addSame(const FloatRange &range, FloatPieces::Piece &piece)
{
	const float value = fp32Of(fp17ToFp32(range.value));

	piece.offset = placeOf(static_cast<int64_t>(sameAt_));
	made_.hasSame = true;
	made_.entries[sameAt_++] = value;
	return value != 0 || !std::signbit(value);
}

bool FloatPiecesMaker::addPieces()
{
	made_.count = rangeCount_;
	for (size_t i = 0; i < made_.pieces.size(); i++) {
		FloatPieces::Piece &piece = made_.pieces[i];
		piece = { .first = i < rangeCount_ ? fp32Of(ranges_[i].first) : INFINITY,
			  .exponential = false,
			  .start = 0,
			  .scale = 0,
			  .offset = 0 };
		if (i < rangeCount_ && ranges_[i].half &&
		    !addHit(*ranges_[i].half, ranges_[i], piece))
			return false;
	}
	sameAt_ = std::max(made_.pairCount, FloatPieces::kFew);
	for (size_t i = 0; i < rangeCount_; i++)
		if (!ranges_[i].half && !addSame(ranges_[i], made_.pieces[i]))
			return false;
	return true;
}

std::optional<FloatPieces> FloatPiecesMaker::make(float highest)
{
	std::array<uint32_t, FloatPieces::kMost> edges = { 0, le_.first, le_.end, lo_.first,
							   lo_.end };

	std::ranges::sort(edges);
	for (size_t i = 0; i < edges.size(); i++) {
		const uint32_t next = i + 1 < edges.size() ? edges[i + 1] : fp32BitsOf(INFINITY);
		const uint32_t last = std::min(next - 1, fp32BitsOf(highest));
		if (edges[i] < next && edges[i] <= last && !addRange(edges[i], last))
			return std::nullopt;
	}
	if (!addPieces())
		return std::nullopt;
	return made_;
}

} /* namespace */

std::optional<FloatPieces> FloatPieces::of(const LutConfig &config, const LutTables &tables,
					   float highest)
{
	return FloatPiecesMaker(config, tables).make(highest);
}

} /* namespace nvdla::sim */

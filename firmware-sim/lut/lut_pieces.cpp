/* SPDX-License-Identifier: MIT */
#include "lut/lut_pieces.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace nvdla::sim
{

namespace
{

/* A table by its edges. */
struct Half {
	const LutTableConfig &config;
	std::span<const int16_t> entries;
	int64_t first; /* smallest input that hits */
	int64_t end;   /* the one after the largest */
};

Half halfOf(const LutTableConfig &config, std::span<const int16_t> entries)
{
	/* More bits than any distance has. */
	const auto power = [](int64_t bits) {
		return int64_t{ 1 } << std::clamp<int64_t>(bits, 0, 40);
	};
	const auto steps = static_cast<int64_t>(entries.size()) - 1;
	const int64_t start = config.start;

	if (config.exponential)
		return { config, entries, start + power(config.indexOffset),
			 start + power(config.indexOffset + steps) };
	if (config.indexSelect < 0)
		return { config, entries, start + 1,
			 start + ((steps - 1) / power(-config.indexSelect)) + 1 };
	return { config, entries, start + 1, start + steps * power(config.indexSelect) };
}

/* What becomes one piece of LutPieces, or is put to the one before. */
struct Range {
	int64_t first;
	int64_t last;
	const Half *half; /* that is hit; null: the result is always the same */
	int64_t value;	  /* that result */
	uint32_t LutCounters::*counter;
};

class Maker
{
public:
	Maker(const LutConfig &config, const LutTables &tables, const LutPieces::Inputs &inputs)
		: config_(config), lut_(cdpLut, config, tables), inputs_(inputs),
		  le_(halfOf(config.le, tables.le)), lo_(halfOf(config.lo, tables.lo))
	{
	}

	std::optional<LutPieces> make();

private:
	bool addRange(int64_t first, int64_t last);
	bool continues(const Range &before, const Range &range) const;
	bool addPiece(const Range &range);
	bool addPairs(std::span<const int16_t> entries);
	void setDirection();
	bool isExact(const LutPieces::Piece &piece, const Range &range, double end) const;
	int64_t placeBits() const { return int64_t{ 1 } << made_.fractionBits; }

	const LutConfig &config_;
	const Lut lut_;
	const LutPieces::Inputs &inputs_;
	const Half le_;
	const Half lo_;
	std::array<Range, LutPieces::kMost> ranges_;
	size_t rangeCount_ = 0;
	LutPieces made_;
};

/* By CDP's rules one counter says who answers. */
bool Maker::addRange(int64_t first, int64_t last)
{
	using Counter = uint32_t LutCounters::*;
	const std::pair<Counter, bool> cases[] = {
		{ &LutCounters::underflow, config_.underflowSelectsLo },
		{ &LutCounters::overflow, config_.overflowSelectsLo },
		{ &LutCounters::hybrid, config_.hybridSelectsLo },
		{ &LutCounters::leHit, false },
		{ &LutCounters::loHit, true },
	};
	LutCounters counters;
	const int64_t value = lut_.lookup(first, counters);
	const auto counted = std::ranges::find_if(
		cases, [&](const auto &one) { return counters.*one.first != 0; });
	const Half &half = counted->second ? lo_ : le_;
	const bool hits = first >= half.first && first < half.end;
	const LutSlope &slope = first < half.first ? half.config.underflow : half.config.overflow;

	if (!hits && first != last && slope.scale != 0)
		return false;
	const Range range = { first, last, hits && first != last ? &half : nullptr, value,
			      counted->first };
	if (rangeCount_ && continues(ranges_[rangeCount_ - 1], range)) {
		Range &before = ranges_[rangeCount_ - 1];
		before.half = range.half;
		before.last = last;
		return true;
	}
	ranges_[rangeCount_++] = range;
	return true;
}

/* The same table goes on, or begins with what was before: at its start the first entry is it. */
bool Maker::continues(const Range &before, const Range &range) const
{
	if (inputs_.counts && before.counter != range.counter)
		return false;
	if (!range.half || before.half == range.half)
		return before.half == range.half && (before.half || before.value == range.value);
	return !before.half && !range.half->config.exponential && before.first == before.last &&
	       before.first == range.half->config.start &&
	       before.value == range.half->entries.front();
}

bool Maker::addPairs(std::span<const int16_t> entries)
{
	for (const int entry : entries) {
		made_.lowest = std::min(made_.lowest, entry);
		made_.highest = std::max(made_.highest, entry);
	}
	for (size_t i = 0; i + 1 < entries.size(); i++) {
		const int32_t rise = entries[i + 1] - entries[i];
		if (rise < INT16_MIN || rise > INT16_MAX)
			return false;
		made_.pairs[made_.pairCount++] = rise * 0x10000 | (entries[i] & 0xffff);
	}
	return true;
}

/* The sum that gives a place is not rounded. \param end a place behind all of the piece's */
bool Maker::isExact(const LutPieces::Piece &piece, const Range &range, double end) const
{
	const double largest =
		std::max({ std::fabs(static_cast<double>(range.first)),
			   std::fabs(static_cast<double>(range.last)), std::fabs(piece.start) });

	return largest * piece.scale + end <
	       std::ldexp(std::min(1.0, piece.scale), inputs_.single ? 24 : 53);
}

bool Maker::addPiece(const Range &range)
{
	const auto one = static_cast<double>(placeBits());
	const auto base = static_cast<double>(made_.pairCount);
	LutPieces::Piece piece = { .first = static_cast<double>(range.first),
				   .exponential = false,
				   .start = 0,
				   .scale = 0,
				   .offset = base * one,
				   .counter = range.counter };

	if (!range.half) {
		const auto value = static_cast<int16_t>(range.value);
		made_.pieces[made_.count++] = piece;
		return addPairs(std::array{ value, value });
	}

	/* Only the entries that its inputs lie between. */
	const LutTableConfig &config = range.half->config;
	const auto indexOf = [&](int64_t x) {
		const double distance = static_cast<double>(x - config.start);
		return static_cast<int64_t>(
			config.exponential ? std::ilogb(distance) - config.indexOffset
					   : std::floor(std::ldexp(distance, -config.indexSelect)));
	};
	const int64_t first = range.first > config.start ? indexOf(range.first) : 0;
	const int64_t pairs = indexOf(range.last) - first + 1;

	piece.start = static_cast<double>(config.start);
	piece.exponential = config.exponential;
	if (config.exponential) {
		const int bias = inputs_.single ? 127 : 1023;
		piece.offset -= static_cast<double>(first + config.indexOffset + bias) * one;
		made_.exponential = true;
	} else {
		piece.scale = std::ldexp(1.0, made_.fractionBits - config.indexSelect);
		piece.offset += -piece.start * piece.scale - static_cast<double>(first) * one;
		if (!isExact(piece, range, (base + static_cast<double>(pairs)) * one))
			return false;
	}
	made_.pieces[made_.count++] = piece;
	return addPairs(range.half->entries.subspan(static_cast<size_t>(first),
						    static_cast<size_t>(pairs) + 1));
}

/* Which way the function goes: the part of a step that is added has no sign then. */
void Maker::setDirection()
{
	const auto used = std::span(made_.pairs).first(made_.pairCount);
	const auto isUp = [](int32_t pair) { return pair >> 16 >= 0; };
	const auto isDown = [](int32_t pair) { return pair >> 16 <= 0; };

	made_.climbs = std::ranges::all_of(used, isUp);
	if (made_.climbs || made_.lowest == INT16_MIN || !std::ranges::all_of(used, isDown))
		return;
	made_.climbs = made_.falls = true;
	std::swap(made_.lowest, made_.highest);
	made_.lowest = -made_.lowest;
	made_.highest = -made_.highest;
	for (int32_t &pair : used) {
		const int entry = static_cast<int16_t>(pair);
		pair = -(pair >> 16) * 0x10000 | (-entry & 0xffff);
	}
}

std::optional<LutPieces> Maker::make()
{
	std::array<int64_t, LutPieces::kMost> edges = { inputs_.lowest, le_.first, le_.end,
							lo_.first, lo_.end };

	std::ranges::sort(edges);
	for (size_t i = 0; i < edges.size(); i++) {
		const int64_t next = i + 1 < edges.size() ? edges[i + 1] : INT64_MAX;
		const int64_t first = std::max(edges[i], inputs_.lowest);
		const int64_t last = std::min(next - 1, inputs_.highest);
		if (first <= last && !addRange(first, last))
			return std::nullopt;
	}
	made_.counts = inputs_.counts;
	for (const Range &range : std::span(ranges_).first(rangeCount_))
		if (range.half && (range.half->config.exponential ||
				   range.half->config.indexSelect > LutPieces::kNarrow))
			made_.fractionBits = static_cast<int>(cdpLut.fractionBits);
	for (const Range &range : std::span(ranges_).first(rangeCount_))
		if (!addPiece(range))
			return std::nullopt;
	setDirection();
	return made_;
}

} /* namespace */

std::optional<LutPieces> LutPieces::of(const LutConfig &config, const LutTables &tables,
				       const Inputs &inputs)
{
	return Maker(config, tables, inputs).make();
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * The range of lines of INT16, and the largest sums of their squares. Compiled once for each
 * instruction set (Highway).
 */
#include "conv/wide_tile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/wide_squares.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/wide_squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

/** The lowest and the highest numbers, and zero */
struct Ends {
	Words lowest = hn::Zero(WordTag());
	Words highest = hn::Zero(WordTag());

	HWY_INLINE Ends() {} /* implicit ones have no vectors */

	HWY_INLINE void add(Words numbers)
	{
		lowest = hn::Min(lowest, numbers);
		highest = hn::Max(highest, numbers);
	}

	HWY_INLINE Int16Range get() const
	{
		int16_t ends[2 * kWords];
		Int16Range range;

		hn::StoreU(lowest, WordTag(), ends);
		hn::StoreU(highest, WordTag(), ends + kWords);
		for (const int16_t end : ends)
			range.add(end);
		return range;
	}
};

/** Sums of squares of each row of eight numbers, a vector of them */
HWY_INLINE Vector rowSums(const int16_t *numbers, Ends &ends)
{
	const hn::Repartition<int64_t, Tag> pairTag;
	const Tag tag;
	const auto load = [&](size_t i) HWY_ATTR {
		const Words words = hn::LoadU(WordTag(), numbers + i * kWords);
		ends.add(words);
		return pairSums(squares(words));
	};
	const auto halve = [&](Vector one, Vector other) HWY_ATTR {
		return hn::BitCast(pairTag, hn::Add(hn::InterleaveLower(tag, one, other),
						    hn::InterleaveUpper(tag, one, other)));
	};
	const auto first = halve(load(0), load(1));
	const auto second = halve(load(2), load(3));
	const Vector sums = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairTag, first, second)),
				    hn::BitCast(tag, hn::InterleaveUpper(pairTag, first, second)));
	/* Each 128 bits have a row of each vector. */
	HWY_ALIGN static constexpr auto order = [] {
		std::array<int32_t, kLanes> lanes{};
		for (size_t i = 0; i < kLanes; i++)
			lanes[i] = static_cast<int32_t>(i % (kLanes / 4) * 4 + i / (kLanes / 4));
		return lanes;
	}();

	return hn::TableLookupLanes(sums, hn::SetTableIndices(tag, order.data()));
}

/** The largest sums of one to four rows next to each other */
struct MostSquares {
	Vector one = hn::Zero(Tag());
	Vector two = hn::Zero(Tag());
	Vector three = hn::Zero(Tag());
	Vector four = hn::Zero(Tag());

	HWY_INLINE MostSquares() {} /* an implicit one has no vectors */

	/** \param sums of rows, of a vector of them and of those before */
	HWY_INLINE void add(const int32_t *sums)
	{
		const auto load = [&](size_t before)
					  HWY_ATTR { return hn::LoadU(Tag(), sums - before); };
		const Vector ofOne = load(0);
		const Vector ofTwo = hn::Add(ofOne, load(1));
		const Vector ofThree = hn::Add(ofTwo, load(2));

		one = hn::Max(one, ofOne);
		two = hn::Max(two, ofTwo);
		three = hn::Max(three, ofThree);
		four = hn::Max(four, hn::Add(ofThree, load(3)));
	}

	/** With what was rounded down */
	HWY_INLINE Int16Squares get() const
	{
		const auto largest = [](Vector sums, uint32_t rows) HWY_ATTR {
			const int32_t most = hn::GetLane(hn::MaxOfLanes(Tag(), sums));
			return static_cast<uint32_t>(most) + rows * Int16Squares::kRow;
		};

		static_assert(Int16Squares::kMostRows == 4);
		return { { largest(one, 1), largest(two, 2), largest(three, 3),
			   largest(four, 4) } };
	}
};

Int16Numbers numbersOfTarget(const std::byte *numbers, size_t count)
{
	/* So many that what is read together across vectors was written long before. */
	constexpr size_t kRows = 1024;
	constexpr size_t kBefore = Int16Squares::kMostRows - 1;
	constexpr size_t kAtOnce = kLanes * Int16Squares::kRow;
	const auto *in = reinterpret_cast<const int16_t *>(numbers);
	int32_t sums[kBefore + kRows];
	MostSquares most;
	Ends ends;

	std::fill_n(sums, kBefore, 0);
	while (count > 0) {
		size_t rows = 0;
		for (; rows < kRows && count >= kAtOnce; rows += kLanes) {
			hn::StoreU(rowSums(in, ends), Tag(), sums + kBefore + rows);
			count -= kAtOnce;
			in += kAtOnce;
		}
		if (rows < kRows && count > 0) {
			int16_t rest[kAtOnce] = {};
			std::memcpy(rest, in, count * sizeof(*in));
			hn::StoreU(rowSums(rest, ends), Tag(), sums + kBefore + rows);
			count = 0;
			rows += kLanes;
		}
		for (size_t row = 0; row < rows; row += kLanes)
			most.add(sums + kBefore + row);
		std::copy_n(sums + rows, kBefore, sums);
	}
	return { ends.get(), most.get() };
}

#else /* vectors of any size */

Int16Numbers numbersOfTarget(const std::byte *numbers, size_t count)
{
	return numbersOfReference(numbers, count);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(numbersOfTarget);

Int16Numbers numbersOf(const std::byte *numbers, size_t count)
{
	return HWY_DYNAMIC_DISPATCH(numbersOfTarget)(numbers, count);
}

Int16Numbers numbersOfReference(const std::byte *numbers, size_t count)
{
	constexpr uint32_t kRow = Int16Squares::kRow;
	std::vector<uint32_t> rows((count + kRow - 1) / kRow);
	Int16Numbers found;

	for (size_t i = 0; i < count; i++) {
		int16_t number;
		std::memcpy(&number, numbers + i * sizeof(number), sizeof(number));
		found.range.add(number);
		rows[i / kRow] += static_cast<uint32_t>(number * number) >> 16;
	}
	for (uint32_t length = 1; length <= Int16Squares::kMostRows; length++) {
		uint32_t largest = 0;
		for (size_t first = 0; first < rows.size(); first++) {
			const auto some = std::span(rows).subspan(
				first, std::min<size_t>(length, rows.size() - first));
			largest = std::max(largest, std::accumulate(some.begin(), some.end(), 0U));
		}
		/* With what was rounded down. */
		found.squares.ofRows[length - 1] = largest + length * kRow;
	}
	return found;
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */

/* SPDX-License-Identifier: MIT */
#include <cstring>

#include <gtest/gtest.h>

#include "conv/cacc.h"
#include "conv/tile_operands.h"
#include "conv/wide_tile.h"
#include "conv_support.h"
#include "each_target.h"

namespace nvdla::sim::test
{

namespace
{

using nvdla::test::forEachTarget;
using nvdla::test::forEachVectorTarget;

/** Numbers of all magnitudes up to 2^\a bits */
int16_t anyNumber(Random &random, int bits)
{
	return static_cast<int16_t>(random(-32768, 32767) >> random(15 - bits, 15));
}

/** Runs of two rows, their weights and the data that they meet */
struct WideOperands {
	std::vector<int16_t> lines = std::vector<int16_t>(2000);
	static constexpr size_t kRowBytes = 2048;
	static constexpr size_t kUnits = 158;
	/* Behind whole steps of units there are some. */
	std::vector<TileRun> runs = { { 0, 150 }, { kRowBytes + 16, 7 }, { kRowBytes + 48, 1 } };
	std::vector<int16_t> weights = std::vector<int16_t>(kUnits * kTileColumns * 2);
	size_t step = 16; /* bytes */

	const std::byte *first() const { return reinterpret_cast<const std::byte *>(lines.data()); }
	TileOperands operands(size_t columns) const
	{
		return { runs, reinterpret_cast<const int32_t *>(weights.data()), columns,
			 nullptr };
	}
	WideData data() const
	{
		WideData data;

		for (const size_t row : { size_t{ 0 }, kRowBytes })
			data.numbers.add(numbersOf(
				first() + row,
				std::min(kRowBytes, lines.size() * sizeof(lines[0]) - row) /
					sizeof(lines[0])));
		data.alignment = step & -step;
		return data;
	}
	std::vector<uint8_t> carries(size_t columns = kTileColumns) const
	{
		return wideCarries(operands(columns), data());
	}

	void expectTheReference(size_t count, size_t columns, uint32_t truncate) const
	{
		std::vector<TilePosition> positions;
		const auto placesOf = [&](std::vector<int32_t> &sums) {
			return TileSums{ { sums.data(), sums.data() + count * kFewColumns },
					 kFewColumns };
		};
		std::vector<int32_t> expected(count * columns);

		for (size_t p = 0; p < count; p++)
			positions.push_back({ first() + p * step });
		const uint32_t clipped = wideSumsReference(positions, operands(columns), truncate,
							   placesOf(expected));
		forEachTarget([&] {
			std::vector<int32_t> sums(expected.size());
			const std::vector<uint8_t> behind = carries(columns);
			if (behind.empty())
				return;
			EXPECT_EQ(wideSums(positions, operands(columns), behind, truncate,
					   placesOf(sums)),
				  clipped);
			EXPECT_EQ(sums, expected)
				<< count << " positions, " << columns << " columns";
		});
	}

	/** What is carried on, and what it leaves behind, fit 32 bits for a position's column */
	void expectFit(const std::vector<uint8_t> &carries, size_t position, size_t column) const
	{
		const int16_t *weight = &weights[2 * column];
		const uint8_t *units = carries.data();
		int64_t sum = 0;

		for (const TileRun &run : runs) {
			const int16_t *data = &lines[(position * step + run.offset) / 2];
			uint32_t left = run.units;
			for (; left > 0; left -= *units++) {
				ASSERT_LE(*units, left) << "behind a run";
				for (uint8_t unit = 0; unit < *units; unit++, data += 2) {
					sum += data[0] * weight[0] + int64_t{ data[1] } * weight[1];
					weight += 2 * kTileColumns;
				}
				ASSERT_EQ(sum, static_cast<int32_t>(sum)) << left << " units left";
				sum = UINT16_MAX; /* at most */
			}
		}
		EXPECT_EQ(units, carries.data() + carries.size());
	}
};

TEST(WideTest, SumsAreTheReferences)
{
	Random random(3);

	for (int bits : { 6, 9, 12, 15 }) {
		for (bool negative : { false, true }) {
			WideOperands operands;
			operands.step = 4U << random(0, 4);
			for (int16_t &number : operands.weights)
				number = anyNumber(random, 15);
			for (int16_t &number : operands.lines) {
				number = anyNumber(random, bits);
				if (!negative && number < 0)
					number = static_cast<int16_t>(~number);
			}
			for (size_t count = 1; count <= 18; count++)
				for (const size_t columns : { kFewColumns, kTileColumns })
					operands.expectTheReference(
						count, columns,
						static_cast<uint32_t>(random(0, 31) >>
								      random(0, 5)));
		}
	}
}

TEST(WideTest, SumsOfExtremesAreTheReferences)
{
	for (int16_t data : { int16_t{ -32768 }, int16_t{ 32767 } }) {
		for (int16_t weight : { int16_t{ -32768 }, int16_t{ -32767 }, int16_t{ 127 },
					int16_t{ 32639 }, int16_t{ 32640 }, int16_t{ 32767 } }) {
			WideOperands operands;
			std::fill(operands.lines.begin(), operands.lines.end(), data);
			std::fill(operands.weights.begin(), operands.weights.end(), weight);
			operands.expectTheReference(9, kTileColumns, 8);
		}
	}
}
TEST(WideTest, CarriedSumsFit)
{
	Random random(5);

	for (uint32_t seed = 1; seed <= 40; seed++) {
		WideOperands operands;
		operands.step = 4U << random(0, 4);
		for (int16_t &number : operands.lines) {
			number = anyNumber(random, random(0, 20) ? 13 : 15);
			if (seed % 2 && number < 0)
				number = static_cast<int16_t>(~number);
		}
		for (int16_t &number : operands.weights)
			number = anyNumber(random, random(0, 20) ? 13 : 15);
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		forEachTarget([&] {
			if (tileKind() == TileKind::None)
				return;
			const std::vector<uint8_t> carries = operands.carries();
			if (carries.empty()) /* two products of -2^15 */
				return;
			for (size_t position = 0; position < 18; position++)
				for (size_t column = 0; column < kTileColumns; column++)
					operands.expectFit(carries, position, column);
		});
	}
}

TEST(WideTest, SmallNumbersAreSeldomCarried)
{
	WideOperands operands;
	const std::vector<uint8_t> expected = { 32, 32, 32, 32, 22, 7, 1 };

	std::ranges::fill(operands.weights, int16_t{ 4000 });
	std::ranges::fill(operands.lines, int16_t{ 4000 });
	/* Behind 32 units, and each run. */
	forEachVectorTarget([&] { EXPECT_EQ(operands.carries(), expected); });
}

TEST(WideTest, LargeNumbersAreCarriedBehindTwoUnits)
{
	WideOperands operands;
	std::vector<uint8_t> expected(75 + 4 + 1, 2);

	std::ranges::fill(operands.weights, int16_t{ 0x3fff });
	std::ranges::fill(operands.lines, int16_t{ 0x7fff });
	/* Sums of two units are below 2^31, of three not. */
	expected[75 + 3] = 1; /* of seven */
	expected[75 + 4] = 1;
	forEachVectorTarget([&] { EXPECT_EQ(operands.carries(), expected); });
}

TEST(WideTest, TwoProductsOfTheLowestNumbersDoNotFit)
{
	WideOperands operands;

	std::ranges::fill(operands.weights, int16_t{ -32768 });
	std::ranges::fill(operands.lines, int16_t{ 1 });
	operands.lines[7] = -32768;
	forEachTarget([&] { EXPECT_TRUE(operands.carries().empty()); });
}

TEST(WideTest, NumbersAreTheReferences)
{
	Random random(11);

	for (size_t count = 0; count < 2500; count += 1 + count / 3) {
		for (const bool lowest : { false, true }) {
			std::vector<int16_t> numbers(count);
			for (int16_t &number : numbers)
				number = lowest ? INT16_MIN : anyNumber(random, 15);
			const auto *bytes = reinterpret_cast<const std::byte *>(numbers.data());
			const Int16Numbers expected = numbersOfReference(bytes, count);
			forEachTarget([&] {
				const Int16Numbers found = numbersOf(bytes, count);
				EXPECT_EQ(found.range.lowest, expected.range.lowest) << count;
				EXPECT_EQ(found.range.highest, expected.range.highest) << count;
				for (uint32_t rows = 1; rows <= Int16Squares::kMostRows; rows++)
					EXPECT_EQ(found.squares.of(rows), expected.squares.of(rows))
						<< count;
			});
		}
	}
}

TEST(WideTest, SumsAreClippedAsTheAccumulatorsDo)
{
	Random random(9);
	std::vector<int64_t> sums;

	for (int shift = 0; shift < 48; shift++)
		for (int64_t beside : { -1, 0, 1 })
			for (int64_t sign : { -1, 1 })
				sums.push_back(sign * ((int64_t{ 1 } << shift) + beside));
	while (sums.size() % kFewColumns || sums.size() < 1000)
		sums.push_back(int64_t{ random(-32768, 32767) } << random(0, 31));
	for (uint32_t truncate = 0; truncate < 32; truncate++) {
		std::vector<int32_t> expected;
		uint32_t clipped = 0;
		for (int64_t sum : sums) {
			bool saturated = false;
			expected.push_back(IntegerSum{ sum }.deliver(truncate, saturated));
			clipped += saturated;
		}
		forEachTarget([&] {
			std::vector<int32_t> out(sums.size());
			EXPECT_EQ(clipSums(sums, truncate, out.data()), clipped);
			EXPECT_EQ(out, expected) << "by " << truncate << " bits";
		});
	}
}

TEST(WideTest, RangeIsThatOfAnyNumber)
{
	Random random(7);

	for (size_t count = 0; count < 150; count++) {
		std::vector<int16_t> numbers(count);
		Int16Range range;
		for (int16_t &number : numbers) {
			number = anyNumber(random, 15);
			range.add(number);
		}
		forEachTarget([&] {
			const Int16Range found =
				rangeOf(reinterpret_cast<const std::byte *>(numbers.data()), count);
			ASSERT_EQ(found.lowest, range.lowest) << count;
			ASSERT_EQ(found.highest, range.highest) << count;
		});
	}
}

} /* namespace */

} /* namespace nvdla::sim::test */

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

/** Numbers of all magnitudes up to 2^\a bits */
int16_t anyNumber(Random &random, int bits)
{
	return static_cast<int16_t>(random(-32768, 32767) >> random(15 - bits, 15));
}

/** Runs of two rows, their weights and the data that they meet */
struct WideOperands {
	std::vector<int16_t> lines = std::vector<int16_t>(2000);
	static constexpr size_t kRowBytes = 2002;
	std::vector<TileRun> runs = { { 0, 150 }, { kRowBytes + 6, 7 }, { kRowBytes + 40, 1 } };
	std::vector<int16_t> weights = std::vector<int16_t>(158 * kFewColumns * 2);

	const std::byte *first() const { return reinterpret_cast<const std::byte *>(lines.data()); }
	const int32_t *units() const { return reinterpret_cast<const int32_t *>(weights.data()); }
	Int16Range range() const { return rangeOf(first(), lines.size()); }
	WideParts parts() const { return wideParts(runs, units(), range()); }

	void expectTheReference(size_t count) const
	{
		std::vector<TilePosition> positions;
		std::vector<int64_t> expected(count * kFewColumns);

		for (size_t p = 0; p < count; p++)
			positions.push_back({ first() + p * 8 });
		wideSumsReference(positions.data(), count, runs, units(), expected.data());
		forEachTarget([&] {
			std::vector<int64_t> sums(count * kFewColumns);
			if (parts().parts.empty())
				return;
			wideSums(positions.data(), count, runs, parts(), units(), sums.data());
			EXPECT_EQ(sums, expected) << count << " positions";
		});
	}
};

TEST(WideTest, SumsAreTheReferences)
{
	Random random(3);

	for (int bits : { 6, 9, 12, 15 }) {
		for (bool negative : { false, true }) {
			WideOperands operands;
			for (int16_t &number : operands.weights)
				number = anyNumber(random, 15);
			for (int16_t &number : operands.lines) {
				number = anyNumber(random, bits);
				if (!negative && number < 0)
					number = static_cast<int16_t>(~number);
			}
			for (size_t count = 1; count <= 18; count++)
				operands.expectTheReference(count);
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
			operands.expectTheReference(9);
		}
	}
}

TEST(WideTest, PartsAreAllUnitsOfEachRun)
{
	Random random(5);
	WideOperands operands;

	for (int16_t &number : operands.lines)
		number = anyNumber(random, 15);
	for (int16_t &number : operands.weights)
		number = anyNumber(random, 13);
	forEachTarget([&] {
		if (tileKind() == TileKind::None)
			return;
		const WideParts all = operands.parts();
		const std::vector<WidePart> &parts = all.parts;
		size_t halved = 0;
		auto part = parts.begin();
		for (const TileRun &run : operands.runs) {
			uint32_t units = 0;
			for (; units < run.units && part != parts.end(); part++) {
				units += part->units;
				if (part->chunk == WideParts::kHalvedChunk)
					halved += (part->units + part->chunk - 1) / part->chunk;
			}
			EXPECT_EQ(units, run.units);
		}
		EXPECT_EQ(part, parts.end());
		EXPECT_EQ(halved, all.halved.size());
	});
}

TEST(WideTest, ChunksAreAsLongAsTheirSumsFit)
{
	WideOperands operands;

	std::fill(operands.weights.begin(), operands.weights.end(), int16_t{ 0x3fff });
	std::fill(operands.lines.begin(), operands.lines.end(), int16_t{ 0x7fff });
	forEachTarget([&] {
		if (tileKind() == TileKind::None)
			return;
		/* Those of two units are below 2^31, of three not. */
		const WideParts all = operands.parts();
		ASSERT_EQ(all.parts.size(), operands.runs.size());
		for (const WidePart &part : all.parts)
			EXPECT_EQ(part.chunk, part.units == 1 ? 64U : 4U) << part.units;
		/* Behind 37 chunks the first run has two units left. */
		std::vector<uint8_t> halved(38 + 2, 1);
		halved[37] = 0;
		EXPECT_EQ(all.halved, halved);
	});
}

TEST(WideTest, TwoProductsOfTheLowestNumbersDoNotFit)
{
	WideOperands operands;

	std::fill(operands.weights.begin(), operands.weights.end(), int16_t{ -32768 });
	std::fill(operands.lines.begin(), operands.lines.end(), int16_t{ 1 });
	operands.lines[7] = -32768;
	forEachTarget([&] { EXPECT_TRUE(operands.parts().parts.empty()); });
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

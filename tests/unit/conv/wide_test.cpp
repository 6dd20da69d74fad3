/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 that 32 bits do not hold.
 */
#include <algorithm>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "conv/conv_tile.h"
#include "conv/tile_operands.h"
#include "conv/wide_sums.h"
#include "conv_support.h"
#include "each_target.h"
#include "kernel_reference.h"

namespace nvdla::sim::test
{

namespace
{

using nvdla::test::forEachVectorTarget;

/** Numbers of all magnitudes up to 2^\a bits */
int16_t anyNumber(Random &random, int bits)
{
	return static_cast<int16_t>(random(-32768, 32767) >> random(15 - bits, 15));
}

/** Runs of two rows, their weights and the data that they meet */
struct WideOperands {
	std::vector<int16_t> lines = std::vector<int16_t>(2000);
	static constexpr size_t kUnits = 158;
	std::vector<TileRun> runs = { { 0, 150 }, { 2064, 7 }, { 2096, 1 } };
	std::vector<int16_t> weights = std::vector<int16_t>(kUnits * kTileColumns * 2);

	static Int16Magnitudes magnitudes(const std::vector<int16_t> &numbers)
	{
		return magnitudesOf(reinterpret_cast<const std::byte *>(numbers.data()),
				    numbers.size());
	}

	void expectTheReference(size_t count, uint32_t truncate) const
	{
		const Panel panel = { .runs = runs,
				      .weights =
					      reinterpret_cast<const int32_t *>(weights.data()) };
		std::vector<TilePosition> positions;
		std::vector<int32_t> expected(count * kTileColumns);

		for (size_t p = 0; p < count; p++)
			positions.push_back(
				{ reinterpret_cast<const std::byte *>(lines.data()) + p * 16 });
		const uint32_t clipped = tileSumsReference(TileKind::Pairs, positions, panel,
							   { expected.data() }, truncate);
		forEachVectorTarget([&] {
			std::vector<int32_t> sums(expected.size());
			WideWeights wide;
			wide.load(panel, magnitudes(lines).number);
			EXPECT_EQ(wide.sums(positions, panel, truncate, { sums.data() }), clipped);
			EXPECT_EQ(sums, expected) << count << " positions";
		});
	}
};

TEST(WideTest, SumsAreTheReferences)
{
	Random random(3);

	for (int bits : { 6, 9, 12, 15 }) {
		WideOperands operands;
		for (int16_t &number : operands.weights)
			number = anyNumber(random, 15);
		for (int16_t &number : operands.lines)
			number = anyNumber(random, bits);
		for (size_t count = 1; count <= 18; count++)
			operands.expectTheReference(
				count, static_cast<uint32_t>(random(0, 31) >> random(0, 5)));
	}
}

TEST(WideTest, SumsOfExtremesAreTheReferences)
{
	for (int16_t data : { int16_t{ -32768 }, int16_t{ 32767 } }) {
		for (int16_t weight : { int16_t{ -32768 }, int16_t{ -32767 }, int16_t{ 127 },
					int16_t{ 32639 }, int16_t{ 32766 }, int16_t{ 32767 } }) {
			WideOperands operands;
			std::fill(operands.lines.begin(), operands.lines.end(), data);
			std::fill(operands.weights.begin(), operands.weights.end(), weight);
			for (const uint32_t truncate : { 0U, 8U, 31U })
				operands.expectTheReference(9, truncate);
		}
	}
}

TEST(WideTest, MagnitudesAreThoseOfAnyNumber)
{
	Random random(7);

	for (size_t count = 0; count < 150; count++) {
		std::vector<int16_t> numbers(count);
		Int16Magnitudes expected;
		for (size_t i = 0; i < count; i++) {
			numbers[i] = random(0, 9) ? anyNumber(random, 15) : int16_t{ INT16_MIN };
			const auto one = static_cast<uint32_t>(std::abs(int32_t{ numbers[i] }));
			const auto before = static_cast<uint32_t>(
				i % 2 ? std::abs(int32_t{ numbers[i - 1] }) : 0);
			expected.number = std::max(expected.number, one);
			expected.pair = std::max(expected.pair, before + one);
		}
		forEachVectorTarget([&] {
			const Int16Magnitudes found = WideOperands::magnitudes(numbers);
			ASSERT_EQ(found.number, expected.number) << count;
			ASSERT_EQ(found.pair, expected.pair) << count;
		});
	}
}

} /* namespace */

} /* namespace nvdla::sim::test */

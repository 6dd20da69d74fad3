/* SPDX-License-Identifier: MIT */
/*
 * Sums of one output position, by themselves: blocks of all sizes, any number of kernels.
 */
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "conv/dense_sums.h"
#include "conv_support.h"
#include "each_target.h"
#include "kernel_reference.h"

namespace nvdla::sim::test
{

namespace
{

using nvdla::test::forEachVectorTarget;

/** Blocks of random sizes, not all that there are weights for, their data and the weights of some
 * kernels */
template<typename Number>
struct DenseCase {
	std::vector<Number> data;
	std::vector<Number> weights;
	std::vector<DenseBlock> blocks;
	size_t kernels;

	/** \param lowest of data */
	DenseCase(Random &random, int lowest, int largest) : kernels(random(1, 70))
	{
		constexpr int kMost = 64; /* elements of a block */
		const int count = random(1, 20);
		std::vector<size_t> sizes(count);
		size_t before = 0;

		for (size_t &size : sizes) {
			size = random(0, 2) ? kMost : random(1, kMost);
			before += size;
		}
		data.resize(before);
		weights.resize(before * kernels);
		for (Number &number : data)
			number = static_cast<Number>(random(0, 9) ? random(lowest, largest)
								  : lowest);
		for (Number &number : weights)
			number = static_cast<Number>(random(0, 9) ? random(-largest - 1, largest)
								  : -largest - 1);
		before = 0;
		for (const size_t size : sizes) {
			if (random(0, 7))
				blocks.push_back({ std::as_bytes(std::span(data)).data() +
							   before * sizeof(Number),
						   before * sizeof(Number),
						   size * sizeof(Number) });
			before += size;
		}
	}

	DenseWeights all() const { return { std::as_bytes(std::span(weights)).data(), kernels }; }
};

} /* namespace */

TEST(DenseTest, SumsOfBytesAreTheReferences)
{
	Random random(31);

	for (int round = 0; round < 100; round++) {
		const DenseCase<int8_t> one(random, round % 2 ? 0 : INT8_MIN, INT8_MAX);
		std::vector<int32_t> expected(one.kernels);
		denseSumsReference(one.blocks, one.all(), expected.data());
		forEachVectorTarget([&] {
			std::vector<int32_t> sums(one.kernels);
			denseSums(one.blocks, one.all(), sums.data());
			EXPECT_EQ(sums, expected) << round;
		});
	}
}

} /* namespace nvdla::sim::test */

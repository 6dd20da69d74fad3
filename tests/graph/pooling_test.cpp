/* SPDX-License-Identifier: MIT */
/*
 * Poolings of rows that are wider than PDP's line buffer.
 */
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nvdla/graph.h>
#include <nvdla/task.h>

namespace nvdla::test
{

/* Any width, window and padding: there are strips that the driver accepts. */
TEST(Pooling, RowsOfAnyWidthAreDivided)
{
	constexpr uint32_t seed = 1, cases = 4000;
	std::mt19937 random(seed);
	const auto size = [&](uint32_t from, uint32_t to) {
		return std::uniform_int_distribution<uint32_t>(from, to)(random);
	};
	uint32_t tried = 0, divided = 0;

	while (tried < cases) {
		const op::Axes kernel{ size(1, 8), size(1, 8) }, stride{ size(1, 16), size(1, 3) };
		const uint32_t left = size(0, kernel.x - 1), right = size(0, kernel.x - 1);
		const uint32_t w = size(1, 400), h = kernel.y + stride.y * size(0, 1);
		const DataType type = size(0, 1) ? DataType::Half : DataType::Int8;
		if (left + w + right < kernel.x || (left + w + right - kernel.x) % stride.x)
			continue;
		SCOPED_TRACE(fmt::format("seed {}: {} columns, kernel {}x{}, stride {}x{}, padding "
					 "{} {}",
					 seed, w, kernel.x, kernel.y, stride.x, stride.y, left,
					 right));
		Graph graph;
		graph.input({ .name = "x", .type = type, .c = 8, .h = h, .w = w });
		graph.add(op::Pooling{ .name = "pool",
				       .input = "x",
				       .output = "y",
				       .method = op::Pool::Max,
				       .kernel = kernel,
				       .stride = stride,
				       .padding = { left, right, 0, 0 } });
		graph.output("y");
		const auto loadable = graph.assemble();
		ASSERT_TRUE(loadable) << loadable.error().message();
		const auto task = dlaTask(*loadable, 0);
		ASSERT_TRUE(task) << task.error().message();
		divided += task->operations.front().pdp.split_num > 1;
		tried++;
	}
	EXPECT_GT(divided, cases / 4);
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * Branches of a network overlap within a task; several tasks run one after the other.
 */
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/graph.h>

#include "graph/chip/prediction.h"

using namespace nvdla;

namespace
{

constexpr uint32_t channels = 64, lines = 28, layers = 3;

enum class Order { OneBehindTheOther, Alternately };

/* Convolutions and poolings of one input, and the sum of both. */
class Branches
{
public:
	Branches()
	{
		graph_.input({ .name = "x",
			       .type = DataType::Int8,
			       .c = channels,
			       .h = lines,
			       .w = lines });
		const std::vector<int8_t> kernels(size_t{ channels } * channels * 9, 1);
		graph_.weights({ "w", channels, channels, 3, 3, Elements::of(kernels) });
	}

	Loadable convolutions(const AssembleOptions &options = {}) &&
	{
		for (uint32_t i = 0; i < layers; i++)
			convolution(i);
		return std::move(*this).assembled(fmt::format("conv{}", layers), options);
	}
	Loadable poolings() &&
	{
		for (uint32_t i = 0; i < layers; i++)
			pooling(i);
		return std::move(*this).assembled(fmt::format("pool{}", layers), {});
	}
	Loadable both(Order order, const AssembleOptions &options) &&
	{
		for (uint32_t i = 0; i < layers; i++) {
			convolution(i);
			if (order == Order::Alternately)
				pooling(i);
		}
		for (uint32_t i = 0; i < layers && order == Order::OneBehindTheOther; i++)
			pooling(i);
		graph_.add(
			op::Sdp{ .name = "sum",
				 .input = fmt::format("conv{}", layers),
				 .output = "y",
				 .x1 = op::SdpUnit{ .alu = op::Alu::Sum,
						    .operands = fmt::format("pool{}", layers) } });
		return std::move(*this).assembled("y", options);
	}

private:
	/* What a branch's layer reads. */
	static std::string before(const char *branch, uint32_t layer)
	{
		return layer ? fmt::format("{}{}", branch, layer) : "x";
	}
	void convolution(uint32_t i)
	{
		const std::string name = fmt::format("conv{}", i + 1);
		graph_.add(op::Convolution{ .name = name + " sums",
					    .input = before("conv", i),
					    .weights = "w",
					    .output = name + " stream",
					    .padding = { 1, 1, 1, 1 } });
		graph_.add(op::Sdp{ .name = name,
				    .input = name + " stream",
				    .output = name,
				    .converter = { 0, 1, 8 } });
	}
	void pooling(uint32_t i)
	{
		const std::string name = fmt::format("pool{}", i + 1);
		graph_.add(op::Pooling{ .name = name,
					.input = before("pool", i),
					.output = name,
					.kernel = { 3, 3 },
					.padding = { 1, 1, 1, 1 } });
	}
	Loadable assembled(const std::string &output, const AssembleOptions &options) &&
	{
		graph_.output(output);
		auto loadable = graph_.assemble(options);
		EXPECT_TRUE(loadable) << (loadable ? "" : loadable.error().message());
		return loadable ? *std::move(loadable) : Loadable();
	}

	Graph graph_;
};

uint64_t durationOf(const Loadable &loadable)
{
	const auto prediction = chip::predict(loadable, {}, "net");
	EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().message());
	return prediction ? prediction->durationNs : 0;
}

AssembleOptions branches(Choice choice)
{
	AssembleOptions options{ .strategy = Strategy::all(Choice::Never) };

	options.strategy->branches = choice;
	return options;
}

uint64_t memoryOf(const Loadable &loadable)
{
	uint64_t sum = 0;

	for (const Memory &memory : loadable.memories)
		sum += memory.size;
	return sum;
}

} /* namespace */

TEST(Tasks, BranchesOverlapInOne)
{
	const AssembleOptions apart{ .reuseMemory = false };
	const AssembleOptions several{ .maxTaskOperations = 2 * layers, .reuseMemory = false };
	const uint64_t convolutions = durationOf(Branches().convolutions());
	const uint64_t poolings = durationOf(Branches().poolings());
	const uint64_t inTasks = durationOf(Branches().both(Order::OneBehindTheOther, several));
	const uint64_t behind = durationOf(Branches().both(Order::OneBehindTheOther, apart));
	const uint64_t alternately = durationOf(Branches().both(Order::Alternately, apart));

	EXPECT_GT(inTasks, convolutions + poolings);
	EXPECT_LT(behind, inTasks - poolings / 3);
	EXPECT_EQ(behind, alternately);
}

/* Who writes where another one has read waits for it. */
TEST(Tasks, SharedBytesCostOverlap)
{
	const AssembleOptions apart{ .reuseMemory = false };
	const uint64_t shared = durationOf(Branches().both(Order::OneBehindTheOther, {}));

	EXPECT_GT(shared, durationOf(Branches().both(Order::OneBehindTheOther, apart)));
	EXPECT_EQ(shared, durationOf(Branches().both(Order::OneBehindTheOther,
						     { .maxTaskOperations = 2 * layers })));
}

/* Layers of one branch share, as they come one after the other anyhow. */
TEST(Tasks, StrategyKeepsBranchesApart)
{
	const Order order = Order::OneBehindTheOther;
	const Loadable shared = Branches().both(order, branches(Choice::Never));
	const Loadable apart = Branches().both(order, branches(Choice::Always));
	const Loadable chosen = Branches().both(order, branches(Choice::Auto));
	const Loadable alone = Branches().both(order, { .reuseMemory = false });

	EXPECT_EQ(shared, Branches().both(order, {}));
	EXPECT_EQ(chosen, apart);
	EXPECT_EQ(durationOf(apart), durationOf(alone));
	EXPECT_LT(durationOf(apart), durationOf(shared));
	EXPECT_GT(memoryOf(apart), memoryOf(shared));
	EXPECT_LT(memoryOf(apart), memoryOf(alone));
}

/* One branch that waits for the other has nothing to gain. */
TEST(Tasks, BranchesThatAreOneShare)
{
	EXPECT_EQ(Branches().convolutions(), Branches().convolutions(branches(Choice::Always)));
}

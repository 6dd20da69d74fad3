/* SPDX-License-Identifier: MIT */
/*
 * Operations that take several hardware layers, on the embedded device.
 */
#pragma once

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "graph_check.h"
#include "refusal.h"

namespace nvdla::test
{

/* An input of 6400 entries; the buffer has 4096, of which weights need a bank. */
inline constexpr uint32_t largeH = 200;
inline constexpr uint32_t largeW = 32;

/* Graphs of one input "x" and one output "y", with what the reference needs. */
class ExpansionTest : public testing::Test
{
protected:
	void input(Surface surface)
	{
		surface.name = "x";
		Cube cube = dice_.cube(surface.type, surface.n, surface.c, surface.h, surface.w);
		cube.format = surface.format;
		made_.inputs["x"] = std::move(cube);
		made_.inputNames = { "x" };
		made_.graph.input(surface);
	}
	void weights(DataType type, uint32_t k, uint32_t c, uint32_t r, uint32_t s)
	{
		GraphWeights weights{ "w", k, c, r, s };
		weights.elements = dice_.elements(type, size_t{ k } * c * r * s);
		made_.constants.weights["w"] = weights;
		made_.graph.weights(std::move(weights));
	}
	/* Operands of the ALU, one for each element. */
	void operands(DataType type, uint32_t c, uint32_t h, uint32_t w)
	{
		GraphOperands operands{ .name = "bias", .c = c, .h = h, .w = w };
		operands.alu = dice_.elements(type, size_t{ c } * h * w);
		made_.constants.operands["bias"] = operands;
		made_.graph.operands(std::move(operands));
	}
	void add(op::Any operation) { made_.graph.add(std::move(operation)); }
	op::Sdp sdp(DataType type = DataType::Unknown) const
	{
		return { .name = "sdp",
			 .input = "s",
			 .output = "y",
			 .converter = { 0, 1, 8 },
			 .type = type };
	}
	void output(const std::string &name)
	{
		made_.graph.output(name);
		made_.outputNames.push_back(name);
	}

	/* The task of the graph, once its results are those of the reference. */
	DlaTask checked()
	{
		auto device = Device::open(
			fmt::format("{}:{}", Device::embeddedPath, made_.options.core.name));
		EXPECT_TRUE(device) << device.error().message();
		EXPECT_EQ(checkCase(*device, made_), "");
		auto loadable = made_.graph.assemble(made_.options);
		EXPECT_TRUE(loadable) << loadable.error().message();
		auto task = loadable ? dlaTask(*loadable, 0) : Result<DlaTask>(DlaTask());
		EXPECT_TRUE(task) << task.error().message();
		return task ? *task : DlaTask();
	}
	void expectRefusal(std::initializer_list<const char *> words) const
	{
		test::expectRefusal(made_.graph, words);
	}

	static std::vector<nvdla_conv_op_desc> convolutions(const DlaTask &task)
	{
		std::vector<nvdla_conv_op_desc> found;
		for (size_t i = 0; i < task.graph.size(); i++) {
			if (task.graph[i].op_type == NVDLA_OP_CONV)
				found.push_back(task.operations[i].conv);
		}
		return found;
	}
	static auto count(const DlaTask &task, nvdla_op_type type)
	{
		return std::count_if(
			task.graph.begin(), task.graph.end(),
			[&](const nvdla_graph_node &node) { return node.op_type == type; });
	}

	Dice dice_{ 1 };
	RandomCase made_;
};

} /* namespace nvdla::test */

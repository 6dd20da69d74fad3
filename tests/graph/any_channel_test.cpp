/* SPDX-License-Identifier: MIT */
/*
 * Parts of surfaces that begin at any channel.
 */
#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class AnyChannel : public ExpansionTest
{
protected:
	/* An input "x", and channels of it as "part". */
	void slice(DataType type, uint32_t c, uint32_t first, uint32_t count)
	{
		input({ .type = type, .c = c, .h = 6, .w = 5 });
		made_.graph.surface(
			{ .name = "part", .c = count, .within = "x", .atChannel = first });
		const Cube &whole = made_.inputs.at("x");
		const uint32_t left = count ? count : c - first;
		Cube some = Cube::of(type, 1, left, 6, 5);
		for (size_t i = 0; i < some.values.size(); i++)
			some.values[i] = whole.values[size_t{ first } * 30 + i];
		made_.inputs["part"] = std::move(some);
	}
	static op::Sdp copy(const std::string &from, const std::string &to)
	{
		return { .name = "copy to " + to, .input = from, .output = to };
	}
	/* "x" as it is, and pooled, behind each other. */
	void concatenation(DataType type, uint32_t c)
	{
		input({ .type = type, .c = c, .h = 6, .w = 5 });
		made_.graph.surface({ .name = "all", .type = type, .c = 2 * c, .h = 6, .w = 5 });
		made_.graph.surface({ .name = "a", .within = "all" });
		made_.graph.surface({ .name = "b", .within = "all", .atChannel = c });
		add(copy("x", "a"));
		add(op::Pooling{ .name = "pool",
				 .input = "x",
				 .output = "b",
				 .kernel = { 3, 3 },
				 .padding = { 1, 1, 1, 1 } });
		made_.joined["all"] = { "a", "b" };
	}
};

} /* namespace */

TEST_F(AnyChannel, SlicesAreTakenByAConvolution)
{
	slice(DataType::Int8, 70, 37, 20);
	add(copy("part", "y"));
	output("y");
	const DlaTask task = checked();
	const auto layers = convolutions(task);
	ASSERT_EQ(layers.size(), 1U);
	/* From the atom on that it begins in. */
	EXPECT_EQ(layers[0].input_channel_csc, 25);
	EXPECT_EQ(count(task, NVDLA_OP_SDP), 2);
}

TEST_F(AnyChannel, SlicesOf16BitsGoOnToTheEnd)
{
	slice(DataType::Int16, 70, 1, 0);
	add(copy("part", "y"));
	output("y");
	checked();
}

TEST_F(AnyChannel, HalvesStayAsTheyAre)
{
	slice(DataType::Half, 40, 19, 7);
	add(copy("part", "y"));
	output("y");
	EXPECT_EQ(convolutions(checked()).size(), 1U);
}

/* Nothing comes between a convolution and its SDP operation. */
TEST_F(AnyChannel, OperandsAreTakenBeforeTheStream)
{
	slice(DataType::Int8, 40, 3, 33);
	weights(DataType::Int8, 33, 40, 1, 1);
	add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	op::Sdp sum = sdp();
	sum.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "part" };
	add(sum);
	output("y");
	EXPECT_EQ(convolutions(checked()).size(), 2U);
}

TEST_F(AnyChannel, ATakenSliceIsThereForOthers)
{
	slice(DataType::Int8, 40, 3, 33);
	add(copy("part", "y"));
	add(op::Pooling{ .name = "pool", .input = "part", .output = "z", .kernel = { 2, 2 } });
	output("y");
	output("z");
	EXPECT_EQ(convolutions(checked()).size(), 1U);
}

TEST_F(AnyChannel, PartsArePutTogetherOnce)
{
	concatenation(DataType::Int8, 40);
	output("all");
	const DlaTask task = checked();
	const auto layers = convolutions(task);
	ASSERT_EQ(layers.size(), 1U);
	EXPECT_EQ(layers[0].input_channel_csc, 128);
	EXPECT_EQ(count(task, NVDLA_OP_SDP), 2);
}

TEST_F(AnyChannel, PartsOf16BitsAndHalves)
{
	concatenation(DataType::Int16, 21);
	output("all");
	EXPECT_EQ(convolutions(checked()).size(), 1U);
}

TEST_F(AnyChannel, PartsOfHalves)
{
	concatenation(DataType::Half, 5);
	output("all");
	EXPECT_EQ(convolutions(checked()).size(), 1U);
}

/* Channels 50 to 69 of both parts. */
TEST_F(AnyChannel, WholesThatArePutTogetherAreSliced)
{
	concatenation(DataType::Int8, 40);
	made_.graph.surface({ .name = "part", .c = 20, .within = "all", .atChannel = 20 });
	add(op::Pooling{ .name = "points", .input = "part", .output = "y", .kernel = { 2, 2 } });
	made_.graph.output("y");
	auto loadable = made_.graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto task = dlaTask(*loadable, 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(convolutions(*task).size(), 2U);
}

/* Of the other lines, one part begins in the midst of what is one part here. */
TEST_F(AnyChannel, PartsOfOneWholeAgreeWhereTheyBegin)
{
	input({ .type = DataType::Int8, .c = 40, .h = 6, .w = 5 });
	made_.graph.surface({ .name = "all", .type = DataType::Int8, .c = 60, .h = 12, .w = 5 });
	made_.graph.surface({ .name = "a", .within = "all" });
	made_.graph.surface({ .name = "b", .within = "all", .atChannel = 20, .atLine = 6 });
	add(copy("x", "a"));
	add(op::Pooling{ .name = "pool", .input = "x", .output = "b", .kernel = { 1, 1 } });
	made_.graph.output("all");
	expectRefusal({ "'a'", "has 40 channels from channel 0 of 'all' on",
			"another part begins behind 20" });
}

TEST_F(AnyChannel, SlicesOfSlices)
{
	slice(DataType::Int8, 90, 37, 20);
	made_.graph.surface({ .name = "outer", .c = 50, .within = "x", .atChannel = 32 });
	made_.graph.surface({ .name = "inner", .c = 20, .within = "outer", .atChannel = 5 });
	made_.graph.surface({ .name = "odd", .c = 40, .within = "x", .atChannel = 30 });
	made_.graph.surface({ .name = "even", .c = 20, .within = "odd", .atChannel = 7 });
	add(copy("part", "y"));
	output("y");
	for (const char *name : { "inner", "even" }) {
		made_.inputs[name] = made_.inputs.at("part");
		add(copy(name, std::string("y of ") + name));
		output(std::string("y of ") + name);
	}
	EXPECT_EQ(convolutions(checked()).size(), 4U);
}

TEST_F(AnyChannel, SlicesInACircle)
{
	input({ .type = DataType::Int8, .c = 40, .h = 6, .w = 5 });
	made_.graph.surface({ .name = "a", .c = 20, .within = "b", .atChannel = 5 });
	made_.graph.surface({ .name = "b", .c = 20, .within = "a", .atChannel = 5 });
	add(copy("a", "y"));
	output("y");
	expectRefusal({ "'copy to y'", "'a' is a part of itself, through 'b'" });
}

TEST_F(AnyChannel, AllOfTheWholeIsWritten)
{
	input({ .type = DataType::Int8, .c = 20, .h = 6, .w = 5 });
	made_.graph.surface({ .name = "all", .type = DataType::Int8, .c = 50, .h = 6, .w = 5 });
	made_.graph.surface({ .name = "a", .within = "all" });
	made_.graph.surface({ .name = "b", .within = "all", .atChannel = 20 });
	add(copy("x", "a"));
	add(op::Pooling{ .name = "pool", .input = "x", .output = "b", .kernel = { 1, 1 } });
	output("all");
	expectRefusal({ "surface 'all'", "300 of its elements are in no part that is written" });
}

TEST_F(AnyChannel, NoStreamIsOpen)
{
	slice(DataType::Int8, 40, 3, 33);
	weights(DataType::Int8, 33, 40, 1, 1);
	add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	add(copy("part", "z"));
	add(sdp());
	output("y");
	output("z");
	expectRefusal({ "'part'", "'s' is a stream that no operation has taken yet" });
}

} /* namespace nvdla::test */

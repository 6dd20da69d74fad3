/* SPDX-License-Identifier: MIT */
/*
 * Grouped and depthwise convolutions.
 */
#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class Groups : public ExpansionTest
{
protected:
	/* Each channel has a kernel of its own. */
	void depthwise(DataType type, uint32_t c, uint32_t n = 1)
	{
		input({ .type = type, .c = c, .h = 7, .w = 9, .n = n });
		weights(type, c, 1, 3, 3);
		add(conv(c));
	}
	static op::Convolution conv(uint32_t groups)
	{
		return { .name = "conv",
			 .input = "x",
			 .weights = "w",
			 .output = "s",
			 .groups = groups };
	}
	/* Channels that CSC sees in each layer. */
	static std::vector<uint32_t> channels(const DlaTask &task)
	{
		std::vector<uint32_t> found;
		for (const nvdla_conv_op_desc &layer : convolutions(task))
			found.push_back(layer.input_channel_csc);
		return found;
	}
};

} /* namespace */

TEST_F(Groups, DepthwiseIsALayerForEachAtomOfChannels)
{
	depthwise(DataType::Int8, 70);
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 32, 6 }));
}

TEST_F(Groups, AtomsOf16BitsHave16Channels)
{
	depthwise(DataType::Int16, 40);
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 16, 16, 8 }));
}

TEST_F(Groups, FewChannelsAreOneLayerThatPoolsOnTheFly)
{
	depthwise(DataType::Int8, 20);
	add(sdp());
	made_.graph.surface({ .name = "y", .place = Place::Stream });
	add(op::Pooling{ .name = "pool", .input = "y", .output = "z", .kernel = { 1, 1 } });
	output("z");
	const DlaTask task = checked();
	EXPECT_EQ(channels(task), (std::vector<uint32_t>{ 20 }));
	EXPECT_EQ(task.surfaces[1].sdp.dst_data.type, NVDLA_MEM_HW);
}

/* What the pooling cannot take on the fly goes through memory. */
TEST_F(Groups, SeveralLayersPoolFromMemory)
{
	depthwise(DataType::Int8, 40);
	add(sdp());
	made_.graph.surface({ .name = "y", .place = Place::Stream });
	add(op::Pooling{ .name = "pool", .input = "y", .output = "z", .kernel = { 1, 1 } });
	output("z");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 8 }));
}

/* As many groups as make both sides whole atoms: 4 of 24 channels and 8 kernels. */
TEST_F(Groups, HavePaddingDilationAndStride)
{
	input({ .type = DataType::Int8, .c = 144, .h = 9, .w = 11 });
	weights(DataType::Int8, 48, 24, 3, 2);
	op::Convolution some = conv(6);
	some.stride = { 2, 1 };
	some.dilation = { 3, 2 };
	some.padding = { 1, 2, 3, 2 };
	some.padValue = 5;
	add(some);
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 96, 48 }));
}

TEST_F(Groups, OperandsOfChannelsAndElementsAreDivided)
{
	depthwise(DataType::Int8, 40);
	operands(DataType::Int16, 40, 5, 7);
	GraphOperands factors{ .name = "factors",
			       .c = 40,
			       .mul = dice_.elements(DataType::Int16, 40) };
	made_.constants.operands["factors"] = factors;
	made_.graph.operands(factors);
	op::Sdp both = sdp();
	both.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
	both.x2 = op::SdpUnit{ .multiply = true, .operands = "factors", .shift = 9 };
	add(both);
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 8 }));
}

TEST_F(Groups, OperandsThatAreSurfacesAreDivided)
{
	depthwise(DataType::Int16, 40);
	add(op::Pooling{ .name = "part", .input = "x", .output = "p", .kernel = { 3, 3 } });
	add(op::Pooling{ .name = "point",
			 .input = "x",
			 .output = "q",
			 .kernel = { 8, 7 },
			 .stride = { 2, 1 },
			 .padding = { 0, 1, 0, 0 } });
	add(op::Pooling{ .name = "one", .input = "q", .output = "o", .kernel = { 2, 1 } });
	op::Sdp both = sdp();
	both.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "p" };
	both.x2 = op::SdpUnit{ .alu = op::Alu::Max, .operands = "o" };
	add(both);
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 16, 16, 8 }));
}

TEST_F(Groups, BatchesAreMadeCubeByCube)
{
	depthwise(DataType::Int8, 40, 2);
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 8, 32, 8 }));
}

TEST_F(Groups, AreWrittenIntoAPart)
{
	depthwise(DataType::Int8, 64);
	add(sdp());
	add(op::Pooling{ .name = "pool", .input = "x", .output = "p", .kernel = { 3, 3 } });
	made_.graph.surface({ .name = "all", .type = DataType::Int8, .c = 128, .h = 5, .w = 7 });
	made_.graph.surface({ .name = "p", .within = "all" });
	made_.graph.surface({ .name = "y", .within = "all", .atChannel = 64 });
	made_.joined["all"] = { "p", "y" };
	output("all");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 32 }));
}

TEST_F(Groups, LargeInputsAreBandsOfEachTile)
{
	input({ .type = DataType::Int8, .c = 64, .h = 2 * largeH, .w = largeW });
	weights(DataType::Int8, 64, 1, 3, 3);
	op::Convolution some = conv(64);
	some.bands = 2;
	some.padding = { 1, 1, 1, 1 };
	add(some);
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()), (std::vector<uint32_t>{ 32, 32, 32, 32 }));
}

TEST_F(Groups, OfAPictureAreOneLayer)
{
	input({ .type = DataType::Int8, .c = 4, .h = 7, .w = 9, .format = PixelFormat::A8B8G8R8 });
	weights(DataType::Int8, 8, 2, 3, 3);
	add(conv(2));
	add(sdp());
	output("y");
	EXPECT_EQ(channels(checked()).size(), 1U);
}

TEST_F(Groups, AreChosenFor)
{
	depthwise(DataType::Half, 70);
	op::Sdp plain = sdp();
	plain.converter = {};
	add(plain);
	output("y");
	made_.options.strategy = Strategy{};
	EXPECT_EQ(channels(checked()).size(), 5U);
}

TEST_F(Groups, ChannelsHaveToBeThere)
{
	input({ .type = DataType::Int8, .c = 40, .h = 7, .w = 9 });
	weights(DataType::Int8, 40, 2, 3, 3);
	add(conv(40));
	add(sdp());
	output("y");
	expectRefusal({ "'conv' (convolution), weights", "2 channels in each of 40 groups",
			"'x' has 40 in all" });
}

TEST_F(Groups, KernelsAreAMultiple)
{
	input({ .type = DataType::Int8, .c = 40, .h = 7, .w = 9 });
	weights(DataType::Int8, 30, 2, 3, 3);
	add(conv(20));
	add(sdp());
	output("y");
	expectRefusal({ "'conv'", "30 kernels, which is no multiple of 20 groups" });
}

TEST_F(Groups, ThereIsOneAtLeast)
{
	input({ .type = DataType::Int8, .c = 40, .h = 7, .w = 9 });
	weights(DataType::Int8, 30, 2, 3, 3);
	add(conv(0));
	add(sdp());
	output("y");
	expectRefusal({ "'conv'", "groups", "are 0" });
}

TEST_F(Groups, OfSeveralLayersReuseNothing)
{
	depthwise(DataType::Int8, 40);
	add(sdp());
	op::Convolution again = conv(40);
	again.name = "again";
	again.output = "t";
	again.reuseData = true;
	add(again);
	add(op::Sdp{ .name = "sdp2", .input = "t", .output = "z" });
	output("y");
	output("z");
	expectRefusal({ "'again'", "reuseData", "40 groups are made in 2 hardware layers" });
}

} /* namespace nvdla::test */

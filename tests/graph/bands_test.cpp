/* SPDX-License-Identifier: MIT */
/*
 * Convolutions in bands of lines.
 */
#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class Bands : public ExpansionTest
{
protected:
	void convolutionInTwoBands()
	{
		input({ .type = DataType::Int8, .c = 40, .h = 8, .w = 8 });
		weights(DataType::Int8, 32, 40, 1, 1);
		add(op::Convolution{
			.name = "conv", .input = "x", .weights = "w", .output = "s", .bands = 2 });
	}
};

} /* namespace */

TEST_F(Bands, LargeInputsAreDivided)
{
	input({ .type = DataType::Int16, .c = 64, .h = largeH, .w = largeW });
	weights(DataType::Int16, 5, 64, 3, 3);
	operands(DataType::Int16, 5, 100, 16);
	add(op::Convolution{ .name = "conv",
			     .input = "x",
			     .weights = "w",
			     .output = "s",
			     .stride = { 2, 2 },
			     .padding = { 1, 1, 1, 1 },
			     .padValue = 7 });
	op::Sdp bias = sdp();
	bias.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
	add(bias);
	output("y");
	const DlaTask task = checked();
	const auto layers = convolutions(task);
	ASSERT_EQ(layers.size(), 2U);
	EXPECT_EQ(layers[0].pad_y_top, 1);
	EXPECT_EQ(layers[0].pad_y_bottom, 0);
	EXPECT_EQ(layers[1].pad_y_top, 0);
	/* The last line of the padding is used by no window. */
	EXPECT_EQ(layers[1].pad_y_bottom, 0);
	/* One line is in both: R - stride. */
	EXPECT_EQ(layers[0].input_height_csc + layers[1].input_height_csc, largeH + 1);
	/* It stays in the buffer. */
	EXPECT_EQ(layers[0].release, layers[0].input_height_csc - 1);
	EXPECT_EQ(layers[1].data_reuse, 1);
	EXPECT_EQ(task.surfaces[2].conv.src_data.height, layers[1].input_height_csc - 1);
}

TEST_F(Bands, SurfacesAsOperandsAreDividedToo)
{
	input({ .type = DataType::Int8, .c = 32, .h = 300, .w = 64 });
	weights(DataType::Int8, 32, 32, 2, 1);
	add(op::Pooling{ .name = "pool",
			 .input = "x",
			 .output = "pooled",
			 .method = op::Pool::Min,
			 .kernel = { 1, 2 } });
	add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	op::Sdp sum = sdp();
	sum.x1 = op::SdpUnit{ .alu = op::Alu::Max, .operands = "pooled" };
	add(sum);
	output("y");
	EXPECT_EQ(convolutions(checked()).size(), 2U);
}

/* One number for each channel: all bands read the same. */
TEST_F(Bands, SurfacesPerChannelAreNotDivided)
{
	for (const DataType type : { DataType::Int8, DataType::Int16, DataType::Half }) {
		SCOPED_TRACE(dataTypeName(type));
		made_ = {};
		input({ .type = type, .c = 32, .h = 300, .w = 64 });
		made_.inputs["z"] = dice_.cube(type, 1, 40, 1, 1);
		made_.inputNames.push_back("z");
		made_.graph.input({ .name = "z", .type = type, .c = 40, .h = 1, .w = 1 });
		weights(type, 40, 32, 1, 1);
		add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
		op::Sdp sum = sdp();
		if (type == DataType::Half)
			sum.converter = {};
		sum.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "z" };
		sum.y = op::SdpUnit{ .multiply = true, .operands = "z" };
		add(sum);
		output("y");
		EXPECT_GE(convolutions(checked()).size(), 2U);
	}
}

/* Beside other columns, the operands of two atoms are not one behind the other. */
TEST_F(Bands, SurfacesPerChannelHaveAtomsInTurn)
{
	input({ .type = DataType::Int8, .c = 40, .h = 2, .w = 2 });
	made_.graph.surface({ .name = "z", .h = 1, .w = 1, .within = "x" });
	op::Sdp sum = sdp();
	sum.input = "x";
	sum.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "z" };
	add(sum);
	output("y");
	expectRefusal({ "x1.operands", "'z' has a surface stride of", "needs one of 32" });
}

TEST_F(Bands, PicturesAreDivided)
{
	for (const PixelFormat format : { PixelFormat::A8B8G8R8, PixelFormat::Y16V16U16N444 }) {
		made_ = {};
		const bool planes = format == PixelFormat::Y16V16U16N444;
		const DataType type = planes ? DataType::Int16 : DataType::Int8;
		input({ .type = type,
			.c = planes ? 3u : 4u,
			.h = 60,
			.w = planes ? 3000u : 4000u,
			.format = format });
		weights(type, 2, planes ? 3 : 4, 3, 2);
		add(op::Convolution{ .name = "conv",
				     .input = "x",
				     .weights = "w",
				     .output = "s",
				     .stride = { 7, 3 },
				     .padding = { 0, 0, 2, 1 } });
		add(sdp());
		output("y");
		EXPECT_EQ(convolutions(checked()).size(), 3U);
	}
}

TEST_F(Bands, WinogradIsDividedBetweenTiles)
{
	input({ .type = DataType::Int8, .c = 160, .h = 102, .w = 34 });
	weights(DataType::Int8, 3, 160, 3, 3);
	add(op::Convolution{
		.name = "conv", .input = "x", .weights = "w", .output = "s", .winograd = true });
	add(sdp());
	output("y");
	const auto layers = convolutions(checked());
	ASSERT_GE(layers.size(), 2U);
	for (const nvdla_conv_op_desc &layer : layers)
		EXPECT_EQ(layer.input_height_cmac % 4, 0);
}

/* With so many lines, there is room for four kernels. */
TEST_F(Bands, KernelsNeedNotAllFit)
{
	input({ .type = DataType::Int8, .c = 256, .h = 9, .w = 250 });
	weights(DataType::Int8, 34, 256, 7, 7);
	add(op::Convolution{
		.name = "conv", .input = "x", .weights = "w", .output = "s", .stride = { 8, 1 } });
	add(sdp());
	output("y");
	const auto layers = convolutions(checked());
	/* Three bands of a line: nine parts, and the packing of 32 channels and of the others. */
	ASSERT_EQ(layers.size(), 33U);
	EXPECT_EQ(layers[0].data_bank, 14);
	EXPECT_EQ(layers[0].weight_bank, 2);
}

TEST_F(Bands, AKernelHasToFit)
{
	input({ .type = DataType::Int8, .c = 512, .h = 9, .w = 130 });
	weights(DataType::Int8, 64, 512, 9, 9);
	add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	add(sdp());
	output("y");
	expectRefusal({ "'conv'", "9 lines of 'x', which make 1 of output, need 19 banks",
			"a single kernel 2, there are 16: make it several layers of fewer" });
}

TEST_F(Bands, AreMadeIfAskedFor)
{
	input({ .type = DataType::Int8, .c = 40, .h = 9, .w = 7 });
	weights(DataType::Int8, 33, 40, 3, 3);
	add(op::Convolution{ .name = "conv",
			     .input = "x",
			     .weights = "w",
			     .output = "s",
			     .padding = { 1, 1, 1, 1 },
			     .bands = 4 });
	add(sdp(DataType::Int16));
	output("y");
	EXPECT_EQ(convolutions(checked()).size(), 4U);

	made_.graph.add(op::Convolution{
		.name = "ten", .input = "x", .weights = "w", .output = "t", .bands = 10 });
	expectRefusal({ "'ten'", "bands", "7 lines of output are not 10 bands of 1 or more" });
}

/* A part of a concatenation that is read before the other one is written. */
TEST_F(Bands, OutputsCanBeParts)
{
	input({ .type = DataType::Int8, .c = 40, .h = 9, .w = 7 });
	weights(DataType::Int8, 32, 40, 1, 1);
	made_.graph.surface({ .name = "both", .type = DataType::Int8, .c = 64, .h = 9, .w = 7 });
	made_.graph.surface({ .name = "y", .within = "both", .atChannel = 32 });
	made_.graph.surface({ .name = "z", .within = "both" });
	made_.joined["both"] = { "z", "y" };
	add(op::Convolution{
		.name = "conv", .input = "x", .weights = "w", .output = "s", .bands = 3 });
	add(sdp());
	add(op::Pooling{ .name = "pool", .input = "y", .output = "z" });
	output("both");
	EXPECT_EQ(convolutions(checked()).size(), 3U);
}

/* The pooling that was to take them on the fly reads them from memory. */
TEST_F(Bands, ArePooledFromMemory)
{
	convolutionInTwoBands();
	made_.graph.surface({ .name = "y", .place = Place::Stream });
	add(sdp());
	add(op::Pooling{ .name = "pool",
			 .input = "y",
			 .output = "z",
			 .kernel = { 2, 2 },
			 .stride = { 2, 2 } });
	output("z");
	const DlaTask task = checked();
	EXPECT_EQ(count(task, NVDLA_OP_SDP), 2);
	EXPECT_EQ(task.surfaces.back().pdp.src_data.type, NVDLA_MEM_MC);
}

TEST_F(Bands, AreNoStreams)
{
	convolutionInTwoBands();
	made_.graph.surface({ .name = "y", .place = Place::Stream });
	add(sdp());
	output("z");
	expectRefusal({ "'sdp'", "'y' is a stream, but 's' is made in 2 bands" });
	made_.graph = {};
	convolutionInTwoBands();
	expectRefusal({ "'conv'", "no operation takes its stream 's'" });
	add(op::Pooling{ .name = "pool", .input = "s", .output = "z" });
	expectRefusal({ "'pool'", "'s' is the stream of a convolution" });
}

} /* namespace nvdla::test */

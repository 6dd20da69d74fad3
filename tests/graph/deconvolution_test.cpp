/* SPDX-License-Identifier: MIT */
/*
 * Deconvolutions.
 */
#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

using Deconvolution = ExpansionTest;

} /* namespace */

TEST_F(Deconvolution, IsConvolutionsAndContracts)
{
	input({ .type = DataType::Int8, .c = 40, .h = 6, .w = 5 });
	weights(DataType::Int8, 33, 40, 4, 4);
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s",
			       .stride = { 2, 2 },
			       .padding = { 1, 1, 1, 1 } });
	add(sdp());
	output("y");
	const DlaTask task = checked();
	EXPECT_EQ(count(task, NVDLA_OP_CONV), 4);
	EXPECT_EQ(count(task, NVDLA_OP_SDP), 4);
	EXPECT_EQ(count(task, NVDLA_OP_RUBIK), 2);
	for (const nvdla_conv_op_desc &layer : convolutions(task)) {
		EXPECT_EQ(layer.kernel_width_csc, 2);
		EXPECT_EQ(layer.input_width_csc, 5);
		EXPECT_EQ(layer.input_width_cmac, 5);
	}
	/* The second line's phases are made before the first one's are put together. */
	EXPECT_EQ(task.graph[8].op_type, NVDLA_OP_RUBIK);
	EXPECT_EQ(task.operations[8].rubik.stride_x, 2);
	EXPECT_EQ(task.operations[8].rubik.stride_y, 1);
}

TEST_F(Deconvolution, PhasesCanBeOnChip)
{
	input({ .type = DataType::Half, .c = 20, .h = 3, .w = 4 });
	weights(DataType::Half, 17, 20, 3, 3);
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s",
			       .stride = { 3, 3 },
			       .phasesOnChip = true });
	op::Sdp relu = sdp();
	relu.converter = {};
	relu.x1 = op::SdpUnit{ .activation = op::Activation::Relu };
	add(relu);
	output("y");
	const DlaTask task = checked();
	EXPECT_EQ(task.surfaces[1].sdp.dst_data.type, NVDLA_MEM_CV);
	EXPECT_EQ(task.surfaces[12].rubik.src_data.type, NVDLA_MEM_CV);
	EXPECT_EQ(task.surfaces[12].rubik.dst_data.type, NVDLA_MEM_MC);

	/* Three phases of two atoms for each line; two of three lines are there at a time. */
	auto loadable = made_.graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	for (const Memory &memory : loadable->memories) {
		if (memory.domain == MemoryDomain::Sram) {
			EXPECT_EQ(memory.size, 2 * 3 * 2 * (3 * 4 * 32));
		}
	}
}

/* Without a stride in x there is nothing to put together. */
TEST_F(Deconvolution, LinesAreWrittenInPlace)
{
	input({ .type = DataType::Int16, .c = 20, .h = 3, .w = 4 });
	weights(DataType::Int16, 20, 20, 2, 3);
	add(op::Pooling{ .name = "pool", .input = "x", .output = "z", .kernel = { 1, 1 } });
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s",
			       .stride = { 1, 3 },
			       .padding = { 1, 1, 2, 3 } });
	op::Sdp sum = sdp();
	sum.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "z" };
	add(sum);
	output("y");
	const DlaTask task = checked();
	EXPECT_EQ(count(task, NVDLA_OP_CONV), 3);
	EXPECT_EQ(count(task, NVDLA_OP_RUBIK), 0);
}

/* RUBIK knows no batches: each cube is put together on its own, with operands of its own. */
TEST_F(Deconvolution, BatchesAreMadeCubeByCube)
{
	input({ .type = DataType::Int8, .c = 40, .h = 3, .w = 5, .n = 3 });
	weights(DataType::Int8, 33, 40, 3, 3);
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s",
			       .stride = { 2, 2 },
			       .padding = { 0, 1, 0, 1 } });
	op::Sdp bias = sdp();
	bias.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
	operands(DataType::Int8, 33, 6, 10);
	add(bias);
	output("y");
	const DlaTask task = checked();
	EXPECT_EQ(count(task, NVDLA_OP_CONV), 3 * 4);
	EXPECT_EQ(count(task, NVDLA_OP_RUBIK), 3 * 2);
}

/* Operands that all elements of a phase share are read once a channel, not once an element. */
TEST_F(Deconvolution, OperandsOfAPhaseMayBeOneForEachChannel)
{
	constexpr uint32_t k = 33, h = 6, w = 9;
	std::vector<int8_t> bias;
	input({ .type = DataType::Int8, .c = 40, .h = 3, .w = 5 });
	weights(DataType::Int8, k, 40, 2, 2);
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s",
			       .stride = { 2, 2 },
			       .padding = { 0, 1, 0, 0 } });
	op::Sdp sum = sdp();
	sum.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
	for (uint32_t i = 0; i < k * h * w; i++)
		bias.push_back(static_cast<int8_t>(i / (h * w) + 40 * (i / w % 2) + i % w % 2));
	GraphOperands operands{ .name = "bias", .c = k, .h = h, .w = w };
	operands.alu = Elements::of(std::span<const int8_t>(bias));
	made_.constants.operands["bias"] = operands;
	made_.graph.operands(operands);
	add(sum);
	output("y");
	const DlaTask task = checked();
	for (size_t i = 0; i < task.graph.size(); i++) {
		if (task.graph[i].op_type == NVDLA_OP_SDP) {
			EXPECT_EQ(task.operations[i].sdp.x1_op.mode, NVDLA_SDP_PER_KERNEL);
		}
	}
}

/* Phases are convolutions: their input is divided where it has to be. */
TEST_F(Deconvolution, LargeInputsAreDivided)
{
	input({ .type = DataType::Int16, .c = 64, .h = largeH, .w = largeW });
	weights(DataType::Int16, 3, 64, 2, 3);
	add(op::Deconvolution{
		.name = "up", .input = "x", .weights = "w", .output = "s", .stride = { 2, 2 } });
	add(sdp());
	output("y");
	const DlaTask task = checked();
	EXPECT_EQ(count(task, NVDLA_OP_CONV), 8);
	EXPECT_EQ(count(task, NVDLA_OP_RUBIK), 2);
}

/* Who waits for an operation of several layers waits for the last one. */
TEST_F(Deconvolution, OrderIsThatOfTheLastLayer)
{
	input({ .type = DataType::Int8, .c = 40, .h = 2, .w = 3 });
	weights(DataType::Int8, 32, 40, 2, 2);
	add(op::Deconvolution{
		.name = "up", .input = "x", .weights = "w", .output = "s", .stride = { 2, 2 } });
	add(sdp());
	add(op::Pooling{ .name = "pool", .input = "x", .output = "z" });
	output("y");
	output("z");
	made_.graph.order({ "up", "pool" });
	const DlaTask task = checked();
	ASSERT_EQ(task.graph.size(), 11U);
	EXPECT_EQ(task.graph[9].op_type, NVDLA_OP_RUBIK);
	EXPECT_EQ(task.graph[9].consumers[NVDLA_OP_PDP].index, 10);
	EXPECT_EQ(task.graph[9].consumers[NVDLA_OP_PDP].event, NVDLA_EVENT_OP_COMPLETED);
	EXPECT_EQ(task.graph[8].consumers[NVDLA_OP_PDP].index, -1);
}

TEST_F(Deconvolution, SaysWhatIsWrong)
{
	input({ .type = DataType::Int8, .c = 40, .h = 2, .w = 2 });
	weights(DataType::Int8, 32, 40, 2, 2);
	op::Deconvolution up{
		.name = "up", .input = "x", .weights = "w", .output = "s", .stride = { 33, 2 }
	};
	auto refused = [&](std::initializer_list<const char *> words) {
		const Graph before = made_.graph;
		add(up);
		add(sdp());
		output("y");
		expectRefusal(words);
		made_.graph = before;
	};
	refused({ "'up' (deconvolution), stride", "33 x 2; 1 to 32" });
	up.stride = { 2, 2 };
	up.padding = { 2, 2, 0, 0 };
	refused({ "'up' (deconvolution), padding", "cuts off all" });
	up.padding = { 1, 0, 1, 0 };
	refused({ "'sdp' (SDP), output", "3 high and 3 wide", "a single element" });
	up.padding = {};
	made_.graph.surface({ .name = "y", .lineStride = 3 * 32 });
	refused({ "'y'", "line" });
}

} /* namespace nvdla::test */

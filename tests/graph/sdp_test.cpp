/* SPDX-License-Identifier: MIT */
/*
 * SDP operations that become something else than one layer of themselves.
 */
#include <nvdla/layer_scaling.h>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class SdpOperations : public ExpansionTest
{
protected:
	/* An SDP operation on x, with surfaces made of x for X1's sum and product. */
	op::Sdp withSurfaces(DataType type)
	{
		input({ .type = type, .c = 40, .h = 4, .w = 6 });
		add(op::Pooling{ .name = "max",
				 .input = "x",
				 .output = "a",
				 .kernel = { 3, 1 },
				 .padding = { 1, 1, 0, 0 } });
		add(op::Pooling{ .name = "min",
				 .input = "x",
				 .output = "b",
				 .method = op::Pool::Min,
				 .kernel = { 1, 3 },
				 .padding = { 0, 0, 1, 1 } });
		op::Sdp both = sdp();
		both.input = "x";
		both.x1 = op::SdpUnit{ .alu = op::Alu::Sum,
				       .multiply = true,
				       .activation = op::Activation::Relu,
				       .operands = "a",
				       .mulOperands = "b" };
		if (type == DataType::Half) {
			both.converter = {};
		} else {
			both.x1->aluShift = 2;
			both.x1->shift = 3;
		}
		output("y");
		return both;
	}
};

} /* namespace */

/* A unit reads one surface: what has two is X1 and X2. */
TEST_F(SdpOperations, SumAndMultiplyWithASurfaceEach)
{
	for (const DataType type : { DataType::Int8, DataType::Int16, DataType::Half }) {
		SCOPED_TRACE(dataTypeName(type));
		made_ = {};
		add(withSurfaces(type));
		const DlaTask task = checked();
		const nvdla_sdp_op_desc &sdp = task.operations.back().sdp;
		EXPECT_EQ(sdp.x1_op.type, NVDLA_SDP_OP_ADD);
		EXPECT_EQ(sdp.x2_op.type, NVDLA_SDP_OP_MUL);
		EXPECT_NE(task.surfaces.back().sdp.x1_data.address,
			  task.surfaces.back().sdp.x2_data.address);
	}
}

TEST_F(SdpOperations, SayWhatTwoSurfacesNeed)
{
	op::Sdp both = withSurfaces(DataType::Int8);
	const Graph graph = made_.graph;
	auto refused = [&](const op::Sdp &sdp, std::initializer_list<const char *> words) {
		made_.graph = graph;
		add(sdp);
		expectRefusal(words);
	};

	op::Sdp busy = both;
	busy.x2 = op::SdpUnit{ .activation = op::Activation::Relu };
	refused(busy, { "'sdp' (SDP), x2", "has to be free", "'b'" });
	op::Sdp half = both;
	half.x1->alu.reset();
	refused(half, { "'sdp' (SDP), x1.mulOperands", "'b'", "operands of the ALU" });
	op::Sdp other = both;
	std::swap(other.x1, other.y);
	other.y->activation = op::Activation::None;
	refused(other, { "'sdp' (SDP), y.mulOperands", "are for x1" });
}

/* A step of the one is 0.05, of the other 0.12: Y's converter brings them together. */
TEST_F(SdpOperations, BringSurfacesOfDifferentScalesTogether)
{
	const Quantization operandScale{ 0.12, 7 }, outScale{ 0.2, -3 };
	struct {
		Elementwise operation;
		std::optional<op::Alu> alu;
		Quantization main;
	} const cases[] = {
		{ Elementwise::Max, op::Alu::Max, { 0.05, -12 } },
		{ Elementwise::Min, op::Alu::Min, { 0.05, -12 } },
		{ Elementwise::Sum, op::Alu::Sum, { 0.05, -12 } },
		{ Elementwise::Product, std::nullopt, { 0.05, 0 } },
	};

	for (const DataType type : { DataType::Int8, DataType::Int16 }) {
		for (const auto &[operation, alu, main] : cases) {
			SCOPED_TRACE(dataTypeName(type));
			SCOPED_TRACE(static_cast<int>(operation));
			const auto scaling = scaleElementwise(operation, main, operandScale);
			ASSERT_TRUE(scaling) << scaling.error().message();
			const auto converter = makeConverter(scaling->result, outScale);
			ASSERT_TRUE(converter) << converter.error().message();

			made_ = {};
			input({ .type = type, .c = 40, .h = 4, .w = 6 });
			add(op::Pooling{ .name = "max",
					 .input = "x",
					 .output = "a",
					 .kernel = { 3, 1 },
					 .padding = { 1, 1, 0, 0 } });
			op::Sdp both = sdp();
			both.input = "x";
			both.y = op::SdpUnit{ .alu = alu, .multiply = !alu, .operands = "a" };
			(alu ? both.y->aluConverter : both.y->mulConverter) = scaling->operand;
			both.converter = *converter;
			add(both);
			output("y");
			const DlaTask task = checked();
			const nvdla_sdp_op &y = task.operations.back().sdp.y_op;
			EXPECT_EQ((alu ? y.alu_cvt : y.mul_cvt).scale, scaling->operand.scale);
		}
	}
}

/* A pooling that is too wide for PDP's line buffer reads memory, and only such a one. */
TEST_F(SdpOperations, FeedWidePoolingsFromMemory)
{
	for (const uint32_t width : { 64U, 400U }) {
		made_ = {};
		input({ .type = DataType::Int16, .c = 16, .h = 4, .w = width });
		made_.graph.surface({ .name = "y", .place = Place::Stream });
		op::Sdp relu = sdp();
		relu.input = "x";
		relu.x1 = op::SdpUnit{ .activation = op::Activation::Relu };
		add(relu);
		add(op::Pooling{ .name = "pool", .input = "y", .output = "z", .kernel = { 2, 2 } });
		output("z");
		const DlaTask task = checked();
		const bool wide = width > 64;
		EXPECT_EQ(task.operations.back().pdp.split_num > 1, wide);
		EXPECT_EQ(task.surfaces.back().pdp.src_data.type,
			  wide ? NVDLA_MEM_MC : NVDLA_MEM_HW);
	}
}

} /* namespace nvdla::test */

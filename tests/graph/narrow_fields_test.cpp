/* SPDX-License-Identifier: MIT */
/*
 * Members of operations are wider than the core's fields. A number that the field cannot hold is
 * refused: if it were cut off, the core would compute with another number.
 */
#include <limits>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

/* A graph whose parameters are changed before it is assembled. */
struct Parameters {
	Surface surface{ .name = "x", .type = DataType::Int8, .c = 32, .h = 12, .w = 16 };
	op::Convolution convolution{ .name = "conv",
				     .input = "x",
				     .weights = "w",
				     .output = "s",
				     .padding = { 1, 1, 1, 1 } };
	op::Sdp sdp{ .name = "sdp",
		     .input = "s",
		     .output = "a",
		     .x1 = op::SdpUnit{ .alu = op::Alu::Sum, .multiply = true },
		     .x2 = op::SdpUnit{ .alu = op::Alu::Sum, .multiply = true },
		     .y = op::SdpUnit{ .alu = op::Alu::Sum,
				       .multiply = true,
				       .aluConverter = Converter(),
				       .mulConverter = Converter() } };
	op::Pooling pooling{ .name = "pool",
			     .input = "a",
			     .output = "p",
			     .kernel = { 2, 2 },
			     .stride = { 2, 2 } };
	op::Normalization normalization{ .name = "norm",
					 .input = "p",
					 .output = "n",
					 .lut = "lut" };
	op::Contract contract{ .name = "contract", .input = "n", .output = "y" };
};

template <typename Change> std::string refusalWith(const Change &change)
{
	constexpr uint32_t k = 32, c = 32, taps = 3;
	Parameters with;
	change(with);

	GraphWeights weights{ "w", k, c, taps, taps };
	weights.elements = Elements::of(std::vector<int8_t>(size_t{ k } * c * taps * taps));
	Graph graph;
	graph.input(with.surface);
	graph.weights(std::move(weights));
	graph.lut("lut", Lut());
	graph.add(with.convolution);
	graph.add(with.sdp);
	graph.add(with.pooling);
	graph.add(with.normalization);
	graph.add(with.contract);
	graph.output("y");
	return refusal(graph);
}

/*
 * Adds to a parameter what a field of 5, 6, 8, 16 or 31 bits would cut off, as long as the member
 * can hold the sum.
 */
template <typename Member> void expectNoneCutOff(const char *name, const Member &member)
{
	for (const int bits : { 5, 6, 8, 16, 31 }) {
		bool fits = false;
		const std::string message = refusalWith([&](Parameters &with) {
			auto &value = member(with);
			using Value = std::remove_reference_t<decltype(value)>;
			const int64_t sum = value + (int64_t{ 1 } << bits);

			fits = sum <= std::numeric_limits<Value>::max();
			if (fits)
				value = static_cast<Value>(sum);
		});
		if (fits) {
			EXPECT_NE(message, "") << name << " + 2^" << bits;
		}
	}
}

#define EXPECT_NONE_CUT_OFF(member) \
	expectNoneCutOff(#member, [](Parameters &with) -> auto & { return with.member; })

} /* namespace */

TEST(NarrowFields, HoldWhatTheyAreGiven)
{
	ASSERT_EQ(refusalWith([](Parameters &) {}), "");

	EXPECT_NONE_CUT_OFF(surface.n);
	EXPECT_NONE_CUT_OFF(surface.c);
	EXPECT_NONE_CUT_OFF(surface.h);
	EXPECT_NONE_CUT_OFF(surface.w);
	EXPECT_NONE_CUT_OFF(convolution.stride.x);
	EXPECT_NONE_CUT_OFF(convolution.stride.y);
	EXPECT_NONE_CUT_OFF(convolution.dilation.x);
	EXPECT_NONE_CUT_OFF(convolution.dilation.y);
	EXPECT_NONE_CUT_OFF(convolution.padding.left);
	EXPECT_NONE_CUT_OFF(convolution.padding.right);
	EXPECT_NONE_CUT_OFF(convolution.padding.top);
	EXPECT_NONE_CUT_OFF(convolution.padding.bottom);
	EXPECT_NONE_CUT_OFF(convolution.groups);
	EXPECT_NONE_CUT_OFF(convolution.postExtension);
	EXPECT_NONE_CUT_OFF(convolution.accumulatorShift);
	EXPECT_NONE_CUT_OFF(convolution.bands);
	EXPECT_NONE_CUT_OFF(sdp.x1->aluOperand);
	EXPECT_NONE_CUT_OFF(sdp.x1->mulOperand);
	EXPECT_NONE_CUT_OFF(sdp.x1->aluShift);
	EXPECT_NONE_CUT_OFF(sdp.x1->shift);
	EXPECT_NONE_CUT_OFF(sdp.x2->aluOperand);
	EXPECT_NONE_CUT_OFF(sdp.x2->mulOperand);
	EXPECT_NONE_CUT_OFF(sdp.x2->aluShift);
	EXPECT_NONE_CUT_OFF(sdp.x2->shift);
	EXPECT_NONE_CUT_OFF(sdp.y->aluShift);
	EXPECT_NONE_CUT_OFF(sdp.y->shift);
	EXPECT_NONE_CUT_OFF(sdp.y->aluConverter->shift);
	EXPECT_NONE_CUT_OFF(sdp.y->mulConverter->shift);
	EXPECT_NONE_CUT_OFF(sdp.converter.shift);
	EXPECT_NONE_CUT_OFF(pooling.kernel.x);
	EXPECT_NONE_CUT_OFF(pooling.kernel.y);
	EXPECT_NONE_CUT_OFF(pooling.stride.x);
	EXPECT_NONE_CUT_OFF(pooling.stride.y);
	EXPECT_NONE_CUT_OFF(pooling.padding.left);
	EXPECT_NONE_CUT_OFF(pooling.padding.right);
	EXPECT_NONE_CUT_OFF(pooling.padding.top);
	EXPECT_NONE_CUT_OFF(pooling.padding.bottom);
	EXPECT_NONE_CUT_OFF(pooling.padValue);
	EXPECT_NONE_CUT_OFF(pooling.parts);
	EXPECT_NONE_CUT_OFF(normalization.localSize);
	EXPECT_NONE_CUT_OFF(normalization.in.shift);
	EXPECT_NONE_CUT_OFF(normalization.out.shift);
	EXPECT_NONE_CUT_OFF(contract.stride.x);
	EXPECT_NONE_CUT_OFF(contract.stride.y);
}

} /* namespace nvdla::test */

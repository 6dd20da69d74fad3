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
		     .y = op::SdpUnit{ .alu = op::Alu::Sum, .multiply = true } };
	op::Pooling pooling{
		.name = "pool", .input = "a", .output = "p", .kernel = { 2, 2 }, .stride = { 2, 2 }
	};
	op::Normalization normalization{
		.name = "norm", .input = "p", .output = "n", .lut = "lut"
	};
	op::Contract contract{ .name = "contract", .input = "n", .output = "y" };
};

template<typename Change>
std::string refusalWith(const Change &change)
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
 * Adds to a parameter what a field of \a width bits, or a wider one, would cut off, as long as the
 * member can hold the sum.
 */
template<typename Member>
void expectNoneCutOff(const char *name, int width, const Member &member)
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
		if (fits && bits >= width) {
			EXPECT_NE(message, "") << name << " + 2^" << bits;
		}
	}
}

#define EXPECT_NONE_CUT_OFF(member, width)                                                         \
	expectNoneCutOff(                                                                          \
		#member, width, [](Parameters & with) -> auto & { return with.member; })

} /* namespace */

TEST(NarrowFields, HoldWhatTheyAreGiven)
{
	ASSERT_EQ(refusalWith([](Parameters &) {}), "");

	EXPECT_NONE_CUT_OFF(surface.n, 5);
	EXPECT_NONE_CUT_OFF(surface.c, 13);
	EXPECT_NONE_CUT_OFF(surface.h, 13);
	EXPECT_NONE_CUT_OFF(surface.w, 13);
	EXPECT_NONE_CUT_OFF(convolution.stride.x, 5);
	EXPECT_NONE_CUT_OFF(convolution.stride.y, 5);
	EXPECT_NONE_CUT_OFF(convolution.dilation.x, 5);
	EXPECT_NONE_CUT_OFF(convolution.dilation.y, 5);
	EXPECT_NONE_CUT_OFF(convolution.padding.left, 5);
	EXPECT_NONE_CUT_OFF(convolution.padding.right, 5);
	EXPECT_NONE_CUT_OFF(convolution.padding.top, 5);
	EXPECT_NONE_CUT_OFF(convolution.padding.bottom, 5);
	EXPECT_NONE_CUT_OFF(convolution.groups, 5);
	EXPECT_NONE_CUT_OFF(convolution.postExtension, 5);
	EXPECT_NONE_CUT_OFF(convolution.accumulatorShift, 5);
	EXPECT_NONE_CUT_OFF(convolution.bands, 5);
	EXPECT_NONE_CUT_OFF(sdp.x1->aluOperand, 16);
	EXPECT_NONE_CUT_OFF(sdp.x1->mulOperand, 16);
	EXPECT_NONE_CUT_OFF(sdp.x1->aluShift, 6);
	EXPECT_NONE_CUT_OFF(sdp.x2->aluOperand, 16);
	EXPECT_NONE_CUT_OFF(sdp.x2->mulOperand, 16);
	EXPECT_NONE_CUT_OFF(sdp.x2->aluShift, 6);
	EXPECT_NONE_CUT_OFF(sdp.y->aluShift, 5);
	EXPECT_NONE_CUT_OFF(sdp.converter.shift, 6);
	EXPECT_NONE_CUT_OFF(pooling.kernel.x, 5);
	EXPECT_NONE_CUT_OFF(pooling.kernel.y, 5);
	EXPECT_NONE_CUT_OFF(pooling.stride.x, 5);
	EXPECT_NONE_CUT_OFF(pooling.stride.y, 5);
	EXPECT_NONE_CUT_OFF(pooling.padding.left, 5);
	EXPECT_NONE_CUT_OFF(pooling.padding.right, 5);
	EXPECT_NONE_CUT_OFF(pooling.padding.top, 5);
	EXPECT_NONE_CUT_OFF(pooling.padding.bottom, 5);
	EXPECT_NONE_CUT_OFF(pooling.padValue, 9);
	EXPECT_NONE_CUT_OFF(pooling.parts, 5);
	EXPECT_NONE_CUT_OFF(normalization.localSize, 5);
	EXPECT_NONE_CUT_OFF(normalization.in.shift, 5);
	EXPECT_NONE_CUT_OFF(normalization.out.shift, 6);
	EXPECT_NONE_CUT_OFF(contract.stride.x, 5);
	EXPECT_NONE_CUT_OFF(contract.stride.y, 5);
}

/* Nor is a parameter ignored that the unit does not have, or that its operands do not need. */
TEST(NarrowFields, AreThoseOfTheUnit)
{
	const auto refused = [](auto change) {
		return refusalWith([&](Parameters &with) { change(with.sdp); });
	};

	EXPECT_NE(refused([](op::Sdp &sdp) { sdp.y->aluShift = 1; }).find("y.aluShift"),
		  std::string::npos);
	EXPECT_NE(refused([](op::Sdp &sdp) {
			  sdp.y->aluConverter = Converter();
		  }).find("y.converter"),
		  std::string::npos);
	EXPECT_NE(refused([](op::Sdp &sdp) {
			  sdp.y->mulConverter = Converter();
		  }).find("y.converter"),
		  std::string::npos);
	EXPECT_NE(refused([](op::Sdp &sdp) { sdp.x1->aluOperand = 32768; }).find("x1.aluOperand"),
		  std::string::npos);
	EXPECT_NE(refused([](op::Sdp &sdp) { sdp.x2->mulOperand = -32769; }).find("x2.mulOperand"),
		  std::string::npos);
}

} /* namespace nvdla::test */

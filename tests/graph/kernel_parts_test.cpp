/* SPDX-License-Identifier: MIT */
/*
 * Convolutions with a kernel group that exceeds the convolution buffer.
 */
#include <cmath>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t randomLayers = 100;

class KernelParts : public ExpansionTest
{
protected:
	/* A matrix product of 25088 inputs, as VGG's first one. */
	void product(DataType type, uint32_t kernels, uint32_t n = 1)
	{
		input({ .type = type, .c = 512, .h = 7, .w = 7, .n = n });
		weights(type, kernels, 512, 7, 7);
		add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
		op::Sdp bias = sdp();
		if (type == DataType::Half)
			bias.converter = {};
		if (n == 1) {
			operands(type, kernels, 1, 1);
			bias.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
		}
		add(bias);
		output("y");
	}

	void randomLayer();
	void randomShape();
	void randomSdp();
	void beside(DataType type, uint32_t channels);

	DataType type_ = DataType::Int8;
	uint32_t kernels_ = 0;
	uint32_t outH_ = 0;
	uint32_t outW_ = 0;
	op::Convolution conv_;
};

/* A kernel takes more than a group's share of the buffer, and leaves room for the data. */
void KernelParts::randomShape()
{
	const CoreGeometry &core = made_.options.core;
	const double buffer = static_cast<double>((core.bufferBanks - 1) * core.bankBytes()) /
			      static_cast<double>(elementBytes(type_));
	outH_ = dice_.chance(40) ? 1 : dice_.size(1, 4);
	outW_ = outH_ == 1 && dice_.chance(70) ? 1 : dice_.size(1, 4);
	const double least = 1.1 * buffer / core.groupKernels(type_);
	const double most = std::max(least, buffer / (outW_ + 1.4));
	const double kernel =
		least * std::pow(most / least, static_cast<double>(dice_.pick(0, 100)) / 100);
	const uint32_t r = dice_.size(1, 3), s = dice_.size(1, 3);
	const auto c = std::min(static_cast<uint32_t>(kernel) / (r * s) + 1, 8192U);
	GraphWeights weights{ "w", kernels_, c, r, s };

	conv_ = { .name = "conv", .input = "x", .weights = "w", .output = "s" };
	if (r > 1 && s > 1 && dice_.chance(30) && outH_ > 1 && outW_ > 1)
		conv_.padding = { 1, 0, 1, 1 };
	input({ .type = type_,
		.c = c,
		.h = outH_ - 1 + r - conv_.padding.top - conv_.padding.bottom,
		.w = outW_ - 1 + s - conv_.padding.left });
	weights.elements = dice_.elements(type_, size_t{ kernels_ } * c * r * s);
	weights.compressed = core.has(Capability::Compression) && dice_.chance(20);
	if (weights.compressed)
		std::fill_n(weights.elements.bytes.begin(), weights.elements.bytes.size() / 2,
			    std::byte{ 0 });
	made_.constants.weights["w"] = weights;
	made_.graph.weights(std::move(weights));
}

void KernelParts::randomSdp()
{
	op::Sdp made{ .name = "sdp", .input = "s", .output = "y" };
	const bool perElement = dice_.chance(30);

	if (type_ != DataType::Half) {
		const bool is8Bits = type_ == DataType::Int8;
		made.converter = { 0, 1, static_cast<uint8_t>(is8Bits ? 14 : 22) };
		if (made_.options.core.has(DataType::Int16) && is8Bits && dice_.chance(40))
			made.type = DataType::Int16;
	}
	made.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" };
	if (dice_.chance(50))
		made.x1->activation = op::Activation::Relu;
	if (dice_.chance(30)) {
		made_.inputs["z"] = dice_.cube(type_, 1, kernels_, outH_, outW_);
		made_.inputNames.push_back("z");
		made_.graph.input(
			{ .name = "z", .type = type_, .c = kernels_, .h = outH_, .w = outW_ });
		made.x2 = op::SdpUnit{ .alu = op::Alu::Max, .operands = "z" };
	}
	operands(type_, kernels_, perElement ? outH_ : 1, perElement ? outW_ : 1);
	add(made);
}

void KernelParts::randomLayer()
{
	const CoreGeometry &core = made_.options.core;

	kernels_ = dice_.size(core.groupKernels(type_), 3 * core.groupKernels(type_));
	randomShape();
	if (outH_ > 2 && outW_ > 1 && made_.inputs.at("x").w > 1 && dice_.chance(30))
		conv_.bands = outH_;
	add(conv_);
	randomSdp();
	if (dice_.chance(70)) {
		output("y");
		return;
	}
	const DataType type =
		std::get<op::Sdp>(made_.graph.operations().back()).type == DataType::Unknown
			? type_
			: std::get<op::Sdp>(made_.graph.operations().back()).type;
	beside(type, dice_.chance(50) ? 32 : dice_.size(1, 40));
}

/* The output is a part of a larger surface, behind other channels. */
void KernelParts::beside(DataType type, uint32_t channels)
{
	made_.inputs["o"] = dice_.cube(type, 1, channels, outH_, outW_);
	made_.inputNames.push_back("o");
	made_.graph.input({ .name = "o", .type = type, .c = channels, .h = outH_, .w = outW_ });
	made_.graph.surface(
		{ .name = "both", .type = type, .c = channels + kernels_, .h = outH_, .w = outW_ });
	made_.graph.surface({ .name = "first", .within = "both" });
	made_.graph.surface({ .name = "y", .within = "both", .atChannel = channels });
	made_.joined["both"] = { "first", "y" };
	add(op::Sdp{ .name = "copy", .input = "o", .output = "first" });
	output("both");
}

} /* namespace */

TEST_F(KernelParts, AMatrixProductIsPackedAtOnce)
{
	product(DataType::Half, 40);
	const auto layers = convolutions(checked());
	/* Five parts of eight; one packs 32 channels, another the last eight. */
	ASSERT_EQ(layers.size(), 7U);
	EXPECT_EQ(layers[0].weight_bank, 13);
	EXPECT_EQ(layers[3].data_reuse, 1);
	EXPECT_EQ(layers[4].kernel_channel_csc, 32) << "two slots";
	EXPECT_EQ(layers[4].input_height_csc, 2) << "atoms";
}

TEST_F(KernelParts, TypesHaveGroupsOfTheirOwn)
{
	product(DataType::Int8, 37);
	EXPECT_EQ(convolutions(checked()).size(), 5U);
	made_ = {};
	product(DataType::Int16, 20);
	EXPECT_EQ(convolutions(checked()).size(), 5U);
}

TEST_F(KernelParts, CubesOfABatchFollowOneAnother)
{
	product(DataType::Int8, 33, 2);
	EXPECT_EQ(convolutions(checked()).size(), 10U);
}

TEST_F(KernelParts, OfRandomLayersEqualTheReference)
{
	for (uint32_t i = 0; i < randomLayers; i++) {
		const auto cores = coreVariants();
		dice_ = Dice(i + 1);
		made_ = {};
		made_.options.core = cores[i % cores.size()];
		made_.options.core.bufferBanks = dice_.size(4, 7);
		do
			type_ = std::array{ DataType::Int8, DataType::Int16,
					    DataType::Half }[dice_.size(0, 2)];
		while (!made_.options.core.has(type_));
		SCOPED_TRACE(fmt::format("layer {} on {}", i, made_.options.core.name));
		randomLayer();
		EXPECT_GT(convolutions(checked()).size(), 2U);
	}
}

} /* namespace nvdla::test */

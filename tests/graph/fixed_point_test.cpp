/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point formats in graphs: results on the device, by the document's rules on real numbers,
 * and what assembly refuses.
 */
#include <cmath>

#include <fmt/core.h>

#include <nvdla/fixed_point.h>
#include <nvdla/network.h>

#include "random_graph.h"
#include "refusal.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t numChannels = 32, numKernels = 16, imageSide = 5;

std::vector<int16_t> valuesOf(Dice &dice, size_t count, int most)
{
	std::vector<int16_t> values(count);

	for (int16_t &value : values)
		value = static_cast<int16_t>(dice.pick(-most, most));
	return values;
}

Elements elementsOf(DataType type, const std::vector<int16_t> &values)
{
	if (type == DataType::Int16)
		return Elements::of(values);
	return Elements::of(std::vector<int8_t>(values.begin(), values.end()));
}

double realOf(int64_t value, uint32_t bits)
{
	return std::ldexp(static_cast<double>(value), -static_cast<int>(bits));
}

std::vector<float> realsOf(const std::vector<int16_t> &values, uint32_t bits)
{
	std::vector<float> reals;
	for (const int16_t value : values)
		reals.push_back(static_cast<float>(realOf(value, bits)));
	return reals;
}

/* Layers of one type, with weights that fill \a weightBits. */
struct Layer {
	DataType type = DataType::Int8;
	int weightBits = 7;
	uint32_t input = 7, weights = 7, bias = 7, output = 7, sumShift = 0;

	Graph graph(const std::vector<int16_t> &kernel, const std::vector<int16_t> &biases) const
	{
		const uint32_t sum = input + weights - sumShift;
		Graph graph;

		graph.input({ .name = "x",
			      .type = type,
			      .c = numChannels,
			      .h = imageSide,
			      .w = imageSide,
			      .fractionBits = input });
		graph.weights({ .name = "w",
				.k = numKernels,
				.c = numChannels,
				.r = 1,
				.s = 1,
				.elements = elementsOf(type, kernel),
				.fractionBits = weights });
		graph.operands({ .name = "b",
				 .c = numKernels,
				 .alu = Elements::of(biases),
				 .aluFractionBits = bias });
		graph.add(op::Convolution{ .name = "conv",
					   .input = "x",
					   .weights = "w",
					   .output = "sums",
					   .accumulatorShift = static_cast<uint8_t>(sumShift) });
		op::Sdp sdp{ .name = "add bias", .input = "sums", .output = "y" };
		sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "b" };
		sdp.x1->aluShift = static_cast<uint8_t>(sum - bias);
		sdp.converter.shift = static_cast<uint8_t>(sum - output);
		graph.add(sdp);
		graph.output("y");
		return graph;
	}
};

std::vector<float> resultsOf(const Graph &graph, const std::vector<std::vector<float>> &inputs)
{
	const auto loadable = graph.assemble();
	EXPECT_TRUE(loadable) << loadable.error().message();
	auto network = Network::load(Device::open("embedded").value(), loadable.value());
	EXPECT_TRUE(network) << network.error().message();
	for (size_t i = 0; i < inputs.size(); i++)
		EXPECT_TRUE(network->setInputFloat(i, inputs[i]));
	EXPECT_TRUE(network->run());
	return network->outputFloat(0).value();
}

/* A real number in a format, rounded and saturated as the converter does. */
float inFormat(double real, DataType type, uint32_t bits)
{
	const FixedFormat format{ type, bits };
	return static_cast<float>(fromFixed(toFixed(real, format), format));
}

} /* namespace */

/* "Bias for MAC-based Kernels" and "Configurability of Output Tensors": fx8, fx16, fx16 x fx8. */
TEST(FixedPoint, SumsOfProductsWithBias)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		SCOPED_TRACE(fmt::format("seed {}", seed));
		Dice dice(seed);
		Layer layer;
		layer.type = dice.size(0, 2) ? DataType::Int16 : DataType::Int8;
		layer.weightBits = layer.type == DataType::Int8 || dice.size(0, 1) ? 7 : 15;
		const bool isWide = layer.weightBits == 15;
		layer.sumShift = isWide ? 6 : 0;
		layer.input = dice.size(3, 10);
		layer.weights = dice.size(5, 12);
		const uint32_t sum = layer.input + layer.weights - layer.sumShift;
		layer.bias = dice.size(0, std::min(sum, 5U));
		layer.output = dice.size(0, sum);

		const int most = (1 << layer.weightBits) - 1;
		const auto kernel = valuesOf(dice, numKernels * numChannels, isWide ? 3000 : most);
		const auto biases = valuesOf(dice, numKernels, 100);
		const auto x = valuesOf(dice, numChannels * imageSide * imageSide,
					layer.type == DataType::Int8 ? 127 : 32767);
		const auto y = resultsOf(layer.graph(kernel, biases), { realsOf(x, layer.input) });
		ASSERT_EQ(y.size(), numKernels * imageSide * imageSide);
		for (size_t i = 0; i < y.size(); i++) {
			const size_t k = i / (imageSide * imageSide),
				     at = i % (imageSide * imageSide);
			int64_t products = 0;
			for (size_t c = 0; c < numChannels; c++)
				products += int64_t{ x[c * imageSide * imageSide + at] } *
					    kernel[k * numChannels + c];
			/* CACC drops bits with rounding. */
			const int64_t half = layer.sumShift ? 1 << (layer.sumShift - 1) : 0;
			const int64_t kept = products < 0 ? -((-products + half) >> layer.sumShift)
							  : (products + half) >> layer.sumShift;
			const double real = realOf(kept, sum) + realOf(biases[k], layer.bias);
			ASSERT_EQ(y[i], inFormat(real, layer.type, layer.output)) << i;
		}
	}
}

/* "Addition and Subtraction": Y's converter brings the other term to the sum's format. */
TEST(FixedPoint, SumOfTwoSurfaces)
{
	Graph graph;
	for (const auto &[name, bits] : { std::pair{ "a", 6U }, std::pair{ "b", 4U } })
		graph.input({ .name = name,
			      .type = DataType::Int8,
			      .c = numChannels,
			      .h = 1,
			      .w = 1,
			      .fractionBits = bits });
	op::Sdp sdp{ .name = "add", .input = "a", .output = "sum" };
	sdp.y = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "b" };
	Graph refused = graph;
	refused.add(sdp);
	refused.output("sum");
	expectRefusal(refused, { "operation 'add'", "y.aluConverter",
				 "'b' is Q.4, the sum Q.6: 2 bits to the left bring it there" });

	sdp.y->aluConverter = Converter{ .scale = 4 };
	sdp.converter.shift = 1;
	graph.add(sdp);
	graph.output("sum");
	Dice dice(1);
	const auto a = valuesOf(dice, numChannels, 127), b = valuesOf(dice, numChannels, 127);
	const auto sum = resultsOf(graph, { realsOf(a, 6), realsOf(b, 4) });
	for (size_t i = 0; i < numChannels; i++)
		EXPECT_EQ(sum[i], inFormat(realOf(a[i], 6) + realOf(b[i], 4), DataType::Int8, 5));
}

/* "Multiplication": fraction bits add up; the result is Q.9 of Q.6 and Q.3, and Q.5 behind >> 4. */
TEST(FixedPoint, ProductOfTwoSurfaces)
{
	Graph graph;
	for (const auto &[name, bits] : { std::pair{ "a", 6U }, std::pair{ "b", 3U } })
		graph.input({ .name = name,
			      .type = DataType::Int8,
			      .c = numChannels,
			      .h = 1,
			      .w = 1,
			      .fractionBits = bits });
	op::Sdp sdp{ .name = "multiply", .input = "a", .output = "product" };
	sdp.x1 = op::SdpUnit{ .multiply = true, .operands = "b", .shift = 4 };
	graph.add(sdp);
	graph.output("product");
	Dice dice(2);
	const auto a = valuesOf(dice, numChannels, 127), b = valuesOf(dice, numChannels, 127);
	const auto product = resultsOf(graph, { realsOf(a, 6), realsOf(b, 3) });
	for (size_t i = 0; i < numChannels; i++)
		EXPECT_EQ(product[i],
			  inFormat(realOf(a[i], 6) * realOf(b[i], 3), DataType::Int8, 5));

	graph.surface({ .name = "product", .fractionBits = 6 });
	expectRefusal(graph, { "'product' is Q.6, what is written is Q.5" });
}

/* "Influence of Accumulator Bit Depth": the sum of the document's example, and what makes room. */
TEST(FixedPoint, SumsHaveRoom)
{
	Layer layer{ .type = DataType::Int16, .weightBits = 15, .input = 11, .weights = 15 };
	const std::vector<int16_t> kernel(numKernels * numChannels, INT16_MAX);
	const std::vector<int16_t> biases(numKernels, 4);

	expectRefusal(layer.graph(kernel, biases),
		      { "operation 'conv'", "accumulatorShift",
			"sums need 36 bits, 32 are there; a shift of 4 makes room" });
	layer.sumShift = 4;
	expectRefusal(layer.graph(kernel, biases),
		      { "operation 'add bias'", "the sum with 'b' needs 33 bits" });
	layer.sumShift = 5;
	EXPECT_EQ(refusal(layer.graph(kernel, biases)), "");
}

TEST(FixedPoint, BiasIsBroughtToTheSumsFormat)
{
	const std::vector<int16_t> kernel(numKernels * numChannels, 1), biases(numKernels, 1);
	Layer layer{ .input = 7, .weights = 3, .bias = 4, .output = 4 };

	EXPECT_EQ(refusal(layer.graph(kernel, biases)), "");
	/* The document's example: at most 7 + 3 bits. */
	Graph fine;
	fine.input({ .name = "x",
		     .type = DataType::Int8,
		     .c = numChannels,
		     .h = 1,
		     .w = 1,
		     .fractionBits = 10 });
	fine.operands({ .name = "b",
			.c = numChannels,
			.alu = Elements::of(std::vector<int16_t>(numChannels, 1)),
			.aluFractionBits = 11 });
	op::Sdp sdp{ .name = "add", .input = "x", .output = "y" };
	sdp.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "b" };
	fine.add(sdp);
	fine.output("y");
	expectRefusal(fine, { "'b' is Q.11, which is finer than the sum's Q.10" });
}

/* Converters that are no powers of two, scales of CPU steps, and parts of one surface. */
TEST(FixedPoint, FormatsAreHeldAgainstScalesAndEachOther)
{
	auto graphOf = [](const op::Any &operation, const Surface &written) {
		Graph graph;
		graph.input({ .name = "x",
			      .type = DataType::Int8,
			      .c = numChannels,
			      .h = 2,
			      .w = 1,
			      .fractionBits = 6 });
		graph.surface(written);
		graph.add(operation);
		graph.output("y");
		return graph;
	};
	const Surface q5{ .name = "y", .fractionBits = 5 };
	op::Sdp sdp{ .name = "scale", .input = "x", .output = "y" };

	sdp.converter = { .scale = 3, .shift = 2 };
	expectRefusal(graphOf(sdp, q5), { "operation 'scale', converter", "no power of two" });
	EXPECT_EQ(refusal(graphOf(sdp, { .name = "y" })), "");
	sdp.converter = { .scale = 2, .shift = 2 };
	EXPECT_EQ(refusal(graphOf(sdp, q5)), "");
	sdp.converter = {};
	sdp.x1 = op::SdpUnit{ .shift = 7 };
	expectRefusal(graphOf(sdp, { .name = "y" }), { "x1.shift", "shifts Q.6 by 7" });

	op::Softmax softmax{ .name = "softmax", .input = "x", .output = "y" };
	softmax.outScale = 1.0f / 32;
	expectRefusal(graphOf(softmax, q5), { "inScale", "is 1, 'x' is Q.6" });
	softmax.inScale = 1.0f / 64;
	EXPECT_EQ(refusal(graphOf(softmax, q5)), "");
	softmax.outScale = 1.0f;
	expectRefusal(graphOf(softmax, q5), { "outScale", "is 1, 'y' is Q.5" });

	const Surface part{
		.name = "y", .c = numChannels, .h = 1, .w = 1, .within = "x", .fractionBits = 5
	};
	expectRefusal(graphOf(sdp, part), { "'y' is Q.6, what is written is Q.5" });
	expectRefusal(
		graphOf(sdp,
			{ .name = "y", .quantization = Quantization{ 0.5 }, .fractionBits = 5 }),
		{ "surface 'y'", "has a quantization as well" });
}

/* A format beside numbers without one says nothing about their sum. */
TEST(FixedPoint, AllOperandsHaveAFormat)
{
	const std::vector<int16_t> kernel(numKernels * numChannels, 1), biases(numKernels, 1);
	Graph graph;

	graph.input({ .name = "x",
		      .type = DataType::Int8,
		      .c = numChannels,
		      .h = 1,
		      .w = 1,
		      .fractionBits = 7 });
	graph.weights({ .name = "w",
			.k = numKernels,
			.c = numChannels,
			.r = 1,
			.s = 1,
			.elements = elementsOf(DataType::Int8, kernel) });
	graph.add(
		op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "sums" });
	graph.add(op::Sdp{ .name = "sdp", .input = "sums", .output = "y" });
	graph.output("y");
	expectRefusal(graph, { "operation 'conv'", "'x' and 'w' do not both have fractionBits" });
}

} /* namespace nvdla::test */

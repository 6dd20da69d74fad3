/* SPDX-License-Identifier: MIT */
/*
 * Layers of real numbers on the embedded device, against plain loops over doubles.
 */
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <nvdla/real_layer.h>

#include "random_graph.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t inSide = 7; /* of the input; the output of stride 2 with padding 1 has 4 */
constexpr uint32_t outSide = 4;

class RealLayers : public testing::Test
{
protected:
	RealLayer layer(DataType type, uint32_t k, uint32_t c, uint32_t groups)
	{
		RealLayer made{ .convolution = { .name = "layer",
						 .input = "x",
						 .output = "y",
						 .stride = { 2, 2 },
						 .padding = { 1, 1, 1, 1 },
						 .groups = groups },
				.k = k,
				.c = c,
				.r = 3,
				.s = 3 };
		const double steps = type == DataType::Int8 ? 255 : 65535;
		made.type = type;
		made.input = { 2.0 / steps, type == DataType::Int8 ? -30 : 0 };
		made.output = { 8.0 / steps, type == DataType::Int8 ? -50 : 0 };
		for (uint32_t i = 0; i < k * c * 9; i++) {
			/* Kernels of different sizes. */
			const double size = std::ldexp(1, -static_cast<int>(i / (c * 9) % 5));
			made.weights.push_back(
				static_cast<float>(dice_.pick(-1000, 1000) * size / 2000));
		}
		for (uint32_t i = 0; i < k; i++)
			made.bias.push_back(static_cast<float>(dice_.pick(-1000, 1000)) / 1000);
		return made;
	}

	/* One element, of the input's real numbers. */
	static double exact(const RealLayer &layer, const Cube &in, uint32_t k, uint32_t y,
			    uint32_t x)
	{
		const uint32_t first = k / (layer.k / layer.convolution.groups) * layer.c;
		double sum = layer.bias[k];
		for (uint32_t i = 0; i < layer.c * 9; i++) {
			const uint32_t line = y * 2 + i / 3 % 3 - 1, column = x * 2 + i % 3 - 1;
			if (line < inSide && column < inSide)
				sum += layer.input.real(in.at(0, first + i / 9, line, column)) *
				       layer.weights[size_t{ k } * layer.c * 9 + i];
		}
		const IntegerLimits limits = integerLimits(layer.type);
		const double lowest = layer.output.real(static_cast<double>(limits.lowest));
		const double highest = layer.output.real(static_cast<double>(limits.highest));
		const double low = layer.lowest ? std::max(0.0, lowest) : lowest;
		return std::clamp(sum, low,
				  std::min<double>(layer.highest.value_or(1e9F), highest));
	}

	/* How far off the layer's results are, and how far they may be. */
	void check(const RealLayer &layer)
	{
		const uint32_t c = layer.c * layer.convolution.groups;
		const Cube in = dice_.cube(layer.type, 1, c, inSide, inSide);
		Graph graph;
		graph.input({ .name = "x", .type = layer.type, .c = c, .h = inSide, .w = inSide });
		const auto rounding = addLayer(graph, layer);
		ASSERT_TRUE(rounding) << rounding.error().message();
		graph.output("y");
		auto loadable = graph.assemble();
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto device = Device::open(Device::embeddedPath);
		ASSERT_TRUE(device) << device.error().message();
		auto network = Network::load(*device, *loadable);
		ASSERT_TRUE(network) << network.error().message();
		const std::vector<float> elements(in.values.begin(), in.values.end());
		ASSERT_TRUE(network->setInputElements(0, elementsFromFloat(layer.type, elements)));
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		auto bytes = network->outputElements(0);
		ASSERT_TRUE(bytes) << bytes.error().message();
		const std::vector<float> got = elementsToFloat(layer.type, *bytes);
		ASSERT_EQ(got.size(), size_t{ layer.k } * outSide * outSide);

		double most = 0;
		for (uint32_t i = 0; i < got.size(); i++) {
			const double wanted = exact(layer, in, i / outSide / outSide,
						    i / outSide % outSide, i % outSide);
			most = std::max(most, std::fabs(layer.output.real(got[i]) - wanted));
		}
		EXPECT_LE(most, rounding->most());
		/* It says something: every part is there, and none is of no use. */
		EXPECT_GE(most, rounding->output / 4);
		EXPECT_LE(rounding->most(), layer.type == DataType::Int8 ? 0.5 : 0.01);
		EXPECT_GT(rounding->weights, 0);
		EXPECT_GT(rounding->multipliers, 0);
	}

	Dice dice_{ 7 };
};

} /* namespace */

TEST_F(RealLayers, AreWithinWhatTheySay)
{
	check(layer(DataType::Int8, 20, 5, 1));
}

TEST_F(RealLayers, Of16BitsCutSumsOff)
{
	const RealLayer made = layer(DataType::Int16, 20, 5, 1);
	Graph graph;

	check(made);
	const auto rounding = addLayer(graph, made);
	ASSERT_TRUE(rounding);
	EXPECT_GT(rounding->accumulator, 0);
}

TEST_F(RealLayers, MayBeDepthwise)
{
	check(layer(DataType::Int8, 40, 1, 40));
}

TEST_F(RealLayers, HaveAnActivation)
{
	RealLayer made = layer(DataType::Int8, 20, 5, 1);

	made.lowest = 0;
	check(made);
	made.highest = 0.7F;
	check(made);
}

/* Whose scale says nothing of the others. */
TEST_F(RealLayers, MayHaveAKernelOfZeros)
{
	RealLayer made = layer(DataType::Int8, 20, 5, 1);

	std::fill_n(made.weights.begin() + 45, 45, 0.0F);
	check(made);
}

TEST_F(RealLayers, AreRefused)
{
	Graph graph;
	auto refusal = [&](auto change) {
		RealLayer made = layer(DataType::Int8, 4, 2, 1);
		change(made);
		const auto added = addLayer(graph, made);
		return added ? std::string() : added.error().message();
	};
	auto expect = [&](const char *words, auto change) {
		const std::string message = refusal(change);
		EXPECT_NE(message.find(words), std::string::npos) << message;
	};

	expect("Elements::half()", [](RealLayer &made) { made.type = DataType::Half; });
	expect("winograd: transforms", [](RealLayer &made) { made.convolution.winograd = true; });
	expect("are 72 for 4 x 3 x 3 x 3", [](RealLayer &made) { made.c = 3; });
	expect("has 3 numbers for 4 kernels", [](RealLayer &made) { made.bias.pop_back(); });
	expect("is -1; 0 is possible", [](RealLayer &made) { made.lowest = -1.0F; });
	expect("is 0; a number above 0", [](RealLayer &made) { made.highest = 0.0F; });
	expect("no number",
	       [](RealLayer &made) { made.weights[3] = std::numeric_limits<float>::quiet_NaN(); });
	expect("scale is 0", [](RealLayer &made) { made.output.scale = 0; });
	EXPECT_TRUE(graph.operations().empty());
}

} /* namespace nvdla::test */

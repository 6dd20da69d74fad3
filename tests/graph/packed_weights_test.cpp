/* SPDX-License-Identifier: MIT */
/*
 * Convolutions whose weights a step of the CPU packs, against those with constant weights.
 */
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>

#include "refusal.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t packedChannels = 70, inputColumns = 9, kernelLines = 5, kernelColumns = 8;
constexpr uint32_t packedKernels = kernelLines * kernelColumns; /* more than a group */

/* Small numbers in every type. */
Elements numbersOf(DataType type, size_t count)
{
	std::vector<float> numbers;

	for (size_t i = 0; i < count; i++)
		numbers.push_back(static_cast<float>(i * 7 % 5) - 2);
	return { type, elementsFromFloat(type, numbers) };
}

/* Elements in the order H, W, C as C, H, W. */
Elements channelsFirst(const Elements &elements, uint32_t count)
{
	const size_t bytes = elementBytes(elements.type), pixels = elements.count() / count;
	Elements turned{ elements.type, std::vector<std::byte>(elements.bytes.size()) };

	for (size_t i = 0; i < elements.count(); i++)
		std::copy_n(&elements.bytes[i * bytes], bytes,
			    &turned.bytes[(i % count * pixels + i / count) * bytes]);
	return turned;
}

/* x times kernels, which are constant if \a packs says nothing of them. */
Graph convolutionOf(DataType type, const op::PackWeights *packs)
{
	Graph graph;
	const uint32_t lines = packs ? packs->lines : 1;
	GraphWeights weights{ .name = "kernels",
			      .k = packedKernels,
			      .c = packedChannels,
			      .r = lines,
			      .s = 1,
			      .elements = { type, {} } };

	graph.input({ .name = "x", .type = type, .c = packedChannels, .h = 1, .w = inputColumns });
	if (packs) {
		weights.packed = "packed";
		graph.input({ .name = "w",
			      .type = type,
			      .c = packs->ofChannels ? packedKernels : packedChannels,
			      .h = packs->ofChannels ? 1 : kernelLines,
			      .w = packs->ofChannels ? packedChannels : kernelColumns });
		graph.add(*packs);
	} else {
		weights.elements = numbersOf(type, size_t{ packedKernels } * packedChannels);
	}
	graph.weights(std::move(weights));
	graph.add(op::Convolution{ .name = "conv",
				   .input = "x",
				   .weights = "kernels",
				   .output = "sums",
				   .padding = { .bottom = lines - 1 },
				   .padValue = 0 });
	graph.add(op::Sdp{ .name = "write", .input = "sums", .output = "y" });
	graph.output("y");
	return graph;
}

std::vector<std::byte> run(const Graph &graph, const CoreGeometry &core,
			   const std::vector<std::vector<std::byte>> &inputs)
{
	auto loadable = graph.assemble({ .strategy = Strategy{}, .core = core });
	auto device = Device::open(fmt::format("{}:{}", Device::embeddedPath, core.name));
	if (!loadable || !device) {
		ADD_FAILURE() << (loadable ? device.error() : loadable.error()).message();
		return {};
	}
	auto network = Network::load(*device, *loadable);
	if (!network) {
		ADD_FAILURE() << network.error().message();
		return {};
	}
	std::vector<std::byte> got;
	/* The weights of an earlier run do not stay. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < inputs.size(); i++) {
			std::vector<std::byte> elements = inputs[i];
			if (round == 0 && i > 0)
				std::ranges::fill(elements, std::byte{ 1 });
			EXPECT_TRUE(network->setInputElements(i, elements));
		}
		EXPECT_TRUE(network->run());
		auto made = network->outputElements(0);
		EXPECT_TRUE(made);
		got = made ? *made : got;
	}
	return got;
}

op::PackWeights packing()
{
	return { .name = "pack", .input = "w", .output = "packed" };
}

} /* namespace */

TEST(PackedWeights, AreThoseOfAConstant)
{
	for (const CoreGeometry &core : coreVariants()) {
		for (const DataType type : { DataType::Int8, DataType::Int16, DataType::Half }) {
			SCOPED_TRACE(fmt::format("{} {}", core.name, dataTypeName(type)));
			if (!core.has(type))
				continue;
			const auto x = numbersOf(type, packedChannels * inputColumns).bytes;
			const Elements weights =
				numbersOf(type, size_t{ packedKernels } * packedChannels);
			const auto wanted = run(convolutionOf(type, nullptr), core, { x });
			/* Pixels are kernels: plain weights count channels fastest. */
			op::PackWeights packs = packing();
			const auto ofPixels = channelsFirst(weights, packedChannels).bytes;
			EXPECT_EQ(run(convolutionOf(type, &packs), core, { x, ofPixels }), wanted);
			packs.lines = 2; /* the second one meets padding of zeros */
			EXPECT_EQ(run(convolutionOf(type, &packs), core, { x, ofPixels }), wanted);
			packs.ofChannels = true;
			EXPECT_EQ(run(convolutionOf(type, &packs), core, { x, weights.bytes }),
				  wanted);
		}
	}
}

TEST(PackedWeights, FitTheConvolution)
{
	const op::PackWeights packs = packing();
	Graph graph = convolutionOf(DataType::Int8, &packs);
	graph.weights({ .name = "more",
			.k = 2 * packedKernels,
			.c = packedChannels,
			.r = 1,
			.s = 1,
			.elements = { DataType::Int8, {} },
			.packed = "packed" });
	graph.add(op::Convolution{
		.name = "larger", .input = "x", .weights = "more", .output = "too large" });
	graph.add(op::Sdp{ .name = "other", .input = "too large", .output = "z" });
	expectRefusal(graph, { "operation 'larger'", "'packed' are not 5632 bytes of int8" });

	op::PackWeights odd = packing();
	odd.lines = 33;
	expectRefusal(convolutionOf(DataType::Int8, &odd), { "operation 'pack'", "1 to 32" });
	odd = packing();
	odd.zero = 3;
	expectRefusal(convolutionOf(DataType::Half, &odd), { "operation 'pack'", "zero", "FP16" });
	odd = packing();
	odd.input = "nothing";
	expectRefusal(convolutionOf(DataType::Int8, &odd), { "operation 'pack'", "'nothing'" });
}

} /* namespace nvdla::test */

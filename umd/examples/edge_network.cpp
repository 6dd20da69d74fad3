/* SPDX-License-Identifier: MIT */
#include "edge_network.h"

#include <vector>

#include <fmt/core.h>
#include <nvdla/graph.h>
#include <nvdla/lut.h>

#include "edge_filters.h"

namespace nvdla::examples
{

namespace
{

constexpr uint32_t pixelChannels = 4; /* channels of a pixel in the format A8B8G8R8 */
constexpr uint32_t kernelSide = 3;
constexpr uint32_t poolSide = 2;

/* Subtracted from unsigned pixels, because the convolution computes with signed numbers. */
constexpr int32_t midGrey = 128;
/* A result of a filter below this threshold counts as no edge, which hides grain and soft
 * gradients. The largest result, for black beside white, is 16 * 255. */
constexpr int16_t threshold = 256;
/* Right shift that turns a filter's result into a strength of 0 to 255, and number of these
 * strengths. The table of the tone curve has an entry for each strength. */
constexpr uint8_t strengthShift = 4;
constexpr double strengths = 256;

/* Returns the weights: for each direction, a compass filter on the luminance. */
Elements filters()
{
	std::vector<int8_t> weights;

	for (uint32_t direction = 0; direction < edgeDirections; direction++) {
		for (uint32_t channel = 0; channel < pixelChannels; channel++) {
			for (uint32_t line = 0; line < kernelSide; line++) {
				for (uint32_t pixel = 0; pixel < kernelSide; pixel++)
					weights.push_back(static_cast<int8_t>(
						compassFilter(direction, line, pixel) *
						luminance[channel]));
			}
		}
	}
	return Elements::of(weights);
}

Graph edgeGraph(const EdgeNetworkSize &size, const Lut &tone)
{
	Graph graph;

	graph.input({ .name = "picture",
		      .h = size.height,
		      .w = size.width,
		      .format = PixelFormat::A8B8G8R8 });
	graph.weights(
		{ "filters", edgeDirections, pixelChannels, kernelSide, kernelSide, filters() });
	graph.operands({ .name = "threshold",
			 .c = edgeDirections,
			 .alu = Elements::of(std::vector<int16_t>(edgeDirections, -threshold)) });
	graph.lut("tone", tone);

	graph.add(op::Convolution{
		.name = "filter",
		.input = "picture",
		.weights = "filters",
		.output = "gradients",
		.pixels = { .signedPixels = false, .converter = Converter{ .offset = midGrey } } });
	graph.add(op::Sdp{ .name = "rise",
			   .input = "gradients",
			   .output = "toned",
			   .x1 = op::SdpUnit{ .alu = op::Alu::Sum,
					      .activation = op::Activation::Relu,
					      .operands = "threshold",
					      .shift = strengthShift },
			   .y = op::SdpUnit{ .activation = op::Activation::LookUp },
			   .lut = "tone" });
	graph.surface({ .name = "toned", .place = Place::Stream });
	graph.add(op::Pooling{ .name = "strongest",
			       .input = "toned",
			       .output = "edges",
			       .kernel = { poolSide, poolSide },
			       .stride = { poolSide, poolSide } });
	graph.output("edges");
	return graph;
}

} /* namespace */

Result<Loadable> edgeNetwork(const EdgeNetworkSize &size, const CoreGeometry &core)
{
	constexpr uint32_t smallest = 16;
	/* The buffer of PDP, the pooling engine, holds a line of 128 INT8 results, half as wide as
	 * the picture. PDP cannot split lines that come directly from another engine. */
	constexpr uint32_t largest = 256;

	for (uint32_t side : { size.width, size.height }) {
		if (side < smallest || side > largest || side % poolSide)
			return fail(ErrorCode::InvalidArgument, "make example network", "size",
				    fmt::format("{} x {}: width and height must be even, {} to {}",
						size.width, size.height, smallest, largest));
	}
	if (!core.has(Capability::SdpY))
		return fail(ErrorCode::Unsupported, "make example network", core.name,
			    "has no look-up tables, which the network needs; use a device with "
			    "another core, such as embedded");
	/*
	 * The core takes an input at the start of a table for one below the table, so the table
	 * starts at -1, one before the weakest strength.
	 */
	auto tone = makeLut({ .type = DataType::Int8,
			      .function = toneCurve,
			      .low = -1,
			      .high = strengths - 1 });
	if (!tone)
		return forward(tone);
	return edgeGraph(size, tone->lut).assemble({ .core = core });
}

} /* namespace nvdla::examples */

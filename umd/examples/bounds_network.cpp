/* SPDX-License-Identifier: MIT */
#include "bounds_network.h"

#include <string>
#include <vector>

#include <nvdla/graph.h>

namespace nvdla::examples
{

namespace
{

constexpr uint32_t pixels = 112;

struct Layer {
	std::string name;
	std::string input;
	uint32_t channels; /* number of the input's channels */
	uint32_t kernels;
	uint32_t side; /* number of lines, and of columns, of a kernel */
	uint32_t stride = 1;
	uint32_t padding = 0;
	uint32_t postExtension = 1;
};

/* Adds a convolution with a ReLU; the output has the name of the layer. */
void add(Graph &graph, const Layer &layer)
{
	const size_t weights = size_t{ layer.kernels } * layer.channels * layer.side * layer.side;

	graph.weights({ .name = layer.name + " weights",
			.k = layer.kernels,
			.c = layer.channels,
			.r = layer.side,
			.s = layer.side,
			.elements = { DataType::Int8, std::vector<std::byte>(weights) } });
	graph.add(op::Convolution{
		.name = layer.name + " convolution",
		.input = layer.input,
		.weights = layer.name + " weights",
		.output = layer.name + " sums",
		.stride = { layer.stride, layer.stride },
		.padding = { layer.padding, layer.padding, layer.padding, layer.padding },
		.postExtension = layer.postExtension });
	graph.add(op::Sdp{ .name = layer.name + " relu",
			   .input = layer.name + " sums",
			   .output = layer.name,
			   .x1 = op::SdpUnit{ .activation = op::Activation::Relu } });
}

} /* namespace */

Result<Loadable> boundsNetwork(unsigned int postExtension)
{
	Graph graph;

	graph.input(
		{ .name = "picture", .h = pixels, .w = pixels, .format = PixelFormat::A8B8G8R8 });
	add(graph, { .name = "stem",
		     .input = "picture",
		     .channels = 4,
		     .kernels = 32,
		     .side = 7,
		     .stride = 2,
		     .padding = 3,
		     .postExtension = postExtension });
	add(graph, { .name = "middle",
		     .input = "stem",
		     .channels = 32,
		     .kernels = 64,
		     .side = 3,
		     .stride = 2,
		     .padding = 1 });
	add(graph, { .name = "deep",
		     .input = "middle",
		     .channels = 64,
		     .kernels = 64,
		     .side = 3,
		     .padding = 1 });
	graph.add(op::Pooling{ .name = "pool",
			       .input = "deep",
			       .output = "pooled",
			       .kernel = { 4, 4 },
			       .stride = { 4, 4 } });
	add(graph,
	    { .name = "classes", .input = "pooled", .channels = 64, .kernels = 1000, .side = 7 });
	graph.output("classes");
	return graph.assemble();
}

} /* namespace nvdla::examples */

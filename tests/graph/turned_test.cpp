/* SPDX-License-Identifier: MIT */
/*
 * Parts whose atoms of channels are lines to who reads or writes them.
 */
#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>

#include "refusal.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t turnedC = 96, turnedH = 3, turnedW = 5; /* of INT8: three atoms */
constexpr uint32_t atomC = 32;

std::byte elementAt(uint32_t c, uint32_t h, uint32_t w)
{
	return static_cast<std::byte>((c * turnedH + h) * turnedW + w);
}

/* x, where it lies, and what a copy makes of it; \a read: its input is turned, not its output. */
Graph copyOf(const Surface &x, Surface part, const std::string &whole)
{
	Graph graph;
	const bool read = part.within == x.name;

	part.name = "part";
	part.turned = true;
	graph.input(x);
	if (!read)
		graph.surface({ .name = whole,
				.type = DataType::Int8,
				.c = turnedC,
				.h = turnedH,
				.w = turnedW });
	graph.surface(part);
	graph.add(op::Sdp{ .name = "copy",
			   .input = read ? part.name : x.name,
			   .output = read ? whole : part.name });
	graph.output(whole);
	return graph;
}

std::vector<std::byte> run(const Graph &graph, const std::vector<std::byte> &elements)
{
	auto loadable = graph.assemble();
	auto device = Device::open(Device::embeddedPath);
	if (!loadable || !device) {
		ADD_FAILURE() << (loadable ? device.error() : loadable.error()).message();
		return {};
	}
	auto network = Network::load(*device, *loadable);
	if (!network) {
		ADD_FAILURE() << network.error().message();
		return {};
	}
	EXPECT_TRUE(network->setInputElements(0, elements));
	EXPECT_TRUE(network->run());
	auto got = network->outputElements(0);
	EXPECT_TRUE(got);
	return got ? *got : std::vector<std::byte>{};
}

/* The picture as it is, and its atoms from \a first on as lines. */
struct Pictures {
	std::vector<std::byte> plain;
	std::vector<std::byte> turned;

	explicit Pictures(uint32_t first = 0)
	{
		for (uint32_t c = 0; c < turnedC; c++)
			for (uint32_t h = 0; h < turnedH; h++)
				for (uint32_t w = 0; w < turnedW; w++)
					plain.push_back(elementAt(c, h, w));
		for (uint32_t c = 0; c < atomC * turnedH; c++)
			for (uint32_t atom = first; atom < turnedC / atomC; atom++)
				for (uint32_t w = 0; w < turnedW; w++)
					turned.push_back(
						elementAt(atom * atomC + c % atomC, c / atomC, w));
	}
};

const Surface plainX{
	.name = "x", .type = DataType::Int8, .c = turnedC, .h = turnedH, .w = turnedW
};
const Surface turnedX{ .name = "x",
		       .type = DataType::Int8,
		       .c = atomC * turnedH,
		       .h = turnedC / atomC,
		       .w = turnedW };

Surface allOf(const std::string &whole)
{
	return { .c = turnedC, .h = turnedH, .w = turnedW, .within = whole };
}

} /* namespace */

TEST(Turned, AtomsAreReadAsLines)
{
	EXPECT_EQ(run(copyOf(plainX, allOf("x"), "y"), Pictures().plain), Pictures().turned);
	EXPECT_EQ(run(copyOf(plainX, { .h = turnedH, .within = "x", .atChannel = atomC }, "y"),
		      Pictures().plain),
		  Pictures(1).turned);
}

TEST(Turned, LinesAreWrittenAsAtoms)
{
	EXPECT_EQ(run(copyOf(turnedX, allOf("y"), "y"), Pictures().turned), Pictures().plain);
}

TEST(Turned, IsHeldAgainstTheWhole)
{
	Surface part = allOf("y");
	part.c = 2 * atomC;
	expectRefusal(
		copyOf(turnedX, part, "y"),
		{ "'part' was described as 1 x 96 x 2 x 5, the operation makes 1 x 96 x 3 x 5" });
	part = allOf("x");
	part.atChannel = 16;
	part.c = 64;
	expectRefusal(copyOf(plainX, part, "y"), { "'part' begins at channel 16" });

	Graph nested = copyOf(plainX, allOf("x"), "y");
	nested.surface({ .name = "band", .h = 1, .within = "part" });
	nested.add(relu("relu", "band", "z"));
	nested.output("z");
	expectRefusal(nested, { "'part' is turned, and has no parts" });

	Graph picture;
	picture.input({ .name = "x", .h = 4, .w = 4, .format = PixelFormat::R8 });
	picture.surface({ .name = "part", .within = "x", .turned = true });
	picture.add(relu("relu", "part", "y"));
	picture.output("y");
	expectRefusal(picture, { "'part' is turned, but 'x' is a picture" });
}

/* Two convolutions that read the same elements, one of them turned, read different cubes. */
TEST(Turned, IsNotWhatTheBufferHas)
{
	Graph graph;
	const std::vector<int8_t> ones(turnedC, 1);

	graph.input(plainX);
	Surface part = allOf("x");
	part.name = "part";
	graph.surface(part);
	part.name = "turned";
	part.turned = true;
	graph.surface(part);
	graph.weights({ "ones", 1, turnedC, 1, 1, Elements::of(ones) });
	for (const char *input : { "part", "turned" }) {
		const std::string name = input;
		graph.add(op::Convolution{ .name = name,
					   .input = name,
					   .weights = "ones",
					   .output = name + " sums",
					   .reuseData = name == "turned" });
		graph.add(relu(name + " relu", name + " sums", name + " y"));
		graph.output(name + " y");
	}
	expectRefusal(graph, { "'turned'", "reuseData" });
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * The example network on the embedded device against its definition.
 */
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "edge_filters.h"
#include "edge_network.h"

namespace nvdla
{

namespace
{

using namespace examples;

/* Half away from zero, as the core rounds when it shifts. */
int shiftRight(int value, int shift)
{
	const int half = 1 << (shift - 1);
	return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

/* Convolution, threshold, ReLU, tone curve and pooling, straight from what edgeNetwork() promises.
 */
std::vector<float> expectedEdges(const Image &photo)
{
	constexpr int threshold = 256;
	constexpr int shift = 4;
	const uint32_t width = photo.width;
	auto toned = [&](uint32_t direction, uint32_t y, uint32_t x) {
		int sum = 0;
		for (uint32_t r = 0; r < 3; r++) {
			for (uint32_t s = 0; s < 3; s++) {
				const uint8_t *rgb = &photo.pixels[((y + r) * width + x + s) * 3];
				for (size_t c = 0; c < 3; c++)
					sum += rgb[c] * luminance[c] *
					       compassFilter(direction, r, s);
			}
		}
		const int strength = std::max(0, shiftRight(sum - threshold, shift));
		return std::min(127L, std::lround(toneCurve(strength)));
	};
	std::vector<float> edges;
	for (uint32_t direction = 0; direction < edgeDirections; direction++) {
		for (uint32_t y = 0; y + 3 < photo.height; y += 2) {
			for (uint32_t x = 0; x + 3 < width; x += 2)
				edges.push_back(static_cast<float>(std::max(
					{ toned(direction, y, x), toned(direction, y, x + 1),
					  toned(direction, y + 1, x),
					  toned(direction, y + 1, x + 1) })));
		}
	}
	return edges;
}

/* Noise on the left; black and white fields on the right, which give the strongest edges. */
Image photoOf(const EdgeNetworkSize &size, std::mt19937 &random)
{
	Image photo{ size.width, size.height, 3, {} };

	for (uint32_t y = 0; y < size.height; y++) {
		for (uint32_t x = 0; x < size.width; x++) {
			const uint8_t field = (x / 4 + y / 8) % 2 ? 255 : 0;
			for (int c = 0; c < 3; c++)
				photo.pixels.push_back(
					x < size.width / 2 ? static_cast<uint8_t>(random() % 256)
							   : field);
		}
	}
	return photo;
}

/* A run of the loaded network on a photo gives the edges of its definition. */
void expectEdges(Network &network, const Image &photo)
{
	auto tensor = pictureTensor(network.inputs()[0], photo);
	ASSERT_TRUE(tensor) << tensor.error().message();
	ASSERT_TRUE(network.setInput(0, *tensor));
	auto report = network.run();
	ASSERT_TRUE(report) << report.error().message();
	auto edges = network.outputElements(0);
	ASSERT_TRUE(edges);
	EXPECT_EQ(elementsToFloat(DataType::Int8, *edges), expectedEdges(photo));
}

} /* namespace */

TEST(EdgeNetwork, GivesWhatItsFiltersSay)
{
	std::mt19937 random(24);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();

	for (const EdgeNetworkSize size : { EdgeNetworkSize{ 16, 16 }, { 38, 22 }, { 224, 64 } }) {
		auto written = edgeNetwork(size);
		ASSERT_TRUE(written) << written.error().message();
		auto bytes = written->write();
		ASSERT_TRUE(bytes) << bytes.error().message();
		auto loadable = Loadable::read(*bytes);
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto network = Network::load(*device, *loadable);
		ASSERT_TRUE(network) << network.error().message();

		const Image photo = photoOf(size, random);
		EXPECT_TRUE(network->inputs()[0].isUnsigned);
		expectEdges(*network, photo);
	}
}

/* The same edges from other cores, except those that lack the look-up table of the tone curve. */
TEST(EdgeNetwork, IsMadeForOtherCores)
{
	std::mt19937 random(25);
	const EdgeNetworkSize size{ 256, 64 };
	const Image photo = photoOf(size, random);

	for (const CoreGeometry &core : coreVariants()) {
		SCOPED_TRACE(core.name);
		auto written = edgeNetwork(size, core);
		if (!core.has(Capability::SdpY)) {
			ASSERT_FALSE(written);
			EXPECT_EQ(written.error().code, ErrorCode::Unsupported);
			continue;
		}
		ASSERT_TRUE(written) << written.error().message();
		auto device = Device::open(std::string(Device::embeddedPath) + ":" + core.name);
		ASSERT_TRUE(device) << device.error().message();
		auto network = Network::load(*device, *written);
		ASSERT_TRUE(network) << network.error().message();
		expectEdges(*network, photo);
	}
}

/* All in one go: what is between the operations has no place in memory. */
TEST(EdgeNetwork, IsOneChain)
{
	auto network = edgeNetwork({ 16, 16 });
	ASSERT_TRUE(network);
	auto tasks = tasksInOrder(*network);
	ASSERT_TRUE(tasks);
	ASSERT_EQ(tasks->size(), 1u);
	const auto &task = std::get<DlaTask>(tasks->front());
	ASSERT_EQ(task.graph.size(), 3u);
	EXPECT_TRUE(task.surfaces[1].sdp.src_data.type == NVDLA_MEM_HW);
	EXPECT_TRUE(task.surfaces[2].pdp.src_data.type == NVDLA_MEM_HW);
}

TEST(EdgeNetwork, GreyPhotographsHaveThreeEqualColours)
{
	const auto desc = TensorDesc::image("picture", PixelFormat::A8B8G8R8, 1, 2);
	auto tensor = pictureTensor(desc, { 2, 1, 1, { 7, 200 } });
	ASSERT_TRUE(tensor) << tensor.error().message();
	const uint8_t expected[] = { 7, 7, 7, 255, 200, 200, 200, 255 };
	for (size_t i = 0; i < std::size(expected); i++)
		EXPECT_EQ((*tensor)[i], std::byte{ expected[i] }) << i;
	EXPECT_FALSE(pictureTensor(desc, { 3, 1, 1, { 1, 2, 3 } }));
}

TEST(EdgeNetwork, RefusesOtherSizes)
{
	for (const EdgeNetworkSize size :
	     { EdgeNetworkSize{ 0, 16 }, { 16, 17 }, { 258, 16 }, { 8, 16 } }) {
		auto network = edgeNetwork(size);
		ASSERT_FALSE(network);
		EXPECT_EQ(network.error().code, ErrorCode::InvalidArgument);
	}
}

TEST(EdgeNetwork, DirectionIsTheColour)
{
	const TensorDesc desc =
		TensorDesc::packedFeature("edges", DataType::Int8, edgeDirections, 1, 2);
	std::vector<float> strengths(edgeDirections * 2);
	strengths[0 * 2] = 127; /* pixel 0: direction 0, full strength; pixel 1: nothing */
	auto image = edgePicture(desc, elementsFromFloat(DataType::Int8, strengths));
	ASSERT_TRUE(image);
	EXPECT_EQ(image->pixels, (std::vector<uint8_t>{ 254, 0, 0, 0, 0, 0 }));
	EXPECT_FALSE(edgePicture(desc, std::vector<std::byte>(3)));
}

TEST(EdgeNetwork, PhotographAndEdgesAreBesideEachOther)
{
	const Image both = besideEachOther({ 2, 2, 1, { 1, 2, 3, 4 } }, { 1, 1, 3, { 7, 8, 9 } });
	EXPECT_EQ(both.width, 4u);
	EXPECT_EQ(both.height, 2u);
	EXPECT_EQ(both.channels, 3u);
	EXPECT_EQ(both.pixels, (std::vector<uint8_t>{ 1, 1, 1, 2, 2, 2, 7, 8, 9, 7, 8, 9,
						      3, 3, 3, 4, 4, 4, 7, 8, 9, 7, 8, 9 }));
}

} /* namespace nvdla */

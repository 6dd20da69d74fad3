/* SPDX-License-Identifier: MIT */
/*
 * The example network on the embedded device against its definition.
 */
#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/network.h>

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

/* Convolution, threshold, ReLU and pooling, straight from what edgeNetwork() promises. */
std::vector<float> expectedEdges(const std::vector<float> &picture, int width, int height)
{
	constexpr int threshold = 48;
	constexpr int shift = 2;
	auto filtered = [&](uint32_t direction, int y, int x) {
		int sum = 0;
		for (int r = 0; r < 3; r++) {
			for (int s = 0; s < 3; s++) {
				const int py = y + r - 1;
				const int px = x + s - 1;
				if (py < 0 || px < 0 || py >= height || px >= width)
					continue;
				for (int c = 0; c < 4; c++)
					sum += static_cast<int>(
						       picture[(c * height + py) * width + px]) *
					       luminance[c] * compassFilter(direction, r, s);
			}
		}
		return std::clamp(shiftRight(std::max(0, sum - threshold), shift), -128, 127);
	};
	std::vector<float> edges;
	for (uint32_t direction = 0; direction < edgeDirections; direction++) {
		for (int y = 0; y < height; y += 2) {
			for (int x = 0; x < width; x += 2)
				edges.push_back(static_cast<float>(std::max(
					{ filtered(direction, y, x), filtered(direction, y, x + 1),
					  filtered(direction, y + 1, x),
					  filtered(direction, y + 1, x + 1) })));
		}
	}
	return edges;
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

		std::vector<float> picture(size_t{ 4 } * size.width * size.height);
		for (float &value : picture)
			value = static_cast<float>(random() % 128);
		ASSERT_TRUE(
			network->setInputElements(0, elementsFromFloat(DataType::Int8, picture)));
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		auto edges = network->outputElements(0);
		ASSERT_TRUE(edges);
		EXPECT_EQ(elementsToFloat(DataType::Int8, *edges),
			  expectedEdges(picture, static_cast<int>(size.width),
					static_cast<int>(size.height)));
	}
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

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * The digits network on handwritten digits.
 *
 * It reads the first five of these right and misreads the others; what is
 * expected here is what the network computes, not what the pictures show. A
 * float evaluation of its layers outside of this project gives the same nine
 * answers, and the existing stack's users have seen 0.996 for "7" and 0.00407
 * for "5" on the picture of a two.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/image.h>
#include <nvdla/network.h>

#include "test_support.h"

namespace nvdla
{

TEST(Digits, AnswersAreTheNetworks)
{
	NVDLA_NEED_REFERENCE(reference);
	const struct {
		const char *picture;
		size_t answer;
	} digits[] = { { "one", 1 }, { "three", 3 }, { "four", 4 },  { "five", 5 }, { "seven", 7 },
		       { "two", 7 }, { "six", 5 },   { "eight", 3 }, { "nine", 3 } };

	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	auto loadable = Loadable::readFile(reference / "loadables/NN_L0_0_fbuf");
	ASSERT_TRUE(loadable);
	auto network = Network::load(*device, *loadable);
	ASSERT_TRUE(network) << network.error().message();

	for (const auto &digit : digits) {
		auto image = readImage(reference / "loadables/digits" /
				       (std::string(digit.picture) + ".pgm"));
		ASSERT_TRUE(image) << image.error().message();
		auto elements = elementsFromImage(network->inputs()[0], *image);
		ASSERT_TRUE(elements) << elements.error().message();
		ASSERT_TRUE(network->setInputElements(0, *elements));
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		EXPECT_EQ(report->steps.size(), 3u);

		auto output = network->outputElements(0);
		ASSERT_TRUE(output);
		const auto values = elementsToFloat(DataType::Half, *output);
		const auto best = std::max_element(values.begin(), values.end());
		EXPECT_EQ(static_cast<size_t>(best - values.begin()), digit.answer)
			<< digit.picture;
		if (std::string(digit.picture) == "two") {
			EXPECT_NEAR(values[7], 0.996f, 0.0005f);
			EXPECT_NEAR(values[5], 0.00407f, 0.000005f);
		}
	}
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * The fuzz target on a fixed set of damaged files, with any compiler.
 */
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "edge_network.h"
#include "loadable_read.h"

namespace nvdla
{

TEST(LoadableRead, DamagedExampleNetwork)
{
	auto loadable = examples::edgeNetwork({ 16, 16 });
	ASSERT_TRUE(loadable);
	auto written = loadable->write();
	ASSERT_TRUE(written);
	const auto *first = reinterpret_cast<const uint8_t *>(written->data());
	const std::vector<uint8_t> good(first, first + written->size());
	std::mt19937 random(25);

	fuzz::readLoadable(good.data(), good.size());
	for (int round = 0; round < 3000; round++) {
		std::vector<uint8_t> bytes = good;
		for (unsigned hits = 1 + random() % 3; hits; hits--)
			bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
		if (round % 4 == 0)
			bytes.resize(random() % bytes.size());
		fuzz::readLoadable(bytes.data(), bytes.size());
	}
}

} /* namespace nvdla */

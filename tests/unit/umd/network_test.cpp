/* SPDX-License-Identifier: MIT */
#include <array>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/network.h>

#include "test_support.h"

namespace nvdla
{

namespace
{

using test::pattern;

} /* namespace */

TEST(Network, RunsAnyNumberOfTimes)
{
	const auto input = pattern(32 * 17, 1);
	auto network = Network::load(test::openDevice(), test::copyLoadable(input));
	ASSERT_TRUE(network) << network.error().message();
	EXPECT_TRUE(network->inputs().empty());
	ASSERT_EQ(network->outputs().size(), 1u);

	for (int i = 0; i < 20; i++) {
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		ASSERT_EQ(report->steps.size(), 1u);
		EXPECT_EQ(report->steps[0].operations, 1u);
		auto output = network->output(0);
		ASSERT_TRUE(output);
		EXPECT_EQ(*output, input);
	}
}

TEST(Network, SeveralOnOneDevice)
{
	const Device device = test::openDevice();
	std::vector<Network> networks;
	for (unsigned i = 0; i < 4; i++) {
		auto network = Network::load(device, test::copyLoadable(pattern(32 * (i + 1), i)));
		ASSERT_TRUE(network);
		networks.push_back(std::move(*network));
	}
	for (int round = 0; round < 3; round++) {
		for (Network &network : networks)
			ASSERT_TRUE(network.run());
	}
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(networks[i].output(0).value(), pattern(32 * (i + 1), i));
}

TEST(Network, ThreadsShareADevice)
{
	const Device device = test::openDevice();
	std::vector<std::thread> threads;
	std::array<bool, 4> right{};

	for (unsigned t = 0; t < right.size(); t++) {
		threads.emplace_back([&, t] {
			for (unsigned i = 0; i < 10; i++) {
				const auto input = pattern(32 * (1 + i), 10 * t + i);
				auto network = Network::load(device, test::copyLoadable(input));
				if (!network || !network->run() || !network->run())
					return;
				auto output = network->output(0);
				if (!output || *output != input)
					return;
			}
			right[t] = true;
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	for (bool one : right)
		EXPECT_TRUE(one);
}

TEST(Network, InputSizesAreChecked)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(3, 4));
	ASSERT_TRUE(network) << network.error().message();
	auto wrong = network->setInput(0, std::vector<std::byte>(127));
	ASSERT_FALSE(wrong);
	EXPECT_EQ(wrong.error().code, ErrorCode::InvalidArgument);
	EXPECT_NE(wrong.error().why.find("127"), std::string::npos);
	EXPECT_NE(wrong.error().why.find("128"), std::string::npos);
	EXPECT_FALSE(network->setInputElements(0, std::vector<std::byte>(11)));
	EXPECT_FALSE(network->setInput(1, std::vector<std::byte>(128)));
	EXPECT_FALSE(network->setInputElements(1, std::vector<std::byte>(12)));
	EXPECT_FALSE(network->output(1));

	const auto elements = pattern(12, 3);
	ASSERT_TRUE(network->setInputElements(0, elements));
	ASSERT_TRUE(network->run());
	EXPECT_EQ(network->outputElements(0).value(), elements);
}

TEST(Network, OnChipMemoryIsRefusedByName)
{
	Loadable loadable = test::copyLoadable(pattern(64, 5));
	loadable.memories[1].domain = MemoryDomain::Sram;
	auto network = Network::load(test::openDevice(), loadable);
	ASSERT_FALSE(network);
	EXPECT_EQ(network.error().code, ErrorCode::Unsupported);
	EXPECT_EQ(network.error().where, "memory_list id 1.domain");
}

TEST(Network, TooLargeMemoryIsNamed)
{
	Loadable loadable = test::copyLoadable(pattern(64, 6));
	loadable.memories[1].size = uint64_t{ 1 } << 39;
	auto network = Network::load(test::openDevice(), loadable);
	ASSERT_FALSE(network);
	EXPECT_NE(network.error().where.find("memory_list id 1"), std::string::npos);
}

} /* namespace nvdla */

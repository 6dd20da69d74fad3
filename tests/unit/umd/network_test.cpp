/* SPDX-License-Identifier: MIT */
#include <array>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

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

TEST(Network, NumbersGoThroughTheQuantization)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(3, 4)).value();
	auto request = Request::create(network).value();
	std::vector<float> values{ 0, 0.5f, -1, 0.26f, 7, 300, -300, 1, 2, 3, 4, 5 };

	EXPECT_TRUE(network.inputs()[0].quantization.none());
	auto expect = [&](std::vector<float> expected) {
		ASSERT_TRUE(network.setInputFloat(0, values));
		ASSERT_TRUE(network.run());
		EXPECT_EQ(network.outputFloat(0).value(), expected);
		ASSERT_TRUE(request.setInputFloat(0, values));
		ASSERT_TRUE(request.run());
		EXPECT_EQ(request.outputFloat(0).value(), expected);
	};
	expect({ 0, 1, -1, 0, 7, 127, -128, 1, 2, 3, 4, 5 });

	const Quantization steps{ 0.5, 27 };
	ASSERT_TRUE(network.setInputQuantization(0, steps));
	EXPECT_EQ(network.inputs()[0].quantization, steps);
	expect({ 27, 28, 25, 28, 41, 127, -128, 29, 31, 33, 35, 37 });
	ASSERT_TRUE(network.setOutputQuantization(0, steps));
	expect({ 0, 0.5f, -1, 0.5f, 7, 50, -77.5f, 1, 2, 3, 4, 5 });

	/* Channels first, channels last. */
	const TensorQuantization channels({ { 1, 0 }, { 2, 1 }, { 4, 2 } });
	ASSERT_TRUE(network.setOutputQuantization(0, channels));
	ASSERT_TRUE(network.setInputQuantization(0, channels));
	values = { 1, 2, 4, 2, 4, 8, 3, 6, 12, 4, 8, 16 };
	ASSERT_TRUE(network.setInputFloat(0, values, ElementOrder::Nhwc));
	ASSERT_TRUE(network.run());
	EXPECT_EQ(network.outputElements(0).value(),
		  elementsFromFloat(DataType::Int8,
				    std::vector<float>{ 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6 }));
	EXPECT_EQ(network.outputFloat(0, ElementOrder::Nhwc).value(), values);
	EXPECT_EQ(network.outputFloat(0).value(),
		  (std::vector<float>{ 1, 2, 3, 4, 2, 4, 6, 8, 4, 8, 12, 16 }));
}

TEST(Network, QuantizationsAreChecked)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(3, 4)).value();

	EXPECT_FALSE(network.setInputQuantization(1, Quantization{ 1 }));
	EXPECT_FALSE(network.setOutputQuantization(1, Quantization{ 1 }));
	auto set =
		network.setOutputQuantization(0, TensorQuantization(std::vector<Quantization>(4)));
	ASSERT_FALSE(set);
	EXPECT_EQ(set.error().where, "quantization");
	EXPECT_TRUE(network.outputs()[0].quantization.none()) << "left as it was";
	EXPECT_FALSE(network.setInputFloat(0, std::vector<float>(11)));
	EXPECT_FALSE(network.setInputFloat(1, std::vector<float>(12)));
	EXPECT_FALSE(network.outputFloat(1));
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

/* Its layout does not even fit: that it is for another core is said first, and it can be shown. */
TEST(Network, OfAnotherCoreIsNamedAndShown)
{
	Loadable loadable = test::passLoadable(32, 4);
	for (TensorEntry &tensor : loadable.tensors) {
		tensor.pixelFormat =
			static_cast<decltype(tensor.pixelFormat)>(PixelFormat::FeatureX8);
		tensor.size = 1;
	}

	EXPECT_FALSE(loadable.inputs());
	EXPECT_TRUE(networkParts(loadable));
	const auto network = Network::load(test::openDevice(), loadable);
	ASSERT_FALSE(network);
	EXPECT_EQ(network.error().code, ErrorCode::Unsupported);
	EXPECT_NE(network.error().why.find("atoms of 8 bytes, as on nv_small"), std::string::npos)
		<< network.error().message();
}

} /* namespace nvdla */

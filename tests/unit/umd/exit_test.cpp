/* SPDX-License-Identifier: MIT */
/*
 * Processes that end while requests are in flight: the device is as before.
 */
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/network.h>

#include "test_support.h"

namespace nvdla::exit_test
{

namespace
{

using namespace std::chrono_literals;
using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 64;
constexpr size_t tensorBytes = channels * width;

/* Thousands of requests, of which some are done and most are not; then the end. */
template<typename End>
[[noreturn]] void endInMidRun(End end)
{
	constexpr unsigned count = 3000;
	const Device device = test::openDevice();
	auto network = Network::load(device, test::passLoadable(channels, width)).value();
	const Buffer buffer = device.allocate(tensorBytes).value();
	std::vector<Request> requests;

	for (unsigned i = 0; i < count; i++) {
		requests.push_back(Request::create(network).value());
		if (i % 2 && !requests[i].bindInput(0, { buffer }))
			std::abort();
	}
	for (Request &request : requests) {
		if (!request.submit())
			std::abort();
	}
	if (!requests[count / 8].wait() || !requests.back().inFlight())
		std::abort();
	end();
	std::abort();
}

/* The core sleeps when no job needs it: /sys/class/accel is the driver's only. */
bool fallsIdle()
{
	const auto node = std::filesystem::path(test::devicePath()).filename();
	const auto status =
		std::filesystem::path("/sys/class/accel") / node / "device/power/runtime_status";

	if (test::devicePath() == Device::embeddedPath)
		return true;
	for (unsigned i = 0; i < 300; i++) {
		std::string word;
		std::ifstream(status) >> word;
		if (word == "suspended")
			return true;
		std::this_thread::sleep_for(100ms);
	}
	return false;
}

void expectGoodAsNew()
{
	EXPECT_TRUE(fallsIdle());
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	ASSERT_TRUE(network) << network.error().message();
	ASSERT_TRUE(network->setInput(0, pattern(tensorBytes, 1)));
	auto report = network->run();
	ASSERT_TRUE(report) << report.error().message();
	EXPECT_EQ(network->output(0).value(), pattern(tensorBytes, 1));
}

/* Threads do not survive a fork: the child begins anew. */
class Exit : public testing::Test
{
protected:
	void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

} /* namespace */

TEST_F(Exit, KilledInMidRun)
{
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EXIT(endInMidRun([] { raise(SIGKILL); }), testing::KilledBySignal(SIGKILL),
			    "");
		expectGoodAsNew();
	}
}

TEST_F(Exit, PlainExitInMidRun)
{
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EXIT(endInMidRun([] { std::exit(0); }), testing::ExitedWithCode(0), "");
		expectGoodAsNew();
	}
}

} /* namespace nvdla::exit_test */

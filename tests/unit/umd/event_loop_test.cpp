/* SPDX-License-Identifier: MIT */
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <uv.h>

#include "gate_device.h"
#include "test_support.h"

namespace nvdla::event_loop_test
{

namespace
{

using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 2;
constexpr size_t tensorBytes = channels * width;

/* A libuv loop that this thread runs. */
class CallersLoop
{
public:
	CallersLoop() { EXPECT_EQ(uv_loop_init(&loop_), 0); }
	~CallersLoop()
	{
		run();
		EXPECT_EQ(uv_loop_close(&loop_), 0);
	}

	uv_loop_t *get() { return &loop_; }
	void run() { EXPECT_EQ(uv_run(&loop_, UV_RUN_DEFAULT), 0); }

private:
	uv_loop_t loop_;
};

} /* namespace */

TEST(EventLoop, ThousandsOfRequestsFromOneThread)
{
	constexpr unsigned count = 4000;
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	ASSERT_TRUE(network) << network.error().message();
	std::vector<Request> requests;
	std::atomic<unsigned> succeeded = 0;

	for (unsigned i = 0; i < count; i++) {
		requests.push_back(Request::create(*network).value());
		ASSERT_TRUE(requests[i].setInput(0, pattern(tensorBytes, i)));
	}
	for (Request &request : requests)
		ASSERT_TRUE(request.submit(
			{}, [&](const auto &result) { succeeded += result ? 1 : 0; }));
	for (unsigned i = 0; i < count; i++) {
		ASSERT_TRUE(requests[i].wait());
		const auto expected = pattern(tensorBytes, i);
		ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
				       requests[i].output(0)->begin()));
	}
	{
		const Network gone = std::move(*network);
	}
	EXPECT_EQ(succeeded, count);
}

TEST(EventLoop, OfTheCallerEndsWhenNothingIsInFlight)
{
	CallersLoop callers;
	auto loop = EventLoop::attach(callers.get());
	ASSERT_TRUE(loop) << loop.error().message();
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width),
				     { .loop = *loop });
	ASSERT_TRUE(network) << network.error().message();
	callers.run();

	std::vector<Request> requests;
	unsigned called = 0;
	for (unsigned i = 0; i < 100; i++) {
		requests.push_back(Request::create(*network).value());
		ASSERT_TRUE(requests[i].setInput(0, pattern(tensorBytes, i)));
		ASSERT_TRUE(requests[i].submit({}, [&](const auto &result) {
			EXPECT_TRUE(result);
			EXPECT_TRUE(loop->isCurrentThread());
			called++;
		}));
	}
	EXPECT_EQ(called, 0u);
	EXPECT_FALSE(requests[0].wait());
	callers.run();
	EXPECT_EQ(called, 100u);
	const auto expected = pattern(tensorBytes, 99);
	EXPECT_TRUE(std::equal(expected.begin(), expected.end(), requests[99].output(0)->begin()));
}

TEST(EventLoop, OfTheCallerCancelsWhatANetworkLeavesBehind)
{
	CallersLoop callers;
	unsigned called = 0;
	{
		auto loop = EventLoop::attach(callers.get());
		ASSERT_TRUE(loop);
		auto network = Network::load(
			test::openDevice(), test::passLoadable(channels, width), { .loop = *loop });
		ASSERT_TRUE(network);
		for (unsigned i = 0; i < 10; i++) {
			auto request = Request::create(*network);
			ASSERT_TRUE(request);
			ASSERT_TRUE(request->submit({}, [&](const auto &result) {
				EXPECT_FALSE(result);
				called++;
			}));
		}
	}
	callers.run();
	EXPECT_EQ(called, 10u);
}

TEST(EventLoop, ServesOtherThreads)
{
	CallersLoop callers;
	auto loop = EventLoop::attach(callers.get());
	ASSERT_TRUE(loop);
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width),
				     { .loop = *loop });
	ASSERT_TRUE(network);
	uv_async_t stop;
	uv_async_init(callers.get(), &stop, [](uv_async_t *handle) {
		uv_close(reinterpret_cast<uv_handle_t *>(handle), nullptr);
	});

	std::thread other([&] {
		auto request = Request::create(*network);
		ASSERT_TRUE(request);
		for (unsigned i = 0; i < 20; i++)
			EXPECT_TRUE(request->run());
		uv_async_send(&stop);
	});
	callers.run();
	other.join();
}

TEST(EventLoop, SeveralDevicesNetworksAndThreads)
{
	const unsigned seed = std::random_device()();
	SCOPED_TRACE(testing::Message() << "seed " << seed);
	auto own = EventLoop::create();
	ASSERT_TRUE(own);
	const std::array<Device, 2> devices{ test::openDevice(), test::openDevice() };
	std::vector<Network> networks;
	for (unsigned i = 0; i < 4; i++) {
		LoadOptions options{ .slots = 1 + i, .maxQueued = 16 };
		if (i % 2)
			options.loop = *own;
		networks.push_back(
			Network::load(devices[i / 2], test::passLoadable(channels, width), options)
				.value());
	}

	std::atomic<unsigned> wrong = 0;
	auto client = [&](unsigned number) {
		std::mt19937 random(seed + number);
		std::vector<Request> requests;
		for (unsigned i = 0; i < 8; i++) {
			requests.push_back(Request::create(networks[i % networks.size()]).value());
			requests[i].setInput(0, pattern(tensorBytes, number * 8 + i));
		}
		for (unsigned round = 0; round < 20; round++) {
			for (Request &request : requests) {
				const auto priority = static_cast<Priority>(random() % 3);
				wrong += request.submit({ .priority = priority }) ? 0 : 1;
				if (random() % 4 == 0)
					request.cancel();
			}
			for (unsigned i = 0; i < requests.size(); i++) {
				const auto result = requests[i].wait();
				const auto expected = pattern(tensorBytes, number * 8 + i);
				if (!result)
					wrong += result.error().code != ErrorCode::Cancelled;
				else
					wrong += !std::equal(expected.begin(), expected.end(),
							     requests[i].output(0)->begin());
			}
		}
	};
	std::vector<std::thread> threads;
	for (unsigned i = 0; i < 4; i++)
		threads.emplace_back(client, i);
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(wrong, 0u);
}

/* Whatever goes first, device, network, request or loop: each callback comes once. */
TEST(EventLoop, TeardownAtAnyTime)
{
	const unsigned seed = std::random_device()();
	SCOPED_TRACE(testing::Message() << "seed " << seed);
	std::mt19937 random(seed);

	for (unsigned round = 0; round < 40; round++) {
		auto called = std::make_shared<std::atomic<unsigned>>(0);
		unsigned submitted = 0;
		std::vector<Request> requests;
		{
			std::optional<Device> device = test::openDevice();
			auto loop = random() % 2 ? EventLoop::create() : EventLoop::shared();
			auto network = Network::load(*device, test::passLoadable(channels, width),
						     { .loop = *loop, .slots = 1 + round % 3 });
			ASSERT_TRUE(network);
			for (unsigned i = 0; i < 1 + random() % 30; i++) {
				requests.push_back(Request::create(*network).value());
				const auto accepted = requests.back().submit(
					{}, [called](const auto &) { (*called)++; });
				submitted += accepted ? 1 : 0;
				if (random() % 5 == 0)
					requests.erase(requests.begin());
			}
			if (random() % 2)
				device.reset();
			if (random() % 2)
				requests.clear();
			else if (!requests.empty() && random() % 2)
				requests.back().wait();
		}
		EXPECT_EQ(*called, submitted);
	}
}

} /* namespace nvdla::event_loop_test */

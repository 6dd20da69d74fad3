/* SPDX-License-Identifier: MIT */
#include <future>
#include <mutex>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nvdla/pool.h>

#include "gate_device.h"
#include "test_support.h"

namespace nvdla::pool_test
{

namespace
{

using test::GateDevice;
using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 4;
constexpr size_t tensorBytes = channels * width;

/* A network that copies, on devices of a pool, each behind a gate. */
struct GatedPool {
	std::vector<std::shared_ptr<GateDevice>> gates;
	std::optional<Pool> pool;
	std::vector<unsigned> answered; /* numbers of the requests, in the order of their answers */
	std::vector<ErrorCode> errors;
	std::mutex lock;
	std::condition_variable changed;

	explicit GatedPool(unsigned devices, const PoolOptions &options = {})
	{
		std::vector<Device> opened;
		for (unsigned i = 0; i < devices; i++) {
			gates.push_back(GateDevice::open());
			opened.push_back(Device::open(gates.back()).value());
		}
		pool.emplace(Pool::create(opened, options).value());
		EXPECT_EQ(pool->addNetwork(test::passLoadable(channels, width)).value(), 0u);
		for (const auto &gate : gates)
			gate->close();
	}

	static PoolRequest request(unsigned number, uint64_t stream,
				   Priority priority = Priority::Normal)
	{
		PoolRequest request;
		request.options.priority = priority;
		request.inputs = { pattern(tensorBytes, number) };
		request.stream = stream;
		return request;
	}

	Result<void> submit(unsigned number, uint64_t stream = 0,
			    Priority priority = Priority::Normal)
	{
		return pool->submit(request(number, stream, priority), [this, number](auto answer) {
			const std::lock_guard guard(lock);
			if (answer)
				EXPECT_EQ(answer->outputs.at(0), pattern(tensorBytes, number));
			else
				errors.push_back(answer.error().code);
			answered.push_back(number);
			changed.notify_all();
		});
	}

	void wait(size_t answers)
	{
		std::unique_lock guard(lock);
		changed.wait(guard, [&] { return answered.size() >= answers; });
		EXPECT_EQ(answered.size(), answers);
	}

	static std::vector<unsigned> upTo(unsigned count)
	{
		std::vector<unsigned> numbers(count);
		for (unsigned i = 0; i < count; i++)
			numbers[i] = i;
		return numbers;
	}
};

} /* namespace */

TEST(Pool, RequestsGoToTheDeviceThatHasTheFewest)
{
	GatedPool gated(3, { .slots = 2 });

	for (unsigned i = 0; i < 9; i++)
		ASSERT_TRUE(gated.submit(i));
	for (const auto &gate : gated.gates)
		gate->waitHeld(2);
	for (const DeviceUse &use : gated.pool->use())
		EXPECT_EQ(use.running, 2u);
	for (const auto &gate : gated.gates)
		gate->release();
	gated.wait(9);
	EXPECT_EQ(gated.answered, GatedPool::upTo(9));
	uint64_t completed = 0;
	for (const DeviceUse &use : gated.pool->use()) {
		EXPECT_EQ(use.running, 0u);
		EXPECT_GT(use.busy.count(), 0);
		completed += use.completed;
	}
	EXPECT_EQ(completed, 9u);
}

TEST(Pool, StreamsKeepTheirOrderAndDoNotWaitForEachOther)
{
	GatedPool gated(2, { .slots = 2 });

	/* 0 and 2 are on the first device, 1 and 3 on the second. */
	for (unsigned i = 0; i < 4; i++)
		ASSERT_TRUE(gated.submit(i, i == 3));
	for (const auto &gate : gated.gates)
		gate->waitHeld(2);
	gated.gates[1]->release();
	gated.wait(1);
	EXPECT_EQ(gated.answered, (std::vector<unsigned>{ 3 }));
	gated.gates[0]->release();
	gated.wait(4);
	EXPECT_EQ(gated.answered, (std::vector<unsigned>{ 3, 0, 1, 2 }));
}

TEST(Pool, OfThoseThatWaitTheHighestPriorityGoesFirst)
{
	constexpr unsigned count = 1000;
	GatedPool gated(1, { .slots = 1, .maxPending = count + 2 });
	std::vector<unsigned> wanted = GatedPool::upTo(count);

	/* 0 is on the device, all others wait. */
	for (unsigned i = 0; i < count; i++)
		ASSERT_TRUE(gated.submit(i, i, Priority::Low));
	gated.gates[0]->waitHeld(1);
	ASSERT_TRUE(gated.submit(count, count, Priority::Normal));
	ASSERT_TRUE(gated.submit(count + 1, count + 1, Priority::High));
	gated.gates[0]->release();
	gated.wait(count + 2);
	wanted.insert(wanted.begin() + 1, { count + 1, count });
	EXPECT_EQ(gated.answered, wanted);
	EXPECT_TRUE(gated.errors.empty());
}

TEST(Pool, ExceptionOfACallbackEndsThere)
{
	GatedPool gated(1, { .slots = 1 });

	ASSERT_TRUE(gated.pool->submit(GatedPool::request(0, 0),
				       [](auto) { throw std::runtime_error("the callback's"); }));
	ASSERT_TRUE(gated.submit(1));
	gated.gates[0]->release();
	gated.wait(1);
	EXPECT_EQ(gated.answered, (std::vector<unsigned>{ 1 }));
}

TEST(Pool, RequestsOfALostDeviceRunElsewhereOnce)
{
	GatedPool gated(2, { .slots = 2 });

	for (unsigned i = 0; i < 20; i++)
		ASSERT_TRUE(gated.submit(i));
	for (const auto &gate : gated.gates)
		gate->waitHeld(2);
	gated.gates[0]->lose();
	gated.gates[1]->release();
	gated.wait(20);
	EXPECT_EQ(gated.answered, GatedPool::upTo(20));
	EXPECT_TRUE(gated.errors.empty());
	const auto use = gated.pool->use();
	EXPECT_TRUE(use[0].lost);
	EXPECT_EQ(use[0].moved, 2u);
	EXPECT_EQ(use[0].completed, 0u);
	EXPECT_EQ(use[1].completed, 20u);

	ASSERT_TRUE(gated.submit(20));
	gated.wait(21);
	EXPECT_EQ(gated.pool->use()[1].completed, 21u);
}

TEST(Pool, LossOfTheLastDeviceIsToldToEverybodyAndAnotherMayCome)
{
	GatedPool gated(1, { .slots = 2 });

	for (unsigned i = 0; i < 5; i++)
		ASSERT_TRUE(gated.submit(i));
	gated.gates[0]->waitHeld(2);
	gated.gates[0]->lose();
	gated.wait(5);
	EXPECT_EQ(gated.answered, GatedPool::upTo(5));
	EXPECT_EQ(gated.errors, std::vector<ErrorCode>(5, ErrorCode::DeviceLost));
	EXPECT_EQ(gated.submit(5).error().code, ErrorCode::DeviceLost);
	EXPECT_EQ(gated.pool->addNetwork(test::passLoadable(channels, width)).error().code,
		  ErrorCode::DeviceLost);

	ASSERT_TRUE(gated.pool->addDevice(test::openDevice()));
	ASSERT_TRUE(gated.submit(6));
	gated.wait(6);
	EXPECT_EQ(gated.pool->use()[1].completed, 1u);
}

TEST(Pool, ThatGoesCancelsItsRequests)
{
	GatedPool gated(2, { .slots = 1 });

	for (unsigned i = 0; i < 6; i++)
		ASSERT_TRUE(gated.submit(i));
	for (const auto &gate : gated.gates)
		gate->waitHeld(1);
	auto gone = std::async(std::launch::async, [&] { gated.pool.reset(); });
	for (const auto &gate : gated.gates)
		gate->release();
	gone.get();
	EXPECT_EQ(gated.answered, GatedPool::upTo(6));
	/* What the gates let through before it went is done. */
	for (const ErrorCode code : gated.errors)
		EXPECT_EQ(code, ErrorCode::Cancelled);
}

TEST(Pool, HasRoomForSoManyRequests)
{
	GatedPool gated(1, { .slots = 1, .maxPending = 2 });
	auto busy = GatedPool::request(9, 0);
	busy.options.whenFull = WhenFull::Busy;

	ASSERT_TRUE(gated.submit(0));
	ASSERT_TRUE(gated.submit(1));
	EXPECT_EQ(gated.pool->submit(busy, {}).error().code, ErrorCode::Busy);
	auto waits = std::async(std::launch::async, [&] { return gated.submit(2); });
	gated.gates[0]->release();
	EXPECT_TRUE(waits.get());
	gated.wait(3);
}

TEST(Pool, SeveralNetworksShareItsDevices)
{
	auto pool = Pool::create({ test::openDevice(), test::openDevice() });
	ASSERT_TRUE(pool);
	const size_t first = pool->addNetwork(test::passLoadable(channels, width)).value();
	const size_t second = pool->addNetwork(test::passLoadable(channels, 2 * width)).value();
	ASSERT_NE(first, second);

	for (const size_t network : { first, second, first }) {
		PoolRequest request;
		request.network = network;
		const size_t bytes = pool->inputs(network).at(0).size;
		request.inputs = { pattern(bytes, 1) };
		const auto answer = pool->run(request);
		ASSERT_TRUE(answer) << answer.error().message();
		EXPECT_EQ(answer->outputs.at(0), pattern(bytes, 1));
		EXPECT_LT(answer->device, 2u);
	}
}

TEST(Pool, WhatDoesNotFitIsSaidAtOnce)
{
	auto pool = Pool::create({ test::openDevice() });
	ASSERT_TRUE(pool && pool->addNetwork(test::passLoadable(channels, width)));
	const auto good = GatedPool::request(0, 0);
	const auto code = [&](const auto &change) {
		PoolRequest request = good;
		change(request);
		return pool->run(request).error().code;
	};

	EXPECT_EQ(code([](auto &request) { request.network = 1; }), ErrorCode::InvalidArgument);
	EXPECT_EQ(code([](auto &request) { request.inputs.clear(); }), ErrorCode::InvalidArgument);
	EXPECT_EQ(code([](auto &request) { request.inputs[0].pop_back(); }),
		  ErrorCode::InvalidArgument);
	EXPECT_EQ(code([](auto &request) { request.options.priority = static_cast<Priority>(40); }),
		  ErrorCode::Unsupported);
	EXPECT_TRUE(pool->inputs(7).empty());
	EXPECT_EQ(Pool::create({}).error().code, ErrorCode::InvalidArgument);
	EXPECT_EQ(Pool::create({ test::openDevice() }, { .slots = 0 }).error().code,
		  ErrorCode::InvalidArgument);
	EXPECT_TRUE(pool->run(good));
}

} /* namespace nvdla::pool_test */

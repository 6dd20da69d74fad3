/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>

#include "gate_device.h"
#include "loadable/emu_descriptors.h"
#include "test_support.h"

namespace nvdla::request_test
{

namespace
{

using namespace std::chrono_literals;
using test::GateDevice;
using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 4;
constexpr size_t tensorBytes = channels * width;

/* A network that copies, on a device of its own behind a gate. */
struct Gated {
	std::shared_ptr<GateDevice> gate = GateDevice::open();
	Network network;

	explicit Gated(const LoadOptions &options = {})
		: network(Network::load(*Device::open(gate), test::passLoadable(channels, width),
					options)
				  .value())
	{
		gate->close();
	}

	std::vector<Request> requests(unsigned count)
	{
		std::vector<Request> all;
		for (unsigned i = 0; i < count; i++) {
			all.push_back(Request::create(network).value());
			EXPECT_TRUE(all[i].setInput(0, pattern(tensorBytes, i)));
		}
		return all;
	}
};

bool outputIs(const Request &request, unsigned seed)
{
	const auto output = request.output(0);
	const auto expected = pattern(tensorBytes, seed);
	return output && std::equal(output->begin(), output->end(), expected.begin());
}

ErrorCode codeOf(const Result<RunReport> &result)
{
	EXPECT_FALSE(result);
	return result ? ErrorCode::Io : result.error().code;
}

} /* namespace */

TEST(Request, HasTensorsOfItsOwn)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	ASSERT_TRUE(network);
	auto first = Request::create(*network);
	auto second = Request::create(*network);
	ASSERT_TRUE(first && second);
	ASSERT_TRUE(first->setInput(0, pattern(tensorBytes, 1)));
	ASSERT_TRUE(second->setInput(0, pattern(tensorBytes, 2)));
	ASSERT_TRUE(first->submit());
	ASSERT_TRUE(second->submit());
	EXPECT_TRUE(second->wait());
	EXPECT_TRUE(first->wait());
	EXPECT_TRUE(outputIs(*first, 1));
	EXPECT_TRUE(outputIs(*second, 2));
	/* An input keeps its value. */
	ASSERT_TRUE(first->run());
	EXPECT_TRUE(outputIs(*first, 1));
}

TEST(Request, WrongTensorsAreRefusedByNumber)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	auto request = Request::create(*network);
	ASSERT_TRUE(request);

	EXPECT_FALSE(request->setInput(1, pattern(tensorBytes, 1)));
	EXPECT_FALSE(request->setInput(0, pattern(tensorBytes - 1, 1)));
	EXPECT_FALSE(request->output(1));
	EXPECT_FALSE(request->outputElements(1));
	EXPECT_EQ(codeOf(request->wait()), ErrorCode::InvalidArgument);
}

TEST(Request, FutureCallbackAndWaitAgree)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	auto request = Request::create(*network);
	ASSERT_TRUE(request);
	std::promise<Result<RunReport>> called;

	ASSERT_TRUE(request->submit({}, [&](const auto &result) { called.set_value(result); }));
	const auto fromCallback = called.get_future().get();
	const auto fromWait = request->wait();
	ASSERT_TRUE(fromCallback && fromWait);
	EXPECT_EQ(fromCallback->duration, fromWait->duration);
	EXPECT_TRUE(request->runAsync().get());
}

/* Short ones in the loop's thread, long ones elsewhere, one behind the other and with the core's.
 */
TEST(Request, StepsOfTheCpuAreOfAnyLength)
{
	for (const uint32_t columns : { 1U, 70U, 500U }) {
		Graph graph;
		graph.input({ .name = "x", .type = DataType::Half, .c = 16, .h = 1, .w = columns });
		graph.add(op::Unary{ .name = "one", .input = "x", .output = "a", .shift = 1 });
		graph.add(op::Unary{ .name = "two", .input = "a", .output = "b", .scale = 2 });
		graph.add(op::Sdp{ .name = "copy", .input = "b", .output = "c" });
		graph.add(op::Unary{ .name = "three", .input = "c", .output = "y", .shift = -3 });
		graph.output("y");
		const auto loadable = graph.assemble();
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto network = Network::load(test::openDevice(), *loadable, { .slots = 2 });
		ASSERT_TRUE(network) << network.error().message();
		std::vector<Request> requests;
		std::vector<float> numbers(size_t{ 16 } * columns);
		for (int i = 0; i < 5; i++) {
			std::ranges::fill(numbers, static_cast<float>(i));
			requests.push_back(Request::create(*network).value());
			ASSERT_TRUE(requests.back().setInputFloat(0, numbers));
			ASSERT_TRUE(requests.back().submit());
		}
		for (int i = 0; i < 5; i++) {
			const auto report = requests[i].wait();
			ASSERT_TRUE(report) << report.error().message();
			EXPECT_GE(report->steps.size(), 3U);
			std::ranges::fill(numbers, static_cast<float>(2 * i - 1));
			EXPECT_EQ(requests[i].outputFloat(0).value(), numbers);
		}
		/* The same in the thread that waits. */
		std::ranges::fill(numbers, 8.0F);
		ASSERT_TRUE(requests[0].setInputFloat(0, numbers));
		const auto report = requests[0].run();
		ASSERT_TRUE(report) << report.error().message();
		EXPECT_GE(report->steps.size(), 3U);
		std::ranges::fill(numbers, 15.0F);
		EXPECT_EQ(requests[0].outputFloat(0).value(), numbers);
	}
}

TEST(Request, ReportsTimesAndCountersOfOperations)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	auto request = Request::create(*network);
	ASSERT_TRUE(request);
	const auto plain = request->run();
	const auto counted = request->run({ .statistics = true });
	ASSERT_TRUE(plain && counted);

	ASSERT_EQ(counted->steps.size(), 1u);
	const RunReport::Step &step = counted->steps[0];
	EXPECT_EQ(step.job.numCompleted, 1u);
	EXPECT_GE(counted->duration, step.duration);
	ASSERT_EQ(step.results.size(), 1u);
	EXPECT_EQ(step.results[0].engine, static_cast<uint32_t>(NVDLA_OP_BDMA));
	EXPECT_LE(step.results[0].startNs, step.results[0].endNs);
	EXPECT_TRUE(step.results[0].counted);
	EXPECT_FALSE(plain->steps[0].results[0].counted);
}

/* The device has its next job before it is done with the last one. */
TEST(Request, RunsArePipelined)
{
	Gated gated({ .slots = 2 });
	auto requests = gated.requests(3);

	for (Request &request : requests)
		ASSERT_TRUE(request.submit());
	gated.gate->waitHeld(2);
	for (Request &request : requests)
		EXPECT_TRUE(request.inFlight());
	gated.gate->release();
	for (unsigned i = 0; i < requests.size(); i++) {
		EXPECT_TRUE(requests[i].wait());
		EXPECT_TRUE(outputIs(requests[i], i));
	}
}

TEST(Request, WhatIsInFlightIsNotTouched)
{
	Gated gated;
	auto requests = gated.requests(1);
	ASSERT_TRUE(requests[0].submit());
	gated.gate->waitHeld(1);

	EXPECT_EQ(requests[0].submit().error().code, ErrorCode::Busy);
	EXPECT_EQ(requests[0].setInput(0, pattern(tensorBytes, 7)).error().code, ErrorCode::Busy);
	EXPECT_EQ(requests[0].output(0).error().code, ErrorCode::Busy);
	EXPECT_EQ(codeOf(requests[0].wait(0ms)), ErrorCode::Timeout);
	gated.gate->release();
	EXPECT_TRUE(requests[0].wait());
	EXPECT_TRUE(outputIs(requests[0], 0));
}

TEST(Request, HigherPriorityLeavesTheQueueFirst)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(5);
	const Priority priorities[] = { Priority::Normal, Priority::Low, Priority::Normal,
					Priority::High, Priority::Normal };
	std::vector<unsigned> order;

	for (unsigned i = 0; i < requests.size(); i++) {
		ASSERT_TRUE(requests[i].submit({ .priority = priorities[i] },
					       [&order, i](const auto &) { order.push_back(i); }));
		if (i == 0)
			gated.gate->waitHeld(1);
	}
	gated.gate->release();
	{
		/* All callbacks have been called when the network is gone, but none is cancelled.
		 */
		for (Request &request : requests)
			EXPECT_TRUE(request.wait());
		const Network gone = std::move(gated.network);
	}
	EXPECT_EQ(order, (std::vector<unsigned>{ 0, 3, 2, 4, 1 }));
}

TEST(Request, PriorityTheDeviceDoesNotHaveIsRefused)
{
	Gated gated;
	auto requests = gated.requests(1);
	auto refused = requests[0].submit({ .priority = static_cast<Priority>(5) });
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
	EXPECT_FALSE(requests[0].inFlight());
}

TEST(Request, OneThatWaitsIsCancelledAtOnce)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(3);
	for (Request &request : requests)
		ASSERT_TRUE(request.submit());

	requests[1].cancel();
	EXPECT_EQ(codeOf(requests[1].wait()), ErrorCode::Cancelled);
	gated.gate->waitHeld(1);
	gated.gate->release();
	EXPECT_TRUE(requests[0].wait());
	EXPECT_TRUE(requests[2].wait());

	/* It can be run again; cancelling what is done changes nothing. */
	requests[1].cancel();
	EXPECT_TRUE(requests[1].run());
	EXPECT_TRUE(outputIs(requests[1], 1));
}

TEST(Request, OneThatRunsIsCancelledWhenItsJobEnds)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(2);
	for (Request &request : requests)
		ASSERT_TRUE(request.submit());
	gated.gate->waitHeld(1);

	requests[0].cancel();
	/* Messages keep their order: when this one is gone, the first is known to the loop. */
	requests[1].cancel();
	EXPECT_EQ(codeOf(requests[1].wait()), ErrorCode::Cancelled);
	EXPECT_TRUE(requests[0].inFlight());
	gated.gate->release();
	EXPECT_EQ(codeOf(requests[0].wait()), ErrorCode::Cancelled);
}

TEST(Request, RunWithASlotIsInItsOwnThread)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(2);
	gated.gate->release();

	for (unsigned i = 0; i < 2; i++) {
		const auto report = requests[i].run();
		ASSERT_TRUE(report) << report.error().message();
		EXPECT_EQ(report->steps.size(), 1U);
		EXPECT_GT(report->duration.count(), 0);
		EXPECT_TRUE(outputIs(requests[i], i));
	}
	EXPECT_EQ(gated.gate->watched(), 0U);
	ASSERT_TRUE(requests[0].submit());
	EXPECT_TRUE(requests[0].wait());
	EXPECT_EQ(gated.gate->watched(), 1U);
	EXPECT_TRUE(requests[1].run());
	EXPECT_EQ(gated.gate->watched(), 1U);
}

TEST(Request, RunInItsOwnThreadIsCancelledWhenItsJobEnds)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(2);
	std::thread runs([&] { EXPECT_EQ(codeOf(requests[0].run()), ErrorCode::Cancelled); });
	gated.gate->waitHeld(1);
	ASSERT_TRUE(requests[1].submit());

	requests[0].cancel();
	/* Messages keep their order: when this one is gone, the first is known to the loop. */
	requests[1].cancel();
	EXPECT_EQ(codeOf(requests[1].wait()), ErrorCode::Cancelled);
	EXPECT_TRUE(requests[0].inFlight());
	gated.gate->release();
	runs.join();
	EXPECT_FALSE(requests[0].inFlight());
	EXPECT_TRUE(requests[0].run());
}

TEST(Request, SlotOfARunInItsOwnThreadIsTheNextOnes)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(4);
	std::thread runs([&] { EXPECT_TRUE(requests[0].run()); });
	gated.gate->waitHeld(1);

	ASSERT_TRUE(requests[1].submit());
	/* Who comes later waits for his turn, though he would wait anyway. */
	std::thread late([&] { EXPECT_TRUE(requests[2].run()); });
	ASSERT_TRUE(requests[3].submit());
	gated.gate->release();
	runs.join();
	late.join();
	for (unsigned i = 0; i < 4; i++) {
		EXPECT_TRUE(requests[i].wait());
		EXPECT_TRUE(outputIs(requests[i], i));
	}
}

TEST(Request, RunInItsOwnThreadIsToldOfDeviceLoss)
{
	Gated gated({ .slots = 1 });
	auto requests = gated.requests(1);
	std::thread runs([&] { EXPECT_EQ(codeOf(requests[0].run()), ErrorCode::DeviceLost); });

	gated.gate->waitHeld(1);
	gated.gate->lose();
	runs.join();
}

TEST(Request, NetworkThatGoesCancelsRunsInTheirOwnThreads)
{
	std::vector<Request> requests;
	std::thread runs;
	{
		Gated gated({ .slots = 1 });
		requests = gated.requests(2);
		runs = std::thread(
			[&] { EXPECT_EQ(codeOf(requests[0].run()), ErrorCode::Cancelled); });
		gated.gate->waitHeld(1);
		ASSERT_TRUE(requests[1].submit());
		std::thread later([gate = gated.gate, &requests] {
			/* It waits, so it goes at once and says that the end has begun. */
			EXPECT_EQ(codeOf(requests[1].wait()), ErrorCode::Cancelled);
			gate->release();
		});
		{
			const Network gone = std::move(gated.network);
		}
		later.join();
	}
	runs.join();
	EXPECT_EQ(codeOf(requests[0].run()), ErrorCode::InvalidArgument);
}

TEST(Request, FullQueueIsBusyOrWaits)
{
	Gated gated({ .slots = 1, .maxQueued = 2 });
	auto requests = gated.requests(4);
	ASSERT_TRUE(requests[0].submit());
	gated.gate->waitHeld(1);
	ASSERT_TRUE(requests[1].submit());
	ASSERT_TRUE(requests[2].submit());

	auto full = requests[3].submit({ .whenFull = WhenFull::Busy });
	ASSERT_FALSE(full);
	EXPECT_EQ(full.error().code, ErrorCode::Busy);
	EXPECT_FALSE(requests[3].inFlight());

	std::thread waits([&] { EXPECT_TRUE(requests[3].submit()); });
	gated.gate->release();
	waits.join();
	for (Request &request : requests)
		EXPECT_TRUE(request.wait());
}

TEST(Request, DeviceLossIsToldToEverybody)
{
	Gated gated({ .slots = 2 });
	auto requests = gated.requests(20);
	std::atomic<unsigned> called = 0;
	for (Request &request : requests)
		ASSERT_TRUE(request.submit({}, [&](const auto &) { called++; }));
	gated.gate->waitHeld(2);

	gated.gate->lose();
	for (Request &request : requests) {
		const auto result = request.wait();
		EXPECT_EQ(codeOf(result), ErrorCode::DeviceLost);
		EXPECT_FALSE(result.error().message().empty());
	}
	{
		const Network gone = std::move(gated.network);
	}
	EXPECT_EQ(called, requests.size());
}

TEST(Request, NetworkThatGoesCancelsItsRequests)
{
	std::vector<Request> requests;
	std::atomic<unsigned> done = 0;
	std::atomic<unsigned> cancelled = 0;
	{
		Gated gated({ .slots = 2 });
		requests = gated.requests(10);
		for (Request &request : requests)
			ASSERT_TRUE(request.submit({}, [&](const Result<RunReport> &result) {
				const bool ended =
					!result && result.error().code == ErrorCode::Cancelled;
				ended ? cancelled++ : done++;
			}));
		gated.gate->waitHeld(2);
		std::thread later([gate = gated.gate, &requests] {
			/* The last one waits, so it goes at once and says that the end has begun.
			 */
			EXPECT_EQ(codeOf(requests.back().wait()), ErrorCode::Cancelled);
			gate->release();
		});
		{
			const Network gone = std::move(gated.network);
		}
		later.join();
	}
	EXPECT_EQ(cancelled, 10u);
	EXPECT_EQ(done, 0u);
	for (Request &request : requests) {
		EXPECT_EQ(codeOf(request.wait()), ErrorCode::Cancelled);
		EXPECT_EQ(request.submit().error().code, ErrorCode::InvalidArgument);
	}
}

TEST(Request, CallbackComesThoughTheRequestIsGone)
{
	Gated gated;
	std::promise<ErrorCode> called;
	{
		auto requests = gated.requests(1);
		ASSERT_TRUE(requests[0].submit(
			{}, [&](const auto &result) { called.set_value(codeOf(result)); }));
		gated.gate->waitHeld(1);
	}
	gated.gate->release();
	EXPECT_EQ(called.get_future().get(), ErrorCode::Cancelled);
}

TEST(Request, CallbackMayRunItAgainButNotWait)
{
	auto network = Network::load(test::openDevice(), test::passLoadable(channels, width));
	auto request = Request::create(*network);
	ASSERT_TRUE(request);
	constexpr unsigned runs = 500;
	unsigned left = runs;
	std::promise<void> finished;
	Request::Callback again = [&](const Result<RunReport> &result) {
		EXPECT_TRUE(result);
		EXPECT_EQ(codeOf(request->run()), ErrorCode::InvalidArgument);
		if (!--left)
			return finished.set_value();
		EXPECT_TRUE(request->submit({}, again));
	};

	ASSERT_TRUE(request->submit({}, again));
	finished.get_future().wait();
	EXPECT_EQ(left, 0u);
}

TEST(Request, CallbackMayEndTheNetwork)
{
	auto network = std::make_unique<Network>(
		Network::load(test::openDevice(), test::passLoadable(channels, width)).value());
	auto request = Request::create(*network);
	auto other = Request::create(*network);
	ASSERT_TRUE(request && other);
	std::promise<void> gone;

	ASSERT_TRUE(request->submit({}, [&](const auto &) {
		network.reset();
		gone.set_value();
	}));
	gone.get_future().wait();
	EXPECT_FALSE(other->submit());
}

/* Each of them is done at once, in the loop's thread: none is on top of another on its stack. */
TEST(Request, AnyNumberOfShortCpuTasks)
{
	constexpr size_t tasks = 20000;
	test::LoadableBuilder builder;
	const EmuBufferDesc cube = { .address = 1,
				     .size = 32,
				     .format = EmuFormatInt8,
				     .width = 1,
				     .height = 1,
				     .channel = 1,
				     .line_stride = 32,
				     .surf_stride = 32 };
	const EmuBufferPair<EmuBufferDesc> pair = { .src_data = cube, .dst_data = cube };
	EmuOperationDesc operation = { .in_scale = 1, .out_scale = 1 };
	operation.power.power = operation.power.scale = 1;
	const uint16_t network = builder.content(
		"network", test::bytesOf(EmuNetworkDesc{ 2, 3, 1 }), Interface::Emu1);
	const uint16_t data = builder.tensor(
		TensorDesc::packedFeature("x", DataType::Int8, 1, 1, 1), MemoryOutput);
	for (size_t i = 0; i < tasks; i++) {
		const auto name = std::to_string(i);
		const uint16_t operations = builder.content(
			"operation" + name, test::bytesOf(operation), Interface::Emu1);
		const uint16_t buffers =
			builder.content("buffers" + name, test::bytesOf(pair), Interface::Emu1);
		builder.task(Interface::Emu1, { network, data, operations, buffers });
	}

	auto loaded = Network::load(test::openDevice(), builder.loadable);
	ASSERT_TRUE(loaded) << loaded.error().message();
	Request request = Request::create(*loaded).value();
	ASSERT_TRUE(request.submit());
	const auto done = request.wait();
	ASSERT_TRUE(done) << done.error().message();
	EXPECT_EQ(done->steps.size(), tasks);
}

TEST(Request, ExceptionOfACallbackEndsThere)
{
	Gated gated;
	auto requests = gated.requests(2);

	ASSERT_TRUE(requests[0].submit({}, [](const auto &) { throw std::runtime_error("mine"); }));
	ASSERT_TRUE(requests[1].submit());
	gated.gate->release();
	EXPECT_TRUE(requests[0].wait());
	EXPECT_TRUE(requests[1].wait());
}

} /* namespace nvdla::request_test */

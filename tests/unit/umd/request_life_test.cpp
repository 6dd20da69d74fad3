/* SPDX-License-Identifier: MIT */
/*
 * Requests that end early or late, and what is left behind them.
 */
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <nvdla/nvdla.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate_device.h"
#include "test_support.h"

namespace nvdla::request_life_test
{

namespace
{

using namespace std::chrono_literals;
using test::GateDevice;
using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 4;
constexpr size_t tensorBytes = channels * width;

Network passNetwork(const Device &device, const LoadOptions &options = {})
{
	return Network::load(device, test::passLoadable(channels, width), options).value();
}

/* A network that copies by way of a memory of \a bytes on the chip. */
Loadable onChipLoadable(uint64_t bytes)
{
	test::LoadableBuilder builder;
	test::DlaDescriptors task;
	TensorDesc desc = TensorDesc::packedFeature("in", DataType::Int8, channels, 1, width);

	/* From address 1 to 3 on the chip, and from there to 2. */
	for (const auto &[from, to] : { std::pair<int16_t, int16_t>{ 1, 3 }, { 3, 2 } }) {
		nvdla_operation_desc operation = {};
		nvdla_surface_desc surface = {};
		nvdla_bdma_transfer &transfer = surface.bdma.transfers[0];
		operation.bdma.num_transfers = surface.bdma.num_transfers = 1;
		surface.bdma.src_type = from == 3 ? NVDLA_MEM_CV : NVDLA_MEM_MC;
		surface.bdma.dst_type = to == 3 ? NVDLA_MEM_CV : NVDLA_MEM_MC;
		transfer.src_address = from;
		transfer.dst_address = to;
		transfer.line_size = tensorBytes;
		transfer.line_repeat = transfer.surf_repeat = 1;
		task.graph.push_back(test::graphNode(NVDLA_OP_BDMA));
		task.operations.push_back(operation);
		task.surfaces.push_back(surface);
	}
	task.graph[0].consumers[NVDLA_OP_BDMA] = { 1, NVDLA_EVENT_OP_COMPLETED, 0 };

	const uint16_t in = builder.tensor(desc, MemoryInput);
	desc.name = "out";
	const uint16_t out = builder.tensor(desc, MemoryOutput);
	const uint16_t middle = builder.memory(bytes);
	builder.loadable.memories.back().domain = MemoryDomain::Sram;
	task.addTo(builder, { in, out, middle });
	return builder.loadable;
}

/* The child's exit status: 0, or the number of what was not as it should be. */
int inChild(Device device, Network network)
{
	auto isTold = [](const auto &result) {
		return !result && test::has(result.error().message(), "after fork() a child opens");
	};

	if (!isTold(network.run()))
		return 1;
	if (!isTold(device.allocate(64)) || !isTold(device.createJob()))
		return 2;
	if (!isTold(Network::load(device, test::passLoadable(channels, width))))
		return 3;
	{
		const Network gone = std::move(network);
	}
#ifndef __SANITIZE_THREAD__ /* which dies when a child makes threads */
	const auto own = Device::open(test::devicePath());
	if (!own)
		return 4;
	if (!passNetwork(*own).run())
		return 5;
#endif
	return 0;
}

} /* namespace */

TEST(RequestLife, OneThatWaitsForRoomIsCancelled)
{
	auto gate = GateDevice::open();
	Network network = passNetwork(*Device::open(gate), { .slots = 1, .maxQueued = 1 });
	Request running = Request::create(network).value();
	Request queued = Request::create(network).value();
	Request late = Request::create(network).value();
	gate->close();
	ASSERT_TRUE(running.submit());
	gate->waitHeld(1);
	ASSERT_TRUE(queued.submit());

	Result<void> submitted;
	std::atomic<bool> ended = false;
	std::thread waits([&] {
		submitted = late.submit({}, [](const auto &) { ADD_FAILURE(); });
		ended = true;
	});
	/* Whether it waits already or is yet to come, cancel() meets it in the end. */
	while (!ended) {
		late.cancel();
		std::this_thread::yield();
	}
	waits.join();
	ASSERT_FALSE(submitted);
	EXPECT_EQ(submitted.error().code, ErrorCode::Cancelled);
	EXPECT_FALSE(late.inFlight());
	gate->release();
	EXPECT_TRUE(running.wait());
	EXPECT_TRUE(queued.wait());
	EXPECT_TRUE(late.run());
}

/* For ThreadSanitizer; and every run ends in one way or the other. */
TEST(RequestLife, CancelMeetsSubmitAnywhere)
{
	Network network = passNetwork(test::openDevice());
	Request request = Request::create(network).value();
	std::atomic<bool> stop = false;
	std::thread canceller([&] {
		while (!stop)
			request.cancel();
	});

	for (int i = 0; i < 300; i++) {
		const auto result = request.run();
		if (!result) {
			EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
		}
	}
	stop = true;
	canceller.join();
	EXPECT_TRUE(request.run());
}

TEST(RequestLife, LongestTimeIsLong)
{
	auto gate = GateDevice::open();
	Network network = passNetwork(*Device::open(gate));
	Request request = Request::create(network).value();
	gate->close();
	ASSERT_TRUE(request.submit());
	gate->waitHeld(1);
	std::thread later([&] { gate->release(); });
	EXPECT_TRUE(request.wait(std::chrono::milliseconds(std::numeric_limits<int64_t>::max())));
	later.join();
}

/* What keeps a device busy or its memory taken goes with the network. */
TEST(RequestLife, RequestDoesNotKeepTheDevice)
{
	auto gate = GateDevice::open();
	const std::weak_ptr<GateDevice> device = gate;
	std::optional<Request> request;
	{
		Network network = passNetwork(*Device::open(std::move(gate)));
		request = Request::create(network).value();
		EXPECT_TRUE(request->run());
	}
	EXPECT_TRUE(device.expired());
	EXPECT_TRUE(request->output(0));
	EXPECT_TRUE(request->setInput(0, pattern(tensorBytes, 1)));
	const auto refused = request->submit();
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().where, "gate");
	EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
}

/* Four slots take all of the chip's memory; at rest the network has one of them. */
TEST(RequestLife, OnChipMemoryIsGivenBack)
{
	std::mutex lock;
	std::vector<std::string> warnings;
	const auto opened =
		Device::open(test::devicePath(), [&](LogLevel level, const std::string &message) {
			const std::lock_guard guard(lock);
			if (level == LogLevel::Warning)
				warnings.push_back(message);
		});
	ASSERT_TRUE(opened) << opened.error().message();
	const Device &device = *opened;
	const uint64_t quarter = device.info().onChipBytes / 4;
	if (!quarter)
		GTEST_SKIP() << "no on-chip memory";
	const Loadable loadable = onChipLoadable(quarter);
	auto network = Network::load(device, loadable, { .slots = 5 });
	ASSERT_TRUE(network) << network.error().message();
	std::vector<Request> requests;

	for (unsigned i = 0; i < 8; i++) {
		requests.push_back(Request::create(*network).value());
		ASSERT_TRUE(requests[i].setInput(0, pattern(tensorBytes, i)));
	}
	for (Request &request : requests)
		ASSERT_TRUE(request.submit());
	for (unsigned i = 0; i < 8; i++) {
		ASSERT_TRUE(requests[i].wait());
		const auto expected = pattern(tensorBytes, i);
		const auto output = requests[i].output(0);
		ASSERT_TRUE(output);
		EXPECT_TRUE(std::equal(output->begin(), output->end(), expected.begin()));
	}
	/* The loop gives back behind the last callback: a run of another network comes later. */
	EXPECT_TRUE(passNetwork(device).run());
	auto other = Network::load(device, onChipLoadable(3 * quarter));
	EXPECT_TRUE(other) << other.error().message();
	const std::lock_guard guard(lock);
	ASSERT_EQ(warnings.size(), 1u);
	EXPECT_NE(warnings[0].find("runs at once instead of 5"), std::string::npos) << warnings[0];
}

/* Blocked for the library, not for the application: SIGTERM ends in a thread of its own. */
TEST(RequestLife, ThreadsBlockSignals)
{
	const Device device = test::openDevice();
	const EventLoop loop = EventLoop::create().value();
	Network network = passNetwork(device, { .loop = loop });
	ASSERT_TRUE(network.run());
	unsigned blocked = 0;
	unsigned others = 0;

	for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
		if (std::stoi(task.path().filename()) == getpid())
			continue;
		std::ifstream status(task.path() / "status");
		for (std::string line; std::getline(status, line);) {
			if (!line.starts_with("SigBlk:"))
				continue;
			const auto mask = std::stoull(line.substr(8), nullptr, 16);
			(mask >> (SIGTERM - 1) & 1 ? blocked : others)++;
		}
	}
	EXPECT_GT(blocked, 0U);
	EXPECT_EQ(others, 0U);
	sigset_t own;
	ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &own), 0);
	EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

class RequestLifeInC : public testing::Test
{
protected:
	void SetUp() override
	{
		const auto bytes = test::passLoadable(channels, width).write();
		ASSERT_TRUE(bytes);
		ASSERT_EQ(nvdla_device_open(test::devicePath().c_str(), &device), NVDLA_STATUS_OK);
		ASSERT_EQ(nvdla_network_load(device, bytes->data(), bytes->size(), &network),
			  NVDLA_STATUS_OK);
		ASSERT_EQ(nvdla_request_create(network, &request), NVDLA_STATUS_OK);
	}
	~RequestLifeInC() override
	{
		nvdla_request_free(request);
		nvdla_network_free(network);
		nvdla_device_free(device);
	}

	nvdla_device *device = nullptr;
	nvdla_network *network = nullptr;
	nvdla_request *request = nullptr;
};

TEST_F(RequestLifeInC, PriorityThatIsNoneIsRefused)
{
	for (const int32_t priority : { 2, 31, 32, 1000, -2, INT32_MAX, INT32_MIN }) {
		nvdla_run_options options = { .size = sizeof(options) };
		options.priority = priority;
		EXPECT_EQ(nvdla_request_run(request, &options), NVDLA_STATUS_UNSUPPORTED)
			<< priority;
	}
	EXPECT_EQ(nvdla_request_run(request, nullptr), NVDLA_STATUS_OK);
	EXPECT_EQ(nvdla_request_wait(request, INT64_MAX), NVDLA_STATUS_OK);
}

/* A callback has the request until it returns, though wait() has returned before. */
TEST_F(RequestLifeInC, FreeWaitsForTheCallback)
{
	struct Seen {
		std::promise<void> begun;
		std::shared_future<void> goOn;
		std::atomic<bool> freed = false;
		std::atomic<bool> ended = false;
	} seen;
	std::promise<void> goOn;
	seen.goOn = goOn.get_future().share();

	ASSERT_EQ(nvdla_request_submit(
			  request, nullptr,
			  [](nvdla_request *given, nvdla_status, const char *, void *context) {
				  auto &at = *static_cast<Seen *>(context);
				  EXPECT_NE(given, nullptr);
				  at.begun.set_value();
				  at.goOn.wait();
				  EXPECT_FALSE(at.freed);
				  /* Sanitizers see whether it is there. */
				  nvdla_request_cancel(given);
				  at.ended = true;
			  },
			  &seen),
		  NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_request_wait(request, -1), NVDLA_STATUS_OK);
	seen.begun.get_future().wait();
	std::thread frees([&] {
		nvdla_request_free(request);
		EXPECT_TRUE(seen.ended);
		seen.freed = true;
	});
	goOn.set_value();
	frees.join();
	request = nullptr;
}

/* It used to wait for its parent's threads. */
TEST(Fork, AChildIsToldAndOpensItsOwn)
{
	const Device device = Device::open(test::devicePath()).value();
	Network network = passNetwork(device);
	ASSERT_TRUE(network.run());

	const pid_t child = fork();
	ASSERT_GE(child, 0);
	if (child == 0) {
		alarm(120); /* ends what hangs */
		_exit(inChild(device, std::move(network)));
	}
	int status = -1;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
	EXPECT_EQ(WEXITSTATUS(status), 0);
	EXPECT_TRUE(network.run()) << "the parent goes on";
}

} /* namespace nvdla::request_life_test */

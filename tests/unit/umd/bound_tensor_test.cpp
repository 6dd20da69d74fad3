/* SPDX-License-Identifier: MIT */
/*
 * Tensors in buffers of the application's.
 */
#include <algorithm>

#include <gtest/gtest.h>
#include <nvdla/network.h>

#include "gate_device.h"
#include "test_support.h"

namespace nvdla::bound_tensor_test
{

namespace
{

using namespace std::chrono_literals;
using test::openDevice;
using test::pattern;

constexpr uint32_t channels = 32;
constexpr uint32_t width = 3;
constexpr size_t tensorBytes = channels * width;

void fill(const Buffer &buffer, std::span<const std::byte> data, size_t offset = 0)
{
	auto access = buffer.access(CpuAccess::Write, 10s);
	ASSERT_TRUE(access) << access.error().message();
	std::copy(data.begin(), data.end(),
		  access->bytes().begin() + static_cast<ptrdiff_t>(offset));
}

std::vector<std::byte> bytesOf(const Buffer &buffer, size_t offset, size_t size)
{
	auto access = buffer.access(CpuAccess::Read, 10s);
	EXPECT_TRUE(access) << access.error().message();
	const auto bytes = access->bytes().subspan(offset, size);
	return { bytes.begin(), bytes.end() };
}

/* A network that copies, one request of it, and a buffer. */
struct Bench {
	Device device = openDevice();
	Network network =
		Network::load(device, test::passLoadable(channels, width), { .slots = 1 }).value();
	Request request = Request::create(network).value();
	Buffer buffer = device.allocate(4096).value();
};

void expectRefused(const Result<void> &result, ErrorCode code, const std::string &word)
{
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, code) << result.error().message();
	EXPECT_NE(result.error().message().find(word), std::string::npos)
		<< result.error().message();
}

} /* namespace */

TEST(BoundTensor, IsReadAndWrittenInPlace)
{
	Bench bench;
	const std::vector<std::byte> background(4096, std::byte{ 0xa5 });
	fill(bench.buffer, background);
	fill(bench.buffer, pattern(tensorBytes, 1), 32);
	ASSERT_TRUE(bench.request.bindInput(0, { bench.buffer, 32 }));
	ASSERT_TRUE(bench.request.bindOutput(0, { bench.buffer, 1024 }));
	ASSERT_TRUE(bench.request.run());

	auto expected = background;
	std::ranges::copy(pattern(tensorBytes, 1), expected.begin() + 32);
	std::ranges::copy(pattern(tensorBytes, 1), expected.begin() + 1024);
	EXPECT_EQ(bytesOf(bench.buffer, 0, 4096), expected);
}

TEST(BoundTensor, MayBeOneOfTwo)
{
	Bench bench;
	ASSERT_TRUE(bench.request.setInput(0, pattern(tensorBytes, 2)));
	ASSERT_TRUE(bench.request.bindOutput(0, { bench.buffer }));
	ASSERT_TRUE(bench.request.run());
	EXPECT_EQ(bytesOf(bench.buffer, 0, tensorBytes), pattern(tensorBytes, 2));

	ASSERT_TRUE(bench.request.unbindOutput(0));
	fill(bench.buffer, pattern(tensorBytes, 3));
	ASSERT_TRUE(bench.request.bindInput(0, { bench.buffer }));
	ASSERT_TRUE(bench.request.run());
	EXPECT_TRUE(std::ranges::equal(*bench.request.output(0), pattern(tensorBytes, 3)));

	/* What was set is still there, and other requests never knew of the buffer. */
	ASSERT_TRUE(bench.request.unbindInput(0));
	ASSERT_TRUE(bench.request.run());
	EXPECT_TRUE(std::ranges::equal(*bench.request.output(0), pattern(tensorBytes, 2)));
	auto other = Request::create(bench.network);
	ASSERT_TRUE(other->setInput(0, pattern(tensorBytes, 4)));
	ASSERT_TRUE(other->run());
	EXPECT_TRUE(std::ranges::equal(*other->output(0), pattern(tensorBytes, 4)));
	EXPECT_EQ(bytesOf(bench.buffer, 0, tensorBytes), pattern(tensorBytes, 3));
}

/* Jobs that use a buffer run in the order in which they were submitted. */
TEST(BoundTensor, ChainOfNetworksNeedsNoWaiting)
{
	constexpr unsigned links = 8;
	Bench bench;
	std::vector<Network> networks;
	std::vector<Request> requests;
	std::vector<Buffer> buffers{ bench.buffer };
	for (unsigned i = 0; i < links; i++) {
		networks.push_back(
			Network::load(bench.device, test::passLoadable(channels, width)).value());
		requests.push_back(Request::create(networks[i]).value());
		buffers.push_back(bench.device.allocate(tensorBytes).value());
		const TensorDesc &before = networks[i ? i - 1 : 0].outputs()[0];
		ASSERT_TRUE(requests[i].bindInput(0, { buffers[i], 0, before }));
		ASSERT_TRUE(requests[i].bindOutput(0, { buffers[i + 1] }));
	}
	for (unsigned round = 0; round < 20; round++) {
		fill(bench.buffer, pattern(tensorBytes, round));
		for (Request &request : requests)
			ASSERT_TRUE(request.submit());
		ASSERT_TRUE(requests.back().wait());
		EXPECT_EQ(bytesOf(buffers.back(), 0, tensorBytes), pattern(tensorBytes, round));
		for (Request &request : requests)
			EXPECT_TRUE(request.wait());
	}
}

TEST(BoundTensor, KeepsItsBuffer)
{
	Bench bench;
	std::optional<Buffer> brief = bench.device.allocate(tensorBytes).value();
	fill(*brief, pattern(tensorBytes, 5));
	ASSERT_TRUE(bench.request.bindInput(0, { *brief }));
	brief.reset();
	/* A handle that was free would be given to this one. */
	const Buffer next = bench.device.allocate(tensorBytes).value();
	ASSERT_TRUE(bench.request.run());
	EXPECT_TRUE(std::ranges::equal(*bench.request.output(0), pattern(tensorBytes, 5)));
}

TEST(BoundTensor, PlaceIsChecked)
{
	Bench bench;
	const auto code = ErrorCode::InvalidArgument;
	Request &request = bench.request;
	const Buffer foreign = openDevice().allocate(4096).value();
	const Buffer exact = bench.device.allocate(tensorBytes).value();

	expectRefused(request.bindInput(1, { bench.buffer }), code, "input 1");
	expectRefused(request.bindOutput(1, { bench.buffer }), code, "output 1");
	expectRefused(request.bindInput(0, { bench.buffer, 16 }), code,
		      "16 is not a multiple of 32");
	expectRefused(request.bindInput(0, { bench.buffer, 4032 }), code,
		      "has 64 from offset 4032");
	expectRefused(request.bindOutput(0, { bench.buffer, 8192 }), code,
		      "has 0 from offset 8192");
	expectRefused(request.bindOutput(0, { exact, 32 }), code, "needs 96 bytes");
	expectRefused(request.bindOutput(0, { foreign }), code, "another open device");
	EXPECT_TRUE(request.bindOutput(0, { exact }));
}

TEST(BoundTensor, LayoutIsCompared)
{
	Bench bench;
	const TensorDesc right = bench.network.inputs()[0];
	auto refused = [&](const TensorDesc &layout, const char *word) {
		expectRefused(bench.request.bindInput(0, { bench.buffer, 0, layout }),
			      ErrorCode::InvalidArgument, word);
	};
	TensorDesc wrong = right;
	wrong.w++;
	refused(wrong, "it holds 1 x 32 x 1 x 4 int8, the tensor is 1 x 32 x 1 x 3 int8");
	wrong = right;
	wrong.type = DataType::Int16;
	refused(wrong, "int16");
	wrong = right;
	wrong.lineStride = 128;
	refused(wrong, "line stride is 128, the tensor's 96");
	wrong = right;
	wrong.format = PixelFormat::R8;
	refused(wrong, "pixel format");
	EXPECT_TRUE(bench.request.bindInput(0, { bench.buffer, 0, right }));

	/* Only what both say can differ. */
	wrong = right;
	wrong.quantization = Quantization{ 0.5 };
	EXPECT_TRUE(bench.request.bindInput(0, { bench.buffer, 0, wrong }));
	ASSERT_TRUE(bench.network.setInputQuantization(0, Quantization{ 0.25 }));
	refused(wrong, "another quantization");
	wrong.quantization = Quantization{ 0.25 };
	EXPECT_TRUE(bench.request.bindInput(0, { bench.buffer, 0, wrong }));
	wrong.quantization = {};
	EXPECT_TRUE(bench.request.bindInput(0, { bench.buffer, 0, wrong }));
}

TEST(BoundTensor, OutputHasItsBytesToItself)
{
	Bench bench;
	ASSERT_TRUE(bench.request.bindInput(0, { bench.buffer, 128 }));
	for (uint64_t offset : { 64, 128, 192 }) {
		ASSERT_TRUE(bench.request.bindOutput(0, { bench.buffer, offset }));
		expectRefused(bench.request.submit(), ErrorCode::InvalidArgument,
			      "another tensor is bound to");
		EXPECT_FALSE(bench.request.inFlight());
	}
	ASSERT_TRUE(bench.request.bindOutput(0, { bench.buffer, 128 + tensorBytes }));
	EXPECT_TRUE(bench.request.run());
}

TEST(BoundTensor, HasNoCopyInTheRequest)
{
	Bench bench;
	ASSERT_TRUE(bench.request.bindInput(0, { bench.buffer }));
	ASSERT_TRUE(bench.request.bindOutput(0, { bench.buffer, 1024 }));
	expectRefused(bench.request.setInput(0, pattern(tensorBytes, 1)),
		      ErrorCode::InvalidArgument, "unbindInput()");
	EXPECT_EQ(bench.request.output(0).error().code, ErrorCode::InvalidArgument);
	EXPECT_EQ(bench.request.outputElements(0).error().code, ErrorCode::InvalidArgument);
}

TEST(BoundTensor, IsNotChangedInFlight)
{
	const auto gate = test::GateDevice::open();
	const Device device = Device::open(gate).value();
	auto network = Network::load(device, test::passLoadable(channels, width)).value();
	auto request = Request::create(network).value();
	const Buffer buffer = device.allocate(4096).value();
	gate->close();
	ASSERT_TRUE(request.submit());
	gate->waitHeld(1);

	expectRefused(request.bindInput(0, { buffer }), ErrorCode::Busy, "in flight");
	expectRefused(request.bindOutput(0, { buffer }), ErrorCode::Busy, "in flight");
	expectRefused(request.unbindInput(0), ErrorCode::Busy, "in flight");
	gate->release();
	EXPECT_TRUE(request.wait());
}

/* Replacing a memory would take along whatever else is in it. */
TEST(BoundTensor, MemoryOfItsOwnIsNeeded)
{
	const Device device = openDevice();
	const Buffer buffer = device.allocate(4096).value();
	auto refused = [&](const Loadable &loadable, bool input, const char *word) {
		auto network = Network::load(device, loadable);
		ASSERT_TRUE(network) << network.error().message();
		auto request = Request::create(*network).value();
		expectRefused(input ? request.bindInput(0, { buffer })
				    : request.bindOutput(0, { buffer }),
			      ErrorCode::Unsupported, word);
	};

	/* "in" and "out" are the first memories and addresses. */
	Loadable contents = test::passLoadable(channels, width);
	contents.memories[1].contents.push_back({ contents.blobs.back().name, 0 });
	contents.memories[1].size =
		std::max<uint64_t>(tensorBytes, contents.blobs.back().data.size());
	refused(contents, false, "contents from the loadable");

	Loadable inPlace = test::passLoadable(channels, width);
	for (Task &task : inPlace.tasks)
		std::ranges::replace(task.addressList, uint16_t{ 1 }, uint16_t{ 0 });
	refused(inPlace, true, "writes into this input");
}

} /* namespace nvdla::bound_tensor_test */

/* SPDX-License-Identifier: MIT */
/*
 * Memory of other drivers as inputs and outputs of requests: pages of processes (udmabuf) and
 * buffers of another DRM device (vgem). The embedded device takes neither.
 */
#include <algorithm>

#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <nvdla/network.h>

#include "dma_buf.h"
#include "edge_network.h"
#include "test_support.h"

namespace nvdla::foreign_memory_test
{

namespace
{

using namespace std::chrono_literals;
using test::pattern;
using Bytes = std::vector<std::byte>;

constexpr uint32_t channels = 32;
constexpr size_t pageBytes = 4096;

/* The CPU's view of a dma-buf. */
class View
{
public:
	View(const test::DmaBuf &dmaBuf, size_t size) : dmaBuf_(dmaBuf), map_(dmaBuf.fd(), size)
	{
		EXPECT_TRUE(map_.valid());
	}

	void write(size_t offset, const Bytes &data) const
	{
		EXPECT_EQ(dmaBuf_.sync(DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE), 0);
		std::ranges::copy(data, std::as_writable_bytes(map_.bytes()).begin() +
						static_cast<ptrdiff_t>(offset));
		EXPECT_EQ(dmaBuf_.sync(DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE), 0);
	}

	Bytes read(size_t offset, size_t size) const
	{
		EXPECT_EQ(dmaBuf_.sync(DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
		const auto part = std::as_bytes(map_.bytes()).subspan(offset, size);
		Bytes data(part.begin(), part.end());
		EXPECT_EQ(dmaBuf_.sync(DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ), 0);
		return data;
	}

private:
	const test::DmaBuf &dmaBuf_;
	test::Mapping map_;
};

class ForeignMemory : public testing::Test
{
protected:
	void SetUp() override
	{
		if (test::devicePath() == Device::embeddedPath)
			GTEST_SKIP() << "needs a device of the driver: set NVDLA_DEVICE";
		device_ = test::openDevice();
		anyMemory_ = test::hasIommu(test::devicePath());
	}

	/* Memory of any size is one range for the device, or it is a page. */
	Result<Buffer> import(const test::DmaBuf &dmaBuf) const
	{
		EXPECT_TRUE(dmaBuf.valid());
		return device_->importDmaBuf(dmaBuf.fd());
	}

	std::optional<Device> device_;
	bool anyMemory_ = false;
};

void expectNotOneRange(const Result<Buffer> &imported, size_t bytes)
{
	ASSERT_FALSE(imported);
	EXPECT_EQ(imported.error().code, ErrorCode::InvalidArgument);
	for (const auto &word : { std::to_string(bytes) + " bytes", std::string("one range") })
		EXPECT_NE(imported.error().message().find(word), std::string::npos)
			<< imported.error().message();
}

} /* namespace */

TEST_F(ForeignMemory, OfAProcessIsReadAndWrittenInPlace)
{
	constexpr uint32_t width = pageBytes / 2 / channels;
	const test::DmaBuf dmaBuf = test::userMemory(pageBytes);
	const auto imported = import(dmaBuf);
	ASSERT_TRUE(imported) << imported.error().message();
	EXPECT_EQ(imported->size(), pageBytes);
	const View view(dmaBuf, pageBytes);
	auto network = Network::load(*device_, test::passLoadable(channels, width)).value();
	auto request = Request::create(network).value();
	ASSERT_TRUE(request.bindInput(0, { *imported }));
	ASSERT_TRUE(request.bindOutput(0, { *imported, pageBytes / 2 }));

	for (unsigned round = 0; round < 10; round++) {
		view.write(0, pattern(pageBytes / 2, round));
		auto report = request.run();
		ASSERT_TRUE(report) << report.error().message();
		ASSERT_EQ(view.read(pageBytes / 2, pageBytes / 2), pattern(pageBytes / 2, round));
		ASSERT_EQ(view.read(0, pageBytes / 2), pattern(pageBytes / 2, round));
	}
}

/* A network of all stages, its picture and its result in pages that lie anywhere. */
TEST_F(ForeignMemory, OfManyPagesNeedsAnIommu)
{
	auto network = Network::load(*device_, *examples::edgeNetwork({ 96, 96 })).value();
	const auto bytesOf = [](const TensorDesc &desc) {
		return (desc.size + pageBytes - 1) / pageBytes * pageBytes;
	};
	const size_t inBytes = bytesOf(network.inputs()[0]);
	const size_t outBytes = bytesOf(network.outputs()[0]);
	const test::DmaBuf in = test::userMemory(inBytes, test::Pages::Apart);
	const test::DmaBuf out = test::userMemory(outBytes, test::Pages::Apart);
	const auto source = import(in);
	const auto destination = import(out);
	if (!anyMemory_) {
		expectNotOneRange(source, inBytes);
		expectNotOneRange(destination, outBytes);
		return;
	}
	ASSERT_TRUE(source) << source.error().message();
	ASSERT_TRUE(destination) << destination.error().message();

	auto copied = Request::create(network).value();
	auto bound = Request::create(network).value();
	ASSERT_TRUE(bound.bindInput(0, { *source }));
	ASSERT_TRUE(bound.bindOutput(0, { *destination }));
	for (unsigned round = 0; round < 3; round++) {
		const Bytes picture = pattern(network.inputs()[0].size, round);
		View(in, inBytes).write(0, picture);
		ASSERT_TRUE(copied.setInput(0, picture));
		ASSERT_TRUE(bound.run());
		ASSERT_TRUE(copied.run());
		const auto expected = copied.output(0);
		ASSERT_TRUE(expected);
		EXPECT_TRUE(std::ranges::equal(*expected,
					       View(out, outBytes).read(0, expected->size())))
			<< "round " << round;
	}
}

/* What another driver still writes is not read: the request waits for its fence. */
TEST_F(ForeignMemory, OfAnotherDriverIsWaitedFor)
{
	constexpr uint32_t width = pageBytes / channels;
	const test::VirtualGem gem;
	if (!gem.valid())
		GTEST_SKIP() << "the kernel has no vgem";
	const uint32_t handle = gem.create(pageBytes);
	ASSERT_NE(handle, 0u);
	const test::DmaBuf dmaBuf = test::DmaBuf::exportOf(gem.fd(), handle);
	const auto imported = import(dmaBuf);
	ASSERT_TRUE(imported) << imported.error().message();
	const test::Mapping map(gem.fd(), pageBytes, static_cast<uint64_t>(gem.mmapOffset(handle)));
	ASSERT_TRUE(map.valid());
	auto network = Network::load(*device_, test::passLoadable(channels, width)).value();
	auto request = Request::create(network).value();
	ASSERT_TRUE(request.bindInput(0, { *imported }));

	const uint32_t fence = gem.beginWrite(handle);
	ASSERT_NE(fence, 0u);
	ASSERT_TRUE(request.submit());
	/* Only a job that has not begun can still see this. */
	std::ranges::copy(pattern(pageBytes, 1), std::as_writable_bytes(map.bytes()).begin());
	EXPECT_TRUE(request.inFlight());
	EXPECT_EQ(gem.signal(fence), 0);
	auto report = request.wait();
	ASSERT_TRUE(report) << report.error().message();
	EXPECT_TRUE(std::ranges::equal(*request.output(0), pattern(pageBytes, 1)));
	gem.close(handle);
}

} /* namespace nvdla::foreign_memory_test */

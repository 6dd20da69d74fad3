/* SPDX-License-Identifier: MIT */
/*
 * Buffers as dma-bufs.
 */
#include <algorithm>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <sys/mman.h>

#include "base/io/unique_fd.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using namespace std::chrono_literals;
using test::openDevice;
using test::pattern;

constexpr CpuAccess readWrite = CpuAccess::ReadWrite;

UniqueFd exported(const Buffer &buffer)
{
	auto fd = buffer.exportDmaBuf();
	EXPECT_TRUE(fd) << fd.error().message();
	return UniqueFd(fd.value_or(-1));
}

bool holds(const Buffer &buffer, const std::vector<std::byte> &data)
{
	auto access = buffer.access(readWrite, 10s);
	EXPECT_TRUE(access) << access.error().message();
	return access && std::ranges::equal(data, access->bytes().first(data.size()));
}

void fill(const Buffer &buffer, const std::vector<std::byte> &data)
{
	auto access = buffer.access(readWrite, 10s);
	ASSERT_TRUE(access) << access.error().message();
	std::ranges::copy(data, access->bytes().begin());
}

UniqueFd memfd(size_t size, int seals)
{
	UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
	EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
	return fd;
}

} /* namespace */

TEST(BufferSharing, OtherDeviceHasTheSameMemory)
{
	const Device first = openDevice();
	const Device second = openDevice();
	const Buffer buffer = first.allocate(5000).value();
	auto imported = second.importDmaBuf(exported(buffer).get());
	ASSERT_TRUE(imported) << imported.error().message();
	EXPECT_EQ(imported->size(), 8192u);

	fill(buffer, pattern(5000, 1));
	EXPECT_TRUE(holds(*imported, pattern(5000, 1)));
	fill(*imported, pattern(5000, 2));
	EXPECT_TRUE(holds(buffer, pattern(5000, 2)));
}

/* One application's picture is another one's input. */
TEST(BufferSharing, NetworkReadsAnotherDevicesMemory)
{
	const Device producer = openDevice();
	const Device consumer = openDevice();
	const Buffer made = producer.allocate(4096).value();
	auto network = Network::load(consumer, test::passLoadable(32, 4)).value();
	auto request = Request::create(network).value();
	{
		auto imported = consumer.importDmaBuf(exported(made).get());
		ASSERT_TRUE(imported) << imported.error().message();
		ASSERT_TRUE(request.bindInput(0, { *imported }));
		ASSERT_TRUE(request.bindOutput(0, { *imported, 1024 }));
	}
	fill(made, pattern(128, 3));
	ASSERT_TRUE(request.run());
	auto access = made.access(CpuAccess::Read, 10s);
	ASSERT_TRUE(access);
	EXPECT_TRUE(std::ranges::equal(pattern(128, 3), access->bytes().subspan(1024, 128)));
}

/* The same dma-buf is one handle, and whoever goes first does not close it for the others. */
TEST(BufferSharing, HandleBelongsToAllWhoImportedIt)
{
	const Device device = openDevice();
	std::optional<Buffer> own = device.allocate(4096).value();
	const UniqueFd fd = exported(*own);
	fill(*own, pattern(4096, 4));

	std::optional<Buffer> once = device.importDmaBuf(fd.get()).value();
	const Buffer twice = device.importDmaBuf(fd.get()).value();
	EXPECT_EQ(own->handle(), once->handle());
	EXPECT_EQ(own->handle(), twice.handle());
	once.reset();
	EXPECT_TRUE(holds(*own, pattern(4096, 4)));
	own.reset();
	EXPECT_TRUE(holds(twice, pattern(4096, 4)));
}

TEST(BufferSharing, MemoryLivesAsLongAsItsFile)
{
	UniqueFd fd;
	{
		const Device device = openDevice();
		const Buffer buffer = device.allocate(4096).value();
		fill(buffer, pattern(4096, 5));
		fd = exported(buffer);
	}
	auto imported = openDevice().importDmaBuf(fd.get());
	ASSERT_TRUE(imported) << imported.error().message();
	EXPECT_TRUE(holds(*imported, pattern(4096, 5)));
}

TEST(BufferSharing, OnChipMemoryStays)
{
	const Device device = openDevice();
	const Buffer buffer = device.allocateOnChip(4096).value();
	auto fd = buffer.exportDmaBuf();
	ASSERT_FALSE(fd);
	EXPECT_EQ(fd.error().code, ErrorCode::Unsupported) << fd.error().message();
	auto access = buffer.access(readWrite, 0ms);
	ASSERT_FALSE(access);
	EXPECT_EQ(access.error().code, ErrorCode::Unsupported) << access.error().message();
}

TEST(BufferSharing, OtherFilesAreRefused)
{
	const Device device = openDevice();
	const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
	const UniqueFd shrinks = memfd(4096, F_SEAL_GROW);

	for (int fd : { -1, null.get(), shrinks.get() }) {
		auto imported = device.importDmaBuf(fd);
		ASSERT_FALSE(imported);
		EXPECT_EQ(imported.error().code, ErrorCode::InvalidArgument);
		EXPECT_NE(imported.error().where.find(std::to_string(fd)), std::string::npos);
	}
}

TEST(EmbeddedDevice, ImportsMemfds)
{
	const Device device = Device::open(Device::embeddedPath).value();
	const UniqueFd fd = memfd(8192, F_SEAL_SHRINK);
	const auto data = pattern(8192, 6);
	ASSERT_EQ(pwrite(fd.get(), data.data(), data.size(), 0), 8192);

	auto imported = device.importDmaBuf(fd.get());
	ASSERT_TRUE(imported) << imported.error().message();
	EXPECT_EQ(imported->size(), 8192u);
	EXPECT_TRUE(holds(*imported, data));
	const UniqueFd partOfPage = memfd(5000, F_SEAL_SHRINK);
	EXPECT_FALSE(device.importDmaBuf(partOfPage.get()));
}

} /* namespace nvdla */

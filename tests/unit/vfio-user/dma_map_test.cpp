/* SPDX-License-Identifier: MIT */
/*
 * The table of guest memory: shapes, permissions, files that shrink, unmapping
 * while the memory is in use.
 */
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

constexpr uint64_t kPage = 4096;

class DmaMapTest : public testing::Test
{
protected:
	int map(uint64_t address, uint64_t size, uint64_t offset, const UniqueFd &fd,
		bool writable = true, bool readable = true)
	{
		return memory.map().map({ address, size, offset, readable, writable },
					UniqueFd(dup(fd.get())));
	}

	bool write(uint64_t address, size_t size, uint8_t value)
	{
		return memory.write(address, Bytes(size, std::byte{ value }));
	}

	/* The value if all bytes are the same, -1 if not, -2 if they cannot be read. */
	int read(uint64_t address, size_t size)
	{
		Bytes bytes(size);
		if (!memory.read(address, bytes))
			return -2;
		for (const std::byte byte : bytes) {
			if (byte != bytes[0])
				return -1;
		}
		return std::to_integer<int>(bytes[0]);
	}

	Log log = quietLog();
	GuestMemory memory{ log };
};

TEST_F(DmaMapTest, AccessMustBeFullyMapped)
{
	const UniqueFd fd = makeMemfd(4 * kPage, true);
	ASSERT_EQ(map(0x10000, 2 * kPage, 0, fd), 0);
	EXPECT_TRUE(write(0x10000, 2 * kPage, 7));
	EXPECT_EQ(read(0x10000, 2 * kPage), 7);
	EXPECT_FALSE(write(0x10000 - 1, 2, 9));
	EXPECT_FALSE(write(0x11fff, 2, 9));
	EXPECT_FALSE(write(0x12000, 1, 9));
	EXPECT_FALSE(write(0, 1, 9));
	EXPECT_FALSE(write(0xffffffffffffffff, 2, 9));
	EXPECT_EQ(read(0x10000, 2 * kPage), 7) << "a refused access has no effect";
	EXPECT_TRUE(memory.read(0, {})) << "nothing is always there";
}

TEST_F(DmaMapTest, AccessAcrossRanges)
{
	const UniqueFd one = makeMemfd(kPage, true);
	const UniqueFd two = makeMemfd(kPage, false);
	ASSERT_EQ(map(0x1000, kPage, 0, one), 0);
	ASSERT_EQ(map(0x2000, kPage, 0, two), 0);
	Bytes pattern(300);
	for (size_t i = 0; i < pattern.size(); i++)
		pattern[i] = static_cast<std::byte>(i * 7);
	EXPECT_TRUE(memory.write(0x2000 - 150, pattern));
	Bytes seen(300);
	EXPECT_TRUE(memory.read(0x2000 - 150, seen));
	EXPECT_EQ(seen, pattern);
	ASSERT_EQ(pread(two.get(), seen.data(), 150, 0), 150);
	EXPECT_TRUE(std::equal(pattern.begin() + 150, pattern.end(), seen.begin()));
	/* A hole behind them: nothing of this is written. */
	EXPECT_FALSE(write(0x2f00, kPage, 1));
	EXPECT_EQ(read(0x2f00, 0x100), 0);
}

TEST_F(DmaMapTest, Permissions)
{
	const UniqueFd fd = makeMemfd(2 * kPage, true);
	ASSERT_EQ(map(0, kPage, 0, fd, false, true), 0);
	ASSERT_EQ(map(kPage, kPage, kPage, fd, true, false), 0);
	EXPECT_EQ(read(0, 16), 0);
	EXPECT_FALSE(write(0, 16, 1));
	EXPECT_TRUE(write(kPage, 16, 1));
	EXPECT_EQ(read(kPage, 16), -2);
	EXPECT_FALSE(write(kPage - 8, 16, 1)) << "half of it";
}

TEST_F(DmaMapTest, ReadOnlyFile)
{
	const UniqueFd fd = makeMemfd(kPage, true);
	const UniqueFd readOnly(
		open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDONLY | O_CLOEXEC));
	ASSERT_TRUE(readOnly.valid());
	EXPECT_EQ(map(0, kPage, 0, readOnly), EACCES);
	EXPECT_EQ(map(0, kPage, 0, readOnly, false), 0);
	/* The same file, opened for writing, is another mapping. */
	EXPECT_EQ(map(kPage, kPage, 0, fd), 0);
	EXPECT_TRUE(write(kPage, 16, 3));
	EXPECT_EQ(read(0, 16), 3);
	EXPECT_FALSE(write(0, 16, 4));
}

TEST_F(DmaMapTest, OneFileIsMappedOnce)
{
	const UniqueFd fd = makeMemfd(256 * kPage, true);
	const size_t before = openDescriptors();
	for (uint64_t i = 0; i < 256; i++)
		ASSERT_EQ(map(i * 2 * kPage, kPage, (255 - i) * kPage, fd), 0);
	EXPECT_EQ(openDescriptors(), before);
	for (uint64_t i = 0; i < 256; i++)
		ASSERT_TRUE(write(i * 2 * kPage, 64, static_cast<uint8_t>(i)));
	for (uint64_t i = 0; i < 256; i++) {
		uint8_t value = 0;
		ASSERT_EQ(pread(fd.get(), &value, 1, static_cast<off_t>((255 - i) * kPage)), 1);
		EXPECT_EQ(value, i);
	}
}

TEST_F(DmaMapTest, PartsCanBeUnmapped)
{
	const UniqueFd fd = makeMemfd(8 * kPage, true);
	ASSERT_EQ(map(0, 8 * kPage, 0, fd), 0);
	for (uint8_t i = 0; i < 8; i++)
		ASSERT_TRUE(write(i * kPage, kPage, i));
	memory.map().unmap(2 * kPage, 2 * kPage);
	EXPECT_EQ(memory.map().size(), 2u);
	for (uint8_t i = 0; i < 8; i++)
		EXPECT_EQ(read(i * kPage, kPage), i == 2 || i == 3 ? -2 : i) << +i;
	memory.map().unmap(0, kPage);
	memory.map().unmap(7 * kPage, 0xffffffffffffffff);
	for (uint8_t i = 0; i < 8; i++)
		EXPECT_EQ(read(i * kPage, kPage),
			  i == 1 || (i >= 4 && i < 7) ? static_cast<int>(i) : -2)
			<< +i;
	/* What became free can be mapped again. */
	EXPECT_EQ(map(2 * kPage, 2 * kPage, 0, fd), 0);
	EXPECT_EQ(map(3 * kPage, 2 * kPage, 0, fd), EEXIST);
}

TEST_F(DmaMapTest, TopOfTheAddressSpace)
{
	const UniqueFd fd = makeMemfd(kPage, true);
	ASSERT_EQ(map(0xfffffffffffff000, kPage, 0, fd), 0);
	EXPECT_EQ(map(0xfffffffffffff000, kPage, 0, fd), EEXIST);
	EXPECT_TRUE(write(0xffffffffffffffff, 1, 5));
	EXPECT_EQ(read(0xffffffffffffffff, 1), 5);
	memory.map().clear();
	EXPECT_EQ(read(0xffffffffffffffff, 1), -2);
}

/* A file that is not sealed may shrink at any time; that must not kill the server. */
TEST_F(DmaMapTest, FileCutBehindOurBack)
{
	const UniqueFd fd = makeMemfd(4 * kPage, false);
	ASSERT_EQ(map(0, 4 * kPage, 0, fd), 0);
	ASSERT_TRUE(write(0, 4 * kPage, 6));
	ASSERT_EQ(ftruncate(fd.get(), kPage), 0);
	EXPECT_EQ(read(0, kPage), 6);
	EXPECT_EQ(read(kPage, 1), -2);
	EXPECT_EQ(read(kPage - 8, 16), -2);
	EXPECT_FALSE(write(2 * kPage, 1, 1));
	EXPECT_EQ(lseek(fd.get(), 0, SEEK_END), static_cast<off_t>(kPage)) << "and not grown again";
}

TEST_F(DmaMapTest, EmptyFileHoldsNothing)
{
	for (const bool sealed : { false, true }) {
		const UniqueFd fd = makeMemfd(0, sealed);
		EXPECT_EQ(map(0, kPage, 0, fd), EINVAL);
	}
}

TEST_F(DmaMapTest, FileThatGrew)
{
	const UniqueFd fd = makeMemfd(kPage, false);
	ASSERT_EQ(map(0, kPage, 0, fd), 0);
	ASSERT_EQ(ftruncate(fd.get(), 2 * kPage), 0);
	EXPECT_EQ(map(kPage, kPage, kPage, fd), 0);
	EXPECT_TRUE(write(0, 2 * kPage, 1));
}

TEST_F(DmaMapTest, UnmapWaitsForLeases)
{
	const UniqueFd fd = makeMemfd(kPage, true);
	ASSERT_EQ(map(0, kPage, 0, fd), 0);
	auto leases = memory.map().acquire(0, 64, Access::Write);
	ASSERT_EQ(leases.size(), 1u);

	std::atomic<bool> unmapped = false;
	std::thread unmapper([&] {
		memory.map().unmap(0, kPage);
		unmapped = true;
	});
	/* New accesses fail as soon as the unmapping has begun ... */
	while (read(0, 1) != -2)
		std::this_thread::yield();
	/* ... but it does not end before the old one has. */
	EXPECT_FALSE(unmapped);
	EXPECT_TRUE(leases[0].write(Bytes(64, std::byte{ 1 })));
	leases.clear();
	unmapper.join();
	EXPECT_TRUE(unmapped);
}

/* Sanitizers see a touch of memory that is gone; the values show one in the wrong place. */
TEST_F(DmaMapTest, UnmapUnderLoad)
{
	const UniqueFd fd = makeMemfd(16 * kPage, true);
	std::atomic<bool> stop = false;
	std::atomic<int> wrong = 0;
	std::vector<std::thread> threads;
	for (uint8_t i = 0; i < 3; i++) {
		threads.emplace_back([&, i] {
			/* Each thread has its own memory, as accesses to the same bytes may race.
			 */
			const uint64_t address = i * 4 * kPage;
			while (!stop) {
				write(address, 4 * kPage, i);
				const int value = read(address, 4 * kPage);
				if (value != i && value != 0 && value != -2)
					wrong++;
			}
		});
	}
	for (int i = 0; i < 500; i++) {
		ASSERT_EQ(map(0, 16 * kPage, 0, fd), 0);
		memory.map().unmap(3 * kPage, kPage);
		memory.map().clear();
	}
	stop = true;
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(wrong, 0);
}

} /* namespace */

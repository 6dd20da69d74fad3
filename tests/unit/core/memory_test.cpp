/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "core/memory.h"
#include "core/ram_memory.h"

using namespace nvdla::sim;

namespace
{

using Bytes = std::vector<std::byte>;

constexpr auto operator""_b(unsigned long long value)
{
	return static_cast<std::byte>(value);
}

TEST(RamMemory, HoldsWhatIsWritten)
{
	RamMemory memory(0x1000, 64);
	EXPECT_TRUE(memory.write(0x1004, Bytes{ 1_b, 2_b }));
	Bytes out(4, 9_b);
	EXPECT_TRUE(memory.read(0x1003, out));
	EXPECT_EQ(out, (Bytes{ 0_b, 1_b, 2_b, 0_b }));
}

TEST(RamMemory, RangesMustBeInside)
{
	RamMemory memory(0x1000, 64);
	Bytes bytes(2);
	EXPECT_TRUE(memory.read(0x103e, bytes));
	EXPECT_FALSE(memory.read(0x103f, bytes));
	EXPECT_FALSE(memory.read(0x0fff, bytes));
	EXPECT_FALSE(memory.write(0x1040, bytes));
	EXPECT_FALSE(memory.write(UINT64_MAX, bytes));
	EXPECT_FALSE(memory.write(UINT64_MAX - 1, bytes));
}

TEST(RamMemory, TopOfTheAddressSpaceDoesNotWrap)
{
	RamMemory memory(UINT64_MAX - 63, 64);
	Bytes bytes(2);
	EXPECT_TRUE(memory.write(UINT64_MAX - 1, bytes));
	EXPECT_FALSE(memory.write(UINT64_MAX, bytes));
}

TEST(SparseMemory, IsZeroUntilWritten)
{
	SparseMemory memory;
	Bytes out(3, 9_b);
	EXPECT_TRUE(memory.read(0x7f80000000, out));
	EXPECT_EQ(out, Bytes(3, 0_b));
}

TEST(SparseMemory, CrossesPages)
{
	SparseMemory memory;
	const uint64_t edge = SparseMemory::pageSize * 5;
	Bytes data(SparseMemory::pageSize + 4);
	for (size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<std::byte>(i * 7);
	EXPECT_TRUE(memory.write(edge - 2, data));
	Bytes out(data.size());
	EXPECT_TRUE(memory.read(edge - 2, out));
	EXPECT_EQ(out, data);
}

TEST(SparseMemory, RegionsAreOnePage)
{
	SparseMemory memory;
	const uint64_t end = SparseMemory::pageSize;
	memory.write(end - 4, Bytes(8, 7_b));

	const Memory::Region page = memory.region(end - 4);
	const auto there = page.at(end - 4, 4);
	EXPECT_EQ(Bytes(there.begin(), there.end()), Bytes(4, 7_b));
	EXPECT_TRUE(page.at(end - 4, 8).empty()) << "crosses pages";
	EXPECT_TRUE(page.at(end, 4).empty()) << "is behind it";
	EXPECT_TRUE(memory.region(5 * end).bytes.empty()) << "was never written";
}

TEST(SparseMemory, RefusesToGrowBeyondItsMaximum)
{
	SparseMemory memory(2 * SparseMemory::pageSize);
	EXPECT_TRUE(memory.write(0, Bytes{ 1_b }));
	EXPECT_TRUE(memory.write(10 * SparseMemory::pageSize, Bytes{ 1_b }));
	EXPECT_FALSE(memory.write(20 * SparseMemory::pageSize, Bytes{ 1_b }));
	EXPECT_TRUE(memory.write(1, Bytes{ 1_b }));
}

TEST(SparseMemory, DoesNotWrap)
{
	SparseMemory memory;
	Bytes bytes(16);
	EXPECT_FALSE(memory.read(UINT64_MAX - 3, bytes));
	EXPECT_FALSE(memory.write(UINT64_MAX - 3, bytes));
}

class MemoryPortTest : public testing::Test
{
protected:
	RamMemory dram{ 0, 64 };
	RamMemory cvsram{ 0, 32 };
	std::atomic<bool> cancel = false;
	MemoryPort port{ dram, cvsram, &cancel };
};

TEST_F(MemoryPortTest, CountsTrafficOfEachMemory)
{
	Bytes bytes(16);
	port.read(RamType::Mc, 0, bytes);
	port.write(RamType::Cv, 16, bytes);
	port.write(RamType::Cv, 0, bytes);
	EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 16U);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0U);
	EXPECT_EQ(port.traffic(RamType::Cv).writeBytes, 32U);
	EXPECT_FALSE(port.faulted());
}

TEST_F(MemoryPortTest, FailedReadGivesZeroesAndIsRemembered)
{
	Bytes bytes(16, 5_b);
	port.read(RamType::Cv, 24, bytes);
	EXPECT_EQ(bytes, Bytes(16, 0_b));
	port.read(RamType::Mc, 100, bytes);
	EXPECT_TRUE(port.faulted());
	EXPECT_EQ(port.faultAddress(), 24U);
	EXPECT_EQ(port.faultType(), RamType::Cv);
	EXPECT_EQ(port.traffic(RamType::Cv).readBytes, 0U);
}

/* Which of several misses is told does not depend on how threads shared the work. */
TEST_F(MemoryPortTest, TheLowestMissIsRemembered)
{
	Bytes bytes(16);
	for (const bool lowestFirst : { true, false }) {
		MemoryPort all = port.fork(), low = port.fork(), high = port.fork();
		low.write(RamType::Mc, 100, bytes);
		low.write(RamType::Mc, 80, bytes);
		high.write(RamType::Mc, 90, bytes);
		all.join(lowestFirst ? low : high);
		all.join(lowestFirst ? high : low);
		EXPECT_EQ(all.faultAddress(), 80U) << lowestFirst;
	}
}

TEST_F(MemoryPortTest, ViewsAreWhatIsRead)
{
	std::vector<std::byte> buffer;
	dram.write(8, Bytes(8, 3_b));
	const auto there = port.view(RamType::Mc, 8, 8, buffer);
	EXPECT_EQ(Bytes(there.begin(), there.end()), Bytes(8, 3_b));
	EXPECT_TRUE(buffer.empty()) << "a copy";
	EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 8U);
	EXPECT_FALSE(port.faulted());

	const auto missing = port.view(RamType::Mc, 60, 8, buffer);
	EXPECT_EQ(Bytes(missing.begin(), missing.end()), Bytes(8, 0_b));
	EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 8U);
	EXPECT_TRUE(port.faulted());
	EXPECT_EQ(port.faultAddress(), 60U);

	cancel = true;
	const auto abandoned = port.view(RamType::Mc, 8, 8, buffer);
	EXPECT_EQ(Bytes(abandoned.begin(), abandoned.end()), Bytes(8, 0_b));
}

TEST_F(MemoryPortTest, PlacesAreWhatIsWritten)
{
	Bytes out(8);
	const auto there = port.place(RamType::Mc, 8, 8);
	EXPECT_EQ(there.size(), 8U);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0U);
	std::ranges::fill(there, 6_b);
	port.write(RamType::Mc, 8, there);
	dram.read(8, out);
	EXPECT_EQ(out, Bytes(8, 6_b));
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 8U);
	EXPECT_FALSE(port.faulted());

	EXPECT_TRUE(port.place(RamType::Mc, 60, 8).empty());
	port.write(RamType::Mc, 60, Bytes(8, 6_b));
	EXPECT_TRUE(port.faulted());

	cancel = true;
	EXPECT_TRUE(port.place(RamType::Mc, 8, 8).empty());
}

TEST_F(MemoryPortTest, AbandonedOperationTouchesNothing)
{
	dram.write(0, Bytes(8, 3_b));
	cancel = true;
	EXPECT_TRUE(port.cancelled());
	port.write(RamType::Mc, 0, Bytes(8, 4_b));
	port.write(RamType::Mc, 1000, Bytes(8, 4_b));
	Bytes out(8, 9_b);
	port.read(RamType::Mc, 0, out);
	EXPECT_EQ(out, Bytes(8, 0_b));
	EXPECT_FALSE(port.faulted());
	dram.read(0, out);
	EXPECT_EQ(out, Bytes(8, 3_b));
}

} /* namespace */

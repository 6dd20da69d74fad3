/* SPDX-License-Identifier: MIT */
/*
 * A core that is reached only as a processor would reach it.
 */
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "trace/external_target.h"

using namespace nvdla::sim;

namespace
{

constexpr uint64_t kCvsram = CoreTarget::cvsramBase;
constexpr uint64_t kDram = 0x80000000;
constexpr uint32_t kDone0 = NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0;

class CoreDevice : public ExternalDevice
{
public:
	uint32_t readRegister(uint32_t offset) override { return target_.read(offset); }
	void writeRegister(uint32_t offset, uint32_t value) override
	{
		target_.write(offset, value);
	}
	void reset() override
	{
		target_.core().reset();
		resets_++;
	}
	bool readMemory(uint64_t address, std::span<std::byte> out) override
	{
		return target_.fetch(RamType::Mc, address, out);
	}
	bool writeMemory(uint64_t address, std::span<const std::byte> data) override
	{
		return target_.load(RamType::Mc, address, data);
	}
	bool zeroMemory(uint64_t address, uint64_t size) override
	{
		return writeMemory(address, std::vector<std::byte>(size));
	}
	std::string broken() const override { return broken_; }

	CoreTarget target_;
	unsigned int resets_ = 0;
	std::string broken_;
};

std::vector<std::byte> pattern(size_t size)
{
	std::vector<std::byte> bytes(size);
	for (size_t i = 0; i < size; i++)
		bytes[i] = static_cast<std::byte>(1 + (i * 37 + i / 251) % 255);
	return bytes;
}

class ExternalTargetTest : public testing::Test
{
protected:
	uint32_t pollStatus(uint32_t bit)
	{
		return target_.poll(NVDLA_GLB_S_INTR_STATUS,
				    [bit](uint32_t now) { return (now & bit) == bit; });
	}

	std::vector<std::byte> fetch(RamType ram, uint64_t address, size_t size)
	{
		std::vector<std::byte> bytes(size, std::byte{ 0xee });
		EXPECT_TRUE(target_.fetch(ram, address, bytes));
		return bytes;
	}

	/* A copy of one atom by the trace itself, with group 0. */
	void copyByTrace()
	{
		target_.write(NVDLA_BDMA_CFG_SRC_ADDR_LOW, kDram);
		target_.write(NVDLA_BDMA_CFG_DST_ADDR_LOW, kDram + 0x1000);
		target_.write(NVDLA_BDMA_CFG_CMD,
			      NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE | NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
		target_.write(NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
	}

	std::vector<uint32_t> bdmaRegisters()
	{
		std::vector<uint32_t> values;
		for (uint32_t offset = NVDLA_BDMA_CFG_SRC_ADDR_LOW; offset <= NVDLA_BDMA_STATUS;
		     offset += 4)
			values.push_back(target_.read(offset));
		return values;
	}

	/* A trace that names a file of some bytes at an address of system memory. */
	Trace traceWithLoad(uint64_t address)
	{
		const auto folder = std::filesystem::path(testing::TempDir());
		std::ofstream(folder / "external-target.bin") << "bytes";
		return { .directory = folder,
			 .commands = { { .kind = TraceCommand::Kind::Load,
					 .line = 1,
					 .ram = RamType::Mc,
					 .address = address,
					 .file = "external-target.bin" } } };
	}

	CoreDevice device_;
	std::atomic<bool> stop_ = false;
	ExternalTarget target_{ { .patience = std::chrono::seconds(1) }, device_, stop_ };
};

TEST_F(ExternalTargetTest, BytesOfAnySizeReachTheCvsram)
{
	target_.begin({});
	for (const size_t size : { size_t{ 1 }, size_t{ 31 }, size_t{ 32 }, size_t{ 33 },
				   size_t{ 1000 }, size_t{ 300 * 1024 + 5 } }) {
		const auto data = pattern(size);
		for (const uint64_t address : { kCvsram, kCvsram + 0x1005 }) {
			ASSERT_TRUE(target_.load(RamType::Cv, address, data));
			EXPECT_EQ(fetch(RamType::Cv, address, size), data);
			std::vector<std::byte> really(size);
			ASSERT_TRUE(device_.target_.fetch(RamType::Cv, address, really));
			EXPECT_EQ(really, data);
		}
	}
	EXPECT_EQ(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, WhatIsBesideStays)
{
	target_.begin({});
	const auto around = pattern(96);
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram + 64, around));
	const std::vector<std::byte> middle(40, std::byte{ 0xaa });
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram + 64 + 20, middle));
	auto expected = around;
	std::ranges::copy(middle, expected.begin() + 20);
	EXPECT_EQ(fetch(RamType::Cv, kCvsram + 64, 96), expected);
}

TEST_F(ExternalTargetTest, WhatIsOutsideOfTheCvsramIsRefused)
{
	target_.begin({});
	const auto data = pattern(64);
	std::vector<std::byte> out(64);
	const uint64_t end = kCvsram + nvFull.cvsramSize;
	for (const uint64_t address : { uint64_t{ 0 }, kCvsram - 32, end - 32, end, UINT64_MAX }) {
		EXPECT_FALSE(target_.load(RamType::Cv, address, data)) << std::hex << address;
		EXPECT_FALSE(target_.fetch(RamType::Cv, address, out)) << std::hex << address;
	}
	EXPECT_TRUE(target_.load(RamType::Cv, end - 64, data));
	EXPECT_EQ(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, RegistersAreAtResetAfterTheFirstLoads)
{
	target_.begin({});
	CoreTarget fresh;
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	for (uint32_t offset = 0; offset <= NVDLA_BDMA_STATUS_GRP1_READ_STALL; offset += 4) {
		if (offset > NVDLA_GLB_S_INTR_STATUS && offset < NVDLA_BDMA_CFG_SRC_ADDR_LOW)
			continue;
		EXPECT_EQ(target_.read(offset), fresh.read(offset)) << std::hex << offset;
	}
	EXPECT_EQ(fetch(RamType::Cv, kCvsram, 64), pattern(64)) << "kept";
}

TEST_F(ExternalTargetTest, LaterAccessesLeaveNoTrace)
{
	target_.begin({});
	copyByTrace();
	target_.write(NVDLA_BDMA_CFG_LAUNCH0, NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH);
	EXPECT_EQ(pollStatus(kDone0), kDone0);
	const unsigned int resets = device_.resets_;
	const auto before = bdmaRegisters();

	/* With its own copy's done status standing. */
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	EXPECT_EQ(bdmaRegisters(), before);
	EXPECT_EQ(target_.read(NVDLA_GLB_S_INTR_STATUS), kDone0);

	target_.write(NVDLA_GLB_S_INTR_STATUS, kDone0);
	EXPECT_EQ(fetch(RamType::Cv, kCvsram, 64), pattern(64));
	EXPECT_EQ(bdmaRegisters(), before);
	EXPECT_EQ(target_.read(NVDLA_GLB_S_INTR_STATUS), 0U);
	EXPECT_EQ(device_.resets_, resets);
	EXPECT_EQ(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, QueuedOperationIsAnObstacle)
{
	target_.begin({});
	copyByTrace();
	EXPECT_FALSE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	EXPECT_NE(target_.obstacle(), "");
	EXPECT_FALSE(target_.read(NVDLA_BDMA_STATUS) & NVDLA_BDMA_STATUS__IDLE) << "still queued";
	target_.begin({});
	EXPECT_EQ(target_.obstacle(), "");
	EXPECT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
}

/* A group launched without an operation stays busy until the reset. */
TEST_F(ExternalTargetTest, OtherGroupIsTakenWhenOneHangs)
{
	target_.begin({});
	target_.write(NVDLA_BDMA_CFG_LAUNCH0, NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH);
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	EXPECT_EQ(fetch(RamType::Cv, kCvsram, 64), pattern(64));
	EXPECT_EQ(target_.read(NVDLA_GLB_S_INTR_STATUS), 0U);
	target_.write(NVDLA_BDMA_CFG_LAUNCH1, NVDLA_BDMA_CFG_LAUNCH1__GRP1_LAUNCH);
	EXPECT_FALSE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	EXPECT_NE(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, StallCounterIsAnObstacleAfterACopy)
{
	target_.begin({});
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	target_.read(NVDLA_BDMA_STATUS_GRP0_READ_STALL);
	EXPECT_EQ(target_.obstacle(), "") << "there was a reset in between";
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram, pattern(64)));
	target_.read(NVDLA_BDMA_STATUS_GRP1_READ_STALL);
	EXPECT_EQ(target_.obstacle(), "");
	target_.read(NVDLA_BDMA_STATUS_GRP0_READ_STALL);
	EXPECT_NE(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, NextTraceFindsZeroes)
{
	target_.begin(traceWithLoad(kDram));
	ASSERT_TRUE(target_.load(RamType::Mc, kDram, pattern(64)));
	ASSERT_TRUE(target_.load(RamType::Cv, kCvsram + 0x300000, pattern(64)));
	target_.begin(traceWithLoad(kDram + 0x10000000));
	EXPECT_EQ(fetch(RamType::Mc, kDram, 64), std::vector<std::byte>(64));
	EXPECT_EQ(fetch(RamType::Cv, kCvsram + 0x300000, 64), std::vector<std::byte>(64));
}

TEST_F(ExternalTargetTest, ScratchAreaCannotBePlayedOn)
{
	const ExternalTarget::Config config;
	const uint64_t end = config.scratch + 2 * config.cvsramSize;
	for (const uint64_t address : { config.scratch - 1, config.scratch, end - 1 }) {
		target_.begin(traceWithLoad(address));
		EXPECT_NE(target_.obstacle(), "") << std::hex << address;
		const PlayResult result = play(traceWithLoad(address), target_);
		EXPECT_FALSE(result.passed());
		EXPECT_EQ(result.skipped, target_.obstacle());
		EXPECT_TRUE(result.failures.empty());
	}
	target_.begin(traceWithLoad(end));
	EXPECT_EQ(target_.obstacle(), "");
}

TEST_F(ExternalTargetTest, PollEnds)
{
	target_.begin({});
	EXPECT_EQ(pollStatus(1), 0U) << "by its patience";
	EXPECT_EQ(target_.obstacle(), "");
	device_.broken_ = "pulled out";
	EXPECT_EQ(pollStatus(1), 0U);
	EXPECT_EQ(target_.obstacle(), "");
	stop_ = true;
	EXPECT_EQ(pollStatus(1), 0U);
	EXPECT_EQ(target_.obstacle(), "interrupted");
}

} /* namespace */

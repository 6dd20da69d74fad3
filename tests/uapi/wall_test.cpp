/* SPDX-License-Identifier: MIT */
/*
 * The IOMMU behind the driver's checks: what the core reaches if those had let it. It has the
 * buffers of all clients, and nothing else.
 */
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device.h"
#include "driver_files.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t bytes = 64 * 1024;
constexpr uint8_t secret = 0xa5;
constexpr uint8_t mine = 0x3c;
constexpr uint8_t empty = 0x11;

bool hasOnly(const Buffer &buffer, uint8_t value)
{
	return std::ranges::all_of(buffer.bytes(), [value](uint8_t byte) { return byte == value; });
}

bool hasAny(const Buffer &buffer, uint8_t value)
{
	return std::ranges::find(buffer.bytes(), value) != buffer.bytes().end();
}

std::unique_ptr<Buffer> filled(const Device &device, uint8_t value)
{
	auto buffer = std::make_unique<Buffer>(device, bytes);
	if (buffer->valid())
		std::ranges::fill(buffer->bytes(), value);
	return buffer;
}

} /* namespace */

class WallTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(attacker_.valid() && victim_.valid());
		from_ = filled(attacker_, mine);
		to_ = filled(attacker_, empty);
		ASSERT_TRUE(from_->valid() && to_->valid());
		if (writeFile(debugFolder() / "inject/wrong_address", "0"))
			GTEST_SKIP() << "the driver was built without faults to order";
	}

	void TearDown() override { writeFile(debugFolder() / "inject/wrong_address", "0"); }

	/* Submits a copy of the attacker's that reads another buffer instead: the newest. */
	int submitWrong(uint32_t syncobj)
	{
		CopyTask task;
		task.addAddress(from_->handle());
		task.addAddress(to_->handle());
		task.addCopy(0, 1, 1024, bytes / 1024);
		if (writeFile(debugFolder() / "inject/wrong_address", "1"))
			return -ENOENT;
		Submit submit(task);
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		const int ret = submit.run(attacker_);
		EXPECT_EQ(std::stoi(readFile(debugFolder() / "inject/wrong_address")), 0);
		return ret;
	}

	const bool wall_ = hasIommu(Device::path());
	Device attacker_, victim_;
	std::unique_ptr<Buffer> from_, to_;
};

/* This is what the checks alone stand before, IOMMU or not. */
TEST_F(WallTest, ACoreProgrammedWrongReachesABuffer)
{
	const auto treasure = filled(victim_, secret);
	const uint32_t done = attacker_.createSyncobj();
	ASSERT_TRUE(treasure->valid());
	ASSERT_EQ(submitWrong(done), 0);
	ASSERT_EQ(attacker_.waitSyncobj(done), 0);
	EXPECT_TRUE(hasOnly(*to_, secret));
}

/* The same job behind a slow one: when it runs, there is no such buffer any more. */
TEST_F(WallTest, ACoreProgrammedWrongReachesNothingElse)
{
	if (!wall_)
		GTEST_SKIP() << "there is no IOMMU";
	const auto scratch = filled(attacker_, empty);
	auto treasure = filled(victim_, secret);
	const uint32_t done = attacker_.createSyncobj(), ahead = attacker_.createSyncobj();
	ASSERT_TRUE(scratch->valid() && treasure->valid());

	CopyTask task;
	task.addLines(*from_, *scratch, 64);
	Submit slow(task);
	slow.outSyncs.push_back({ .handle = ahead, .reserved = 0, .point = 0 });
	ASSERT_EQ(slow.run(attacker_), 0);
	ASSERT_EQ(submitWrong(done), 0);
	treasure.reset();
	ASSERT_EQ(attacker_.fenceStatus(ahead), 0) << "it was not slow enough";

	ASSERT_EQ(attacker_.waitSyncobj(done), 0);
	EXPECT_TRUE(hasOnly(*scratch, mine));
	EXPECT_FALSE(hasAny(*to_, secret));
}

} /* namespace nvdla::test */

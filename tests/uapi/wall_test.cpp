/* SPDX-License-Identifier: MIT */
/*
 * The second wall: what the core reaches if the driver's own checks had let it. Without an IOMMU
 * the same mistakes hit, which shows that they were made.
 */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "copies.h"
#include "device.h"
#include "dma_buf.h"
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

	/* A copy of the attacker's whose first address, that of \a wrong, is another buffer's: the
	 * newest. */
	int copyWith(int16_t wrong)
	{
		CopyTask task;
		task.addAddress(wrong == source ? from_->handle() : to_->handle());
		task.addAddress(wrong == source ? to_->handle() : from_->handle());
		task.addCopy(wrong == source ? 0 : 1, wrong == source ? 1 : 0, 1024, bytes / 1024);
		if (writeFile(debugFolder() / "inject/wrong_address", "1"))
			return -ENOENT;
		const int ret = Submit(task).runToTheEnd(attacker_);
		EXPECT_EQ(std::stoi(readFile(debugFolder() / "inject/wrong_address")), 0);
		return ret;
	}

	static constexpr int16_t source = 0, destination = 1;

	const bool wall_ = hasIommu(Device::path());
	Device attacker_, victim_;
	std::unique_ptr<Buffer> from_, to_;
};

TEST_F(WallTest, ACoreProgrammedWrongReadsNobodyElse)
{
	const auto treasure = filled(victim_, secret);
	ASSERT_TRUE(treasure->valid());
	EXPECT_EQ(copyWith(source), 0);
	EXPECT_EQ(hasAny(*to_, secret), !wall_);
}

TEST_F(WallTest, ACoreProgrammedWrongWritesNobodyElse)
{
	const auto treasure = filled(victim_, secret);
	ASSERT_TRUE(treasure->valid());
	EXPECT_EQ(copyWith(destination), 0);
	EXPECT_EQ(hasOnly(*treasure, secret), wall_);
	EXPECT_EQ(hasOnly(*treasure, mine), !wall_);
}

/* Its own memory is not behind the wall: what is refused above is not refused for another reason.
 */
TEST_F(WallTest, ACoreProgrammedWrongReachesItsClient)
{
	const auto own = filled(attacker_, secret);
	ASSERT_TRUE(own->valid());
	EXPECT_EQ(copyWith(source), 0);
	EXPECT_TRUE(hasOnly(*to_, secret));
}

/* Nor is what it was given, until it gives it up. */
TEST_F(WallTest, ASharedBufferIsReachedAsLongAsThereIsAHandle)
{
	const auto treasure = filled(victim_, secret);
	ASSERT_TRUE(treasure->valid());
	uint32_t handle = 0;
	{
		const DmaBuf shared = DmaBuf::exportOf(victim_.fd(), treasure->handle());
		ASSERT_EQ(shared.importTo(attacker_.fd(), handle), 0);
	}
	EXPECT_EQ(copyWith(source), 0);
	EXPECT_TRUE(hasOnly(*to_, secret));

	ASSERT_EQ(attacker_.closeHandle(handle), 0);
	std::ranges::fill(to_->bytes(), empty);
	EXPECT_EQ(copyWith(source), 0);
	EXPECT_EQ(hasAny(*to_, secret), !wall_);
}

/* As an IOMMU driver does that tells; the guest's does not. */
TEST_F(WallTest, AReportedFaultFailsItsJobAlone)
{
	Copies guilty, innocent;
	ASSERT_EQ(writeFile(debugFolder() / "inject/iommu_fault", wall_ ? "1" : "0"), 0);
	EXPECT_EQ(guilty.run(1), wall_ ? -EFAULT : 0);
	innocent.clear();
	EXPECT_EQ(innocent.run(1), 0);
	EXPECT_TRUE(innocent.right());
	guilty.clear();
	EXPECT_EQ(guilty.run(1), 0);
	EXPECT_TRUE(guilty.right());
}

/* The domain changes with the client, and with nothing else. */
TEST_F(WallTest, OneClientAloneStaysInItsDomain)
{
	if (!wall_)
		GTEST_SKIP() << "there is no IOMMU";
	const auto changes = [] {
		std::istringstream queue(readFile(debugFolder() / "queue"));
		std::string line;
		while (std::getline(queue, line))
			if (line.starts_with("IOMMU domain: of client"))
				return std::stoi(line.substr(line.find("changed ") + 8));
		return -1;
	};

	Copies one, other;
	EXPECT_EQ(one.run(1), 0);
	const int before = changes();
	ASSERT_GT(before, 0);
	for (unsigned int round = 0; round < 5; round++)
		EXPECT_EQ(one.run(1), 0);
	EXPECT_EQ(changes(), before);
	for (unsigned int round = 0; round < 2; round++) {
		EXPECT_EQ(other.run(1), 0);
		EXPECT_EQ(one.run(1), 0);
	}
	EXPECT_EQ(changes(), before + 4);
}

/* Memory that becomes a client's while the core is on the way to that client's domain. */
TEST_F(WallTest, BuffersMadeDuringAChangeAreReached)
{
	constexpr uint32_t page = 4096;
	constexpr int16_t most = 1000;
	Copies other, one;
	const auto from = filled(one.device, mine);
	ASSERT_TRUE(from->valid());
	for (unsigned int round = 0; round < 15; round++) {
		ASSERT_EQ(other.run(1), 0);
		std::vector<std::unique_ptr<Buffer>> made;
		std::atomic<bool> changed = false;
		std::thread change([&] {
			EXPECT_EQ(one.run(1), 0);
			changed = true;
		});
		/* One even if the change is over by now: a task without copies is refused. */
		do
			made.push_back(std::make_unique<Buffer>(one.device, page));
		while (!changed && made.size() < most);
		change.join();

		CopyTask task;
		task.addAddress(from->handle());
		for (int16_t i = 0; i < static_cast<int16_t>(made.size()); i++) {
			ASSERT_TRUE(made[i]->valid());
			task.addAddress(made[i]->handle());
			task.addCopy(0, static_cast<int16_t>(i + 1), page, 1);
		}
		ASSERT_EQ(Submit(task).runToTheEnd(one.device), 0);
		for (const auto &buffer : made)
			ASSERT_TRUE(hasOnly(*buffer, mine)) << "round " << round;
	}
}

} /* namespace nvdla::test */

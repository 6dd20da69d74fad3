/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "bdma/bdma_queue.h"

using namespace nvdla::sim;

namespace
{

constexpr uint32_t slots = 20;
constexpr uint32_t idle = NVDLA_BDMA_STATUS__IDLE;
constexpr uint32_t busy0 = NVDLA_BDMA_STATUS__GRP0_BUSY;
constexpr uint32_t busy1 = NVDLA_BDMA_STATUS__GRP1_BUSY;

class BdmaQueueTest : public testing::Test
{
protected:
	/* Queues an operation that can be told from others. */
	const char *push(uint64_t src = 0)
	{
		BdmaOp op = {};
		op.src = src;
		return queue.push(op);
	}

	/* Runs one operation \return its source */
	uint64_t runOne()
	{
		const BdmaOp *op = queue.next();
		EXPECT_NE(op, nullptr);
		queue.begin();
		EXPECT_EQ(queue.next(), nullptr);
		const uint64_t src = op->src;
		done = queue.finish();
		return src;
	}

	BdmaQueue queue{ slots };
	std::optional<unsigned int> done;
};

TEST_F(BdmaQueueTest, StatusCountsSlots)
{
	EXPECT_EQ(queue.status(), idle | 20);
	push();
	EXPECT_EQ(queue.status(), 20U);
	for (uint32_t queued = 2; queued <= 21; queued++) {
		EXPECT_EQ(push(), nullptr);
		EXPECT_EQ(queue.status(), 21 - queued);
	}
	EXPECT_NE(push(), nullptr);
	EXPECT_EQ(queue.status(), 0U);
}

TEST_F(BdmaQueueTest, NothingRunsBeforeTheLaunch)
{
	push();
	EXPECT_EQ(queue.next(), nullptr);
	EXPECT_EQ(queue.launch(0), nullptr);
	EXPECT_NE(queue.next(), nullptr);
}

TEST_F(BdmaQueueTest, GroupIsDoneAfterItsLastOperation)
{
	push(1);
	push(2);
	queue.launch(1);
	push(3);
	queue.launch(0);
	EXPECT_EQ(queue.status(), busy0 | busy1 | 18);
	EXPECT_EQ(runOne(), 1U);
	EXPECT_EQ(done, std::nullopt);
	EXPECT_EQ(runOne(), 2U);
	EXPECT_EQ(done, 1U);
	EXPECT_EQ(queue.status(), busy0 | 20);
	EXPECT_EQ(runOne(), 3U);
	EXPECT_EQ(done, 0U);
	EXPECT_EQ(queue.status(), idle | 20);
}

TEST_F(BdmaQueueTest, OperationsAfterALaunchWaitForTheNextOne)
{
	push(1);
	queue.launch(0);
	push(2);
	EXPECT_EQ(runOne(), 1U);
	EXPECT_EQ(done, 0U);
	EXPECT_EQ(queue.next(), nullptr);
	EXPECT_EQ(queue.status(), 20U);
	queue.launch(0);
	EXPECT_EQ(runOne(), 2U);
}

TEST_F(BdmaQueueTest, EmptyGroupStaysBusy)
{
	EXPECT_NE(queue.launch(0), nullptr);
	EXPECT_EQ(queue.next(), nullptr);
	EXPECT_EQ(queue.status(), idle | busy0 | 20);
	push(1);
	EXPECT_EQ(queue.launch(1), nullptr);
	EXPECT_EQ(runOne(), 1U);
	EXPECT_EQ(done, 1U);
	EXPECT_EQ(queue.status(), idle | busy0 | 20);
}

TEST_F(BdmaQueueTest, ThirdLaunchIsRefused)
{
	push(1);
	queue.launch(0);
	push(2);
	queue.launch(1);
	push(3);
	EXPECT_NE(queue.launch(0), nullptr);
	EXPECT_EQ(runOne(), 1U);
	EXPECT_EQ(queue.launch(0), nullptr);
	EXPECT_EQ(runOne(), 2U);
	EXPECT_EQ(done, 1U);
	EXPECT_EQ(runOne(), 3U);
	EXPECT_EQ(done, 0U);
}

TEST_F(BdmaQueueTest, ResetEmptiesIt)
{
	push();
	push();
	queue.launch(0);
	queue.begin();
	queue.reset();
	EXPECT_EQ(queue.status(), idle | 20);
	EXPECT_EQ(queue.next(), nullptr);
}

} /* namespace */

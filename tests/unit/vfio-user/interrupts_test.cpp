/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: delivery, and that none is lost while the client reconfigures.
 */
#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

constexpr uint32_t kAssign = wire::kIrqDataEventfd | wire::kIrqActionTrigger;
constexpr uint32_t kDisable = wire::kIrqDataNone | wire::kIrqActionTrigger;

class InterruptsTest : public testing::Test
{
protected:
	int configure(uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
		      const std::vector<int> &fds = {}, const Bytes &data = {})
	{
		std::vector<UniqueFd> owned;
		for (const int fd : fds)
			owned.emplace_back(dup(fd));
		return interrupts.configure({ 20, flags, index, start, count }, data,
					    std::move(owned));
	}

	Log log = quietLog();
	Interrupts interrupts{ log, 2 };
	UniqueFd one = makeEventfd();
	UniqueFd two = makeEventfd();
};

TEST_F(InterruptsTest, DeliveredThroughMsiOrMsix)
{
	for (const uint32_t index : { wire::kIrqMsi, wire::kIrqMsix }) {
		ASSERT_EQ(configure(kAssign, index, 0, 2, { one.get(), two.get() }), 0);
		interrupts.raise(0);
		EXPECT_EQ(drain(one), 1u);
		EXPECT_EQ(drain(two), 0u);
		interrupts.raise(1);
		interrupts.raise(1);
		EXPECT_EQ(drain(one), 0u);
		EXPECT_EQ(drain(two), 2u);
		EXPECT_FALSE(interrupts.pending(0));
		ASSERT_EQ(configure(kDisable, index, 0, 0), 0);
	}
}

TEST_F(InterruptsTest, RaisedBeforeSetUp)
{
	interrupts.raise(0);
	interrupts.raise(0);
	EXPECT_TRUE(interrupts.pending(0));
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 1, { one.get() }), 0);
	EXPECT_EQ(drain(one), 1u);
	EXPECT_FALSE(interrupts.pending(0));
}

/* QEMU enables one more vector: all are taken away, then all are given again. */
TEST_F(InterruptsTest, RaisedWhileReconfiguring)
{
	ASSERT_EQ(configure(kAssign, wire::kIrqMsix, 0, 1, { one.get() }), 0);
	ASSERT_EQ(configure(kDisable, wire::kIrqMsix, 0, 0), 0);
	interrupts.raise(0);
	interrupts.raise(1);
	EXPECT_EQ(drain(one), 0u);
	ASSERT_EQ(configure(kAssign, wire::kIrqMsix, 0, 2, { one.get(), two.get() }), 0);
	EXPECT_EQ(drain(one), 1u);
	EXPECT_EQ(drain(two), 1u);
}

TEST_F(InterruptsTest, VectorWithoutEventfdStaysPending)
{
	ASSERT_EQ(configure(kAssign, wire::kIrqMsix, 0, 1, { one.get() }), 0);
	interrupts.raise(1);
	EXPECT_TRUE(interrupts.pending(1));
	ASSERT_EQ(configure(kAssign, wire::kIrqMsix, 0, 1), 0) << "vector 0's eventfd taken away";
	interrupts.raise(0);
	EXPECT_TRUE(interrupts.pending(0));
	ASSERT_EQ(configure(kAssign, wire::kIrqMsix, 1, 1, { two.get() }), 0);
	EXPECT_EQ(drain(two), 1u);
	EXPECT_EQ(drain(one), 0u);
	EXPECT_TRUE(interrupts.pending(0));
}

TEST_F(InterruptsTest, MaskedStaysPending)
{
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 2, { one.get(), two.get() }), 0);
	ASSERT_EQ(configure(wire::kIrqDataBool | wire::kIrqActionMask, wire::kIrqMsi, 0, 2, {},
			    { std::byte{ 1 }, std::byte{ 0 } }),
		  0);
	interrupts.raise(0);
	interrupts.raise(1);
	EXPECT_EQ(drain(one), 0u);
	EXPECT_EQ(drain(two), 1u);
	ASSERT_EQ(configure(wire::kIrqDataNone | wire::kIrqActionUnmask, wire::kIrqMsi, 0, 1), 0);
	EXPECT_EQ(drain(one), 1u);
}

TEST_F(InterruptsTest, TriggeredByTheClient)
{
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 2, { one.get(), two.get() }), 0);
	ASSERT_EQ(configure(kAssign, wire::kIrqError, 0, 1, { one.get() }), 0);
	ASSERT_EQ(configure(wire::kIrqDataBool | wire::kIrqActionTrigger, wire::kIrqMsi, 0, 2, {},
			    { std::byte{ 0 }, std::byte{ 1 } }),
		  0);
	EXPECT_EQ(drain(one), 0u);
	EXPECT_EQ(drain(two), 1u);
	ASSERT_EQ(configure(kDisable, wire::kIrqError, 0, 1), 0) << "with a count: a trigger";
	EXPECT_EQ(drain(one), 1u);
}

TEST_F(InterruptsTest, FullCounterDoesNotBlock)
{
	const UniqueFd blocking(dup(one.get()));
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 1, { one.get() }), 0);
	const uint64_t most = 0xfffffffffffffffe;
	ASSERT_EQ(::write(one.get(), &most, sizeof(most)), 8);
	interrupts.raise(0);
	EXPECT_FALSE(interrupts.pending(0));
	EXPECT_EQ(drain(one), most);
}

TEST_F(InterruptsTest, ResetForgetsPendingButKeepsEventfds)
{
	interrupts.raise(0);
	interrupts.reset();
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 1, { one.get() }), 0);
	EXPECT_EQ(drain(one), 0u);
	interrupts.reset();
	interrupts.raise(0);
	EXPECT_EQ(drain(one), 1u);
}

TEST_F(InterruptsTest, DisconnectForgetsAll)
{
	ASSERT_EQ(configure(kAssign, wire::kIrqMsi, 0, 1, { one.get() }), 0);
	interrupts.raise(1);
	interrupts.disconnect();
	interrupts.raise(0);
	EXPECT_EQ(drain(one), 0u);
	EXPECT_FALSE(interrupts.pending(1));
}

TEST_F(InterruptsTest, NumberOutOfRangeIsIgnored)
{
	interrupts.raise(2);
	EXPECT_FALSE(interrupts.pending(2));
}

/* The same through the socket, raised by another thread. */
TEST(InterruptsServerTest, DeliveredToTheClient)
{
	ServerThread server;
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	const UniqueFd event = makeEventfd();
	ASSERT_EQ(client.setIrqs(kAssign, wire::kIrqMsix, 0, 1, { event.get() }), 0);
	server.function.raiseInterrupt();
	EXPECT_EQ(drain(event), 1u);

	ASSERT_EQ(client.setIrqs(kDisable, wire::kIrqMsix, 0, 0), 0);
	server.function.raiseInterrupt();
	EXPECT_EQ(drain(event), 0u);
	EXPECT_EQ(client.read(TestFunction::kMsixBar, 0x800, 1), Bytes(1, std::byte{ 1 }));
	ASSERT_EQ(client.setIrqs(kAssign, wire::kIrqMsix, 0, 1, { event.get() }), 0);
	EXPECT_EQ(drain(event), 1u);
	EXPECT_EQ(client.read(TestFunction::kMsixBar, 0x800, 1), Bytes(1));
}

} /* namespace */

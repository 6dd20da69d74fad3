/* SPDX-License-Identifier: MIT */
/*
 * Clients coming, going and getting in each other's way; the server's end.
 */
#include <filesystem>

#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

TEST(SessionTest, SecondClientIsTurnedAway)
{
	ServerThread server;
	Client first(server.path());
	ASSERT_EQ(first.version(), 0);
	Client second(server.path());
	ASSERT_TRUE(second.connected());
	EXPECT_TRUE(second.closedByServer());
	EXPECT_EQ(first.read32(0, 0), 0u) << "the first one does not notice";
}

TEST(SessionTest, NextClientFindsFreshDevice)
{
	ServerThread server;
	const UniqueFd memfd = makeMemfd(4096, true);
	const UniqueFd event = makeEventfd();
	const size_t before = openDescriptors();
	{
		Client client(server.path());
		ASSERT_EQ(client.version(), 0);
		ASSERT_EQ(client.write32(0, 0, 1), 0);
		ASSERT_EQ(client.write(wire::kRegionConfig, pci::kCommand, toBytes(uint16_t{ 6 })),
			  0);
		ASSERT_EQ(client.map(0, 4096, 3, memfd.get()), 0);
		ASSERT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { event.get() }), 0);
	}
	Client client = connectWhenFree(server.path());
	ASSERT_TRUE(client.connected());
	EXPECT_EQ(client.read32(0, 0), 0u);
	EXPECT_EQ(client.read(wire::kRegionConfig, pci::kCommand, 2), Bytes(2));
	EXPECT_EQ(server.function.resets(), 1);
	EXPECT_EQ(server.memory.map().size(), 0u);
	server.function.raiseInterrupt();
	EXPECT_EQ(drain(event), 0u);
	EXPECT_EQ(openDescriptors(), before + 2) << "the connection's two ends";
}

TEST(SessionTest, ManyClientsInARow)
{
	ServerThread server;
	const UniqueFd memfd = makeMemfd(4096, true);
	for (int i = 0; i < 50; i++) {
		Client client = connectWhenFree(server.path());
		ASSERT_TRUE(client.connected());
		ASSERT_EQ(client.map(0, 4096, 3, memfd.get()), 0);
		ASSERT_EQ(client.write32(0, 4, 9), 0);
	}
}

TEST(SessionTest, StopEndsTheConnection)
{
	ServerThread server;
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	server.stop();
	EXPECT_TRUE(client.closedByServer());
	EXPECT_EQ(server.function.resets(), 1);
}

TEST(SessionTest, StopWithAClientInsideAMessage)
{
	ServerThread server;
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	client.sendRaw(Bytes(7));
	server.stop();
	EXPECT_TRUE(client.closedByServer());
}

/* The server keeps what the client does not fetch, up to a bound, and then stops reading. */
TEST(SessionTest, ClientThatDoesNotFetchItsReplies)
{
	ServerThread server;
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	constexpr int kRequests = 4000;
	std::thread sender([&] {
		for (int i = 0; i < kRequests; i++)
			client.send(wire::Command::RegionRead,
				    toBytes(wire::RegionAccess{ 0, 0, TestFunction::kBarSize }));
	});
	for (int i = 0; i < kRequests; i++) {
		const auto reply = client.receive();
		ASSERT_TRUE(reply) << i;
		ASSERT_EQ(reply->payload.size(), 16 + TestFunction::kBarSize) << i;
	}
	sender.join();
}

} /* namespace */

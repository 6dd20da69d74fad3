/* SPDX-License-Identifier: MIT */
/*
 * Memory without a descriptor: the device asks the client for it.
 */
#include <future>

#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

constexpr uint64_t kBase = 0x100000;
constexpr uint64_t kSize = 4 * 1024 * 1024;

class DmaMessageTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_EQ(client.version(), 0);
		ASSERT_EQ(client.map(kBase, kSize, 3), 0);
	}

	std::future<bool> startRead(uint64_t address, Bytes &out)
	{
		return std::async(std::launch::async, [this, address, &out] {
			return server.memory.read(address, out);
		});
	}

	std::future<bool> startWrite(uint64_t address, const Bytes &data)
	{
		return std::async(std::launch::async, [this, address, &data] {
			return server.memory.write(address, data);
		});
	}

	/* Receive a request of the server's. */
	Message expect(wire::Command command, uint64_t address, uint64_t count)
	{
		std::optional<Message> message = client.receive();
		if (!message) {
			ADD_FAILURE() << "no request";
			return {};
		}
		const auto access = parse<wire::DmaAccess>(message->payload);
		EXPECT_EQ(+message->header.command, static_cast<int>(command));
		EXPECT_EQ(+message->header.flags, wire::kTypeCommand);
		EXPECT_EQ(+access->address, address);
		EXPECT_EQ(+access->count, count);
		return std::move(*message);
	}

	void reply(const Message &request, const Bytes &payload, uint32_t error = 0)
	{
		const uint32_t flags = wire::kTypeReply | (error ? wire::kError : 0);
		ASSERT_TRUE(client.sendRaw(
			encode(request.header.id, request.header.command, flags, error, payload)));
	}

	Bytes readReply(uint64_t address, const Bytes &data)
	{
		return toBytes(wire::DmaAccess{ address, data.size() }, data);
	}

	ServerThread server;
	Client client{ server.path() };
};

TEST_F(DmaMessageTest, Read)
{
	Bytes out(100);
	auto done = startRead(kBase + 8, out);
	const Message request = expect(wire::Command::DmaRead, kBase + 8, 100);
	reply(request, readReply(kBase + 8, Bytes(100, std::byte{ 0x42 })));
	EXPECT_TRUE(done.get());
	EXPECT_EQ(out, Bytes(100, std::byte{ 0x42 }));
}

TEST_F(DmaMessageTest, WriteLearnsTheLayoutFirst)
{
	const Bytes data(50, std::byte{ 9 });
	for (const bool first : { true, false }) {
		auto done = startWrite(kBase, data);
		if (first)
			reply(expect(wire::Command::DmaRead, kBase, 1), readReply(kBase, Bytes(1)));
		const Message request = expect(wire::Command::DmaWrite, kBase, 50);
		EXPECT_EQ(Bytes(request.payload.begin() + 16, request.payload.end()), data);
		reply(request, toBytes(wire::DmaAccess{ kBase, 50 }));
		EXPECT_TRUE(done.get());
	}
}

TEST_F(DmaMessageTest, LongAccessIsCutIntoTransfers)
{
	constexpr size_t size = wire::kMaxTransfer + 4096;
	Bytes out(size);
	auto done = startRead(kBase, out);
	reply(expect(wire::Command::DmaRead, kBase, wire::kMaxTransfer),
	      readReply(kBase, Bytes(wire::kMaxTransfer, std::byte{ 1 })));
	reply(expect(wire::Command::DmaRead, kBase + wire::kMaxTransfer, 4096),
	      readReply(kBase + wire::kMaxTransfer, Bytes(4096, std::byte{ 2 })));
	EXPECT_TRUE(done.get());
	EXPECT_EQ(out[wire::kMaxTransfer - 1], std::byte{ 1 });
	EXPECT_EQ(out[wire::kMaxTransfer], std::byte{ 2 });
}

TEST_F(DmaMessageTest, RefusedByTheClient)
{
	Bytes out(4);
	auto done = startRead(kBase, out);
	reply(expect(wire::Command::DmaRead, kBase, 4), {}, EFAULT);
	EXPECT_FALSE(done.get());
}

TEST_F(DmaMessageTest, ReplyOfWrongLength)
{
	for (const size_t size : { size_t{ 0 }, size_t{ 4 }, size_t{ 19 }, size_t{ 21 } }) {
		Bytes out(4);
		auto done = startRead(kBase, out);
		reply(expect(wire::Command::DmaRead, kBase, 4), Bytes(size));
		EXPECT_FALSE(done.get());
	}
}

/* QEMU 10.1 and 10.2: served wrong data silently otherwise. */
TEST_F(DmaMessageTest, OldLayoutIsRefused)
{
	const Bytes data(4);
	auto done = startWrite(kBase, data);
	reply(expect(wire::Command::DmaRead, kBase, 1), Bytes(12 + 1));
	EXPECT_FALSE(done.get());
	Bytes out(4);
	EXPECT_FALSE(server.memory.read(kBase, out)) << "and not asked again";
}

TEST_F(DmaMessageTest, ClientsRequestsAreServedMeanwhile)
{
	Bytes out(4);
	auto done = startRead(kBase, out);
	const Message request = expect(wire::Command::DmaRead, kBase, 4);
	EXPECT_EQ(client.write32(0, 0, 5), 0);
	EXPECT_EQ(client.read32(0, 0), 5u);
	reply(request, readReply(kBase, Bytes(4)));
	EXPECT_TRUE(done.get());
}

TEST_F(DmaMessageTest, RepliesInAnyOrder)
{
	Bytes one(4), two(8);
	auto doneOne = startRead(kBase, one);
	const Message requestOne = expect(wire::Command::DmaRead, kBase, 4);
	auto doneTwo = startRead(kBase + 64, two);
	const Message requestTwo = expect(wire::Command::DmaRead, kBase + 64, 8);
	reply(requestTwo, readReply(kBase + 64, Bytes(8, std::byte{ 2 })));
	EXPECT_TRUE(doneTwo.get());
	reply(requestOne, readReply(kBase, Bytes(4, std::byte{ 1 })));
	EXPECT_TRUE(doneOne.get());
	EXPECT_EQ(one[0], std::byte{ 1 });
	EXPECT_EQ(two[0], std::byte{ 2 });
}

TEST_F(DmaMessageTest, AccessAcrossFileAndMessages)
{
	const UniqueFd fd = makeMemfd(4096, true);
	ASSERT_EQ(client.map(kBase - 4096, 4096, 3, fd.get()), 0);
	const Bytes data(32, std::byte{ 3 });
	ASSERT_EQ(pwrite(fd.get(), data.data(), data.size(), 4096 - 32), 32);
	Bytes out(64);
	auto done = startRead(kBase - 32, out);
	const Message request = expect(wire::Command::DmaRead, kBase, 32);
	/* The part in the file is not held while the client is waited for. */
	EXPECT_EQ(client.unmap(kBase - 4096, 4096), 0);
	reply(request, readReply(kBase, Bytes(32, std::byte{ 4 })));
	EXPECT_TRUE(done.get());
	EXPECT_EQ(out[31], std::byte{ 3 });
	EXPECT_EQ(out[32], std::byte{ 4 });
}

TEST_F(DmaMessageTest, UnmapDoesNotWaitForTheClient)
{
	Bytes out(4);
	auto done = startRead(kBase, out);
	const Message request = expect(wire::Command::DmaRead, kBase, 4);
	EXPECT_EQ(client.unmap(kBase, kSize), 0);
	reply(request, {}, EFAULT);
	EXPECT_FALSE(done.get());
}

TEST_F(DmaMessageTest, DisconnectEndsWaitingAccess)
{
	Bytes out(4);
	auto done = startRead(kBase, out);
	expect(wire::Command::DmaRead, kBase, 4);
	client.disconnect();
	EXPECT_FALSE(done.get());
}

/* An engine that waits for the client holds the reset up; the reset must free it. */
TEST_F(DmaMessageTest, ResetEndsWaitingAccess)
{
	Bytes out(4);
	auto done = startRead(kBase, out);
	const Message request = expect(wire::Command::DmaRead, kBase, 4);
	bool ended = false;
	server.function.onReset = [&] { ended = !done.get(); };
	EXPECT_EQ(client.status(wire::Command::DeviceReset, {}), 0);
	EXPECT_TRUE(ended);
	server.function.onReset = nullptr;

	/* The reply comes too late and is ignored; later accesses work again. */
	reply(request, readReply(kBase, Bytes(4)));
	auto again = startRead(kBase, out);
	reply(expect(wire::Command::DmaRead, kBase, 4), readReply(kBase, Bytes(4, std::byte{ 8 })));
	EXPECT_TRUE(again.get());
	EXPECT_EQ(out[0], std::byte{ 8 });
}

/* The thread that serves the client would wait for itself. */
TEST_F(DmaMessageTest, RefusedInTheServersThread)
{
	bool result = true;
	Bytes out(4);
	server.function.onWrite = [&] { result = server.memory.read(kBase, out); };
	/* The next message is the reply: nothing was asked of the client. */
	EXPECT_EQ(client.write32(0, 0, 1), 0);
	EXPECT_FALSE(result);
	EXPECT_EQ(client.read32(0, 0), 1u);
}

TEST(DmaMessageTimeoutTest, ClientThatNeverReplies)
{
	ServerThread server({}, std::chrono::milliseconds(1));
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	ASSERT_EQ(client.map(kBase, kSize, 3), 0);
	Bytes out(4);
	EXPECT_FALSE(server.memory.read(kBase, out));
	/* The connection is as good as before. */
	ASSERT_TRUE(client.receive());
	EXPECT_EQ(client.read32(0, 0), 0u);
}

TEST(DmaMessageLimitTest, ClientsTransferLimitIsKept)
{
	ServerThread server;
	Client client(server.path());
	const std::string text = R"({"capabilities": {"max_data_xfer_size": 64}})";
	Bytes payload = toBytes(wire::Version{ 0, 0 });
	for (const char c : text)
		payload.push_back(static_cast<std::byte>(c));
	payload.push_back(std::byte{ 0 });
	ASSERT_EQ(client.status(wire::Command::Version, payload), 0);
	ASSERT_EQ(client.map(kBase, kSize, 3), 0);

	Bytes out(100);
	auto done = std::async(std::launch::async, [&] { return server.memory.read(kBase, out); });
	for (const uint32_t count : { 64u, 36u }) {
		const auto request = client.receive();
		ASSERT_TRUE(request);
		const auto access = parse<wire::DmaAccess>(request->payload);
		EXPECT_EQ(+access->count, count);
		ASSERT_TRUE(client.sendRaw(encode(request->header.id, request->header.command,
						  wire::kTypeReply, 0,
						  toBytes(*access, Bytes(count)))));
	}
	EXPECT_TRUE(done.get());
}

} /* namespace */

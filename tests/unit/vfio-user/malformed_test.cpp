/* SPDX-License-Identifier: MIT */
/*
 * Everything a broken or hostile client may send.
 */
#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

class MalformedTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(client.connected());
		ASSERT_EQ(client.version(), 0);
	}

	/* The server still serves the next client, whatever this one did. */
	void TearDown() override
	{
		client.disconnect();
		ASSERT_TRUE(connectWhenFree(server.path()).connected());
		EXPECT_EQ(server.memory.map().size(), 0u);
	}

	void expectInvalid(wire::Command command, const Bytes &payload,
			   const std::vector<int> &fds = {})
	{
		EXPECT_EQ(client.status(command, payload, fds), EINVAL)
			<< "command " << static_cast<int>(command) << ", " << payload.size()
			<< " bytes";
	}

	ServerThread server;
	Client client{ server.path() };
};

TEST_F(MalformedTest, EveryPayloadCutShort)
{
	const std::vector<std::pair<wire::Command, Bytes>> requests = {
		{ wire::Command::DmaMap, toBytes(wire::DmaMap{ 32, 3, 0, 0, 4096 }) },
		{ wire::Command::DmaUnmap, toBytes(wire::DmaUnmap{ 24, 0, 0, 4096 }) },
		{ wire::Command::DeviceGetInfo, toBytes(wire::DeviceInfo{ 16, 0, 0, 0 }) },
		{ wire::Command::DeviceGetRegionInfo,
		  toBytes(wire::RegionInfo{ 32, 0, 0, 0, 0, 0 }) },
		{ wire::Command::DeviceGetRegionIoFds, toBytes(wire::IndexInfo{ 16, 0, 0, 0 }) },
		{ wire::Command::DeviceGetIrqInfo, toBytes(wire::IndexInfo{ 16, 0, 0, 0 }) },
		{ wire::Command::DeviceSetIrqs,
		  toBytes(wire::SetIrqs{ 20, 0x22, 1, 0, 1 }, Bytes(1)) },
		{ wire::Command::RegionRead, toBytes(wire::RegionAccess{ 0, 0, 4 }) },
		{ wire::Command::RegionWrite, toBytes(wire::RegionAccess{ 0, 0, 4 }, Bytes(4)) },
		{ wire::Command::RegionWriteMulti,
		  toBytes(wire::RegionWriteMulti{ 1 },
			  toBytes(wire::RegionWriteEntry{ 0, 0, 4, {} })) },
	};
	for (const auto &[command, payload] : requests) {
		for (size_t size = 0; size < payload.size(); size++)
			expectInvalid(command, Bytes(payload.begin(), payload.begin() + size));
		EXPECT_EQ(client.status(command, payload), 0) << static_cast<int>(command);
	}
}

TEST_F(MalformedTest, ArgumentSizeTooSmall)
{
	expectInvalid(wire::Command::DmaMap, toBytes(wire::DmaMap{ 31, 3, 0, 0, 4096 }));
	expectInvalid(wire::Command::DmaUnmap, toBytes(wire::DmaUnmap{ 0, 0, 0, 4096 }));
	expectInvalid(wire::Command::DeviceGetInfo, toBytes(wire::DeviceInfo{ 15, 0, 0, 0 }));
	expectInvalid(wire::Command::DeviceGetRegionInfo,
		      toBytes(wire::RegionInfo{ 16, 0, 0, 0, 0, 0 }));
	expectInvalid(wire::Command::DeviceGetRegionIoFds, toBytes(wire::IndexInfo{ 8, 0, 0, 0 }));
	expectInvalid(wire::Command::DeviceGetIrqInfo, toBytes(wire::IndexInfo{ 12, 0, 0, 0 }));
	expectInvalid(wire::Command::DeviceSetIrqs, toBytes(wire::SetIrqs{ 19, 0x21, 1, 0, 0 }));
}

TEST_F(MalformedTest, IndexesOutOfRange)
{
	for (const uint32_t index : { 9u, 100u, 0xffffffffu }) {
		expectInvalid(wire::Command::DeviceGetRegionInfo,
			      toBytes(wire::RegionInfo{ 32, 0, index, 0, 0, 0 }));
		expectInvalid(wire::Command::DeviceGetRegionIoFds,
			      toBytes(wire::IndexInfo{ 16, 0, index, 0 }));
		expectInvalid(wire::Command::RegionRead,
			      toBytes(wire::RegionAccess{ 0, index, 4 }));
	}
	for (const uint32_t index : { 5u, 0xffffffffu }) {
		expectInvalid(wire::Command::DeviceGetIrqInfo,
			      toBytes(wire::IndexInfo{ 16, 0, index, 0 }));
		expectInvalid(wire::Command::DeviceSetIrqs,
			      toBytes(wire::SetIrqs{ 20, 0x21, index, 0, 0 }));
	}
}

TEST_F(MalformedTest, RegionAccessOutOfBounds)
{
	const std::vector<wire::RegionAccess> accesses = {
		{ 4096, 0, 1 },
		{ 4093, 0, 4 },
		{ 0, 0, 0 },
		{ 0, 0, 4097 },
		{ 0xfffffffffffffffc, 0, 8 },
		{ 0, 0, 0xffffffff },
		{ 0, 1, 4 },
		{ 0, wire::kRegionRom, 4 },
		{ 254, wire::kRegionConfig, 4 },
		{ 0, wire::kRegionVga, 1 },
	};
	for (const wire::RegionAccess &access : accesses) {
		expectInvalid(wire::Command::RegionRead, toBytes(access));
		if (access.count <= 4097)
			expectInvalid(wire::Command::RegionWrite,
				      toBytes(access, Bytes(access.count)));
	}
	/* Data that is not as long as it says. */
	expectInvalid(wire::Command::RegionWrite, toBytes(wire::RegionAccess{ 0, 0, 4 }, Bytes(3)));
	expectInvalid(wire::Command::RegionWrite, toBytes(wire::RegionAccess{ 0, 0, 4 }, Bytes(5)));
	expectInvalid(wire::Command::RegionRead, toBytes(wire::RegionAccess{ 0, 0, 4 }, Bytes(1)));
}

TEST_F(MalformedTest, WriteMultiIsAllOrNothing)
{
	const auto multi = [&](uint64_t count, const std::vector<wire::RegionWriteEntry> &entries) {
		Bytes payload = toBytes(wire::RegionWriteMulti{ count });
		for (const auto &entry : entries)
			append(payload, entry);
		expectInvalid(wire::Command::RegionWriteMulti, payload);
	};
	const wire::RegionWriteEntry good = { 0, 0, 4, { std::byte{ 1 } } };
	multi(0, {});
	multi(2, { good });
	multi(1, { good, good });
	multi(0x0aaaaaaaaaaaaaab, { good });
	multi(201, std::vector<wire::RegionWriteEntry>(201, good));
	multi(2, { good, { 0, 0, 9, {} } });
	multi(2, { good, { 4096, 0, 1, {} } });
	multi(2, { good, { 0, 1, 1, {} } });
	multi(2, { good, { 0, 0, 0, {} } });
	EXPECT_EQ(client.read32(0, 0), 0u);
}

TEST_F(MalformedTest, DmaMapOfBadShape)
{
	const UniqueFd memfd = makeMemfd(8192, true);
	const int fd = memfd.get();
	EXPECT_EQ(client.map(0, 0, 3, fd), EINVAL) << "no size";
	EXPECT_EQ(client.map(0, 4097, 3, fd), EINVAL) << "size not of pages";
	EXPECT_EQ(client.map(1, 4096, 3, fd), EINVAL) << "address not of pages";
	EXPECT_EQ(client.map(0, 4096, 3, fd, 1), EINVAL) << "offset not of pages";
	EXPECT_EQ(client.map(0xfffffffffffff000, 8192, 3, fd), EINVAL) << "past the end";
	EXPECT_EQ(client.map(0, 12288, 3, fd), EINVAL) << "longer than the file";
	EXPECT_EQ(client.map(0, 4096, 3, fd, 8192), EINVAL) << "behind the file";
	EXPECT_EQ(client.map(0, 4096, 3, fd, 0xfffffffffffff000), EINVAL) << "far behind the file";
	EXPECT_EQ(client.map(0, 4096, 0, fd), EINVAL) << "no access";
	EXPECT_EQ(client.map(0, 4096, 0x13, fd), EINVAL) << "unknown flag";
	EXPECT_EQ(client.map(0, 4096, 3, fd), 0);
	EXPECT_EQ(client.map(0, 4096, 3, fd), EEXIST);
	EXPECT_EQ(client.map(0, 8192, 3, fd), EEXIST);
	EXPECT_EQ(client.unmap(0, 4096, 1), EINVAL) << "unknown flag";
	EXPECT_EQ(client.unmap(0, 4096, wire::kDmaUnmapAll), EINVAL) << "all, but a range";
	EXPECT_EQ(server.memory.map().size(), 1u);
}

TEST_F(MalformedTest, DescriptorsOfWrongKindOrNumber)
{
	const UniqueFd memfd = makeMemfd(4096, true);
	const UniqueFd event = makeEventfd();
	const int m = memfd.get();
	const int e = event.get();

	EXPECT_EQ(client.map(0, 4096, 3, e), EINVAL) << "an eventfd is no memory";
	expectInvalid(wire::Command::DmaMap, toBytes(wire::DmaMap{ 32, 3, 0, 0, 4096 }), { m, m });
	expectInvalid(wire::Command::DeviceGetInfo, toBytes(wire::DeviceInfo{ 16, 0, 0, 0 }),
		      { m });
	expectInvalid(wire::Command::RegionRead, toBytes(wire::RegionAccess{ 0, 0, 4 }), { m });
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { m }), EINVAL)
		<< "a file is no eventfd";
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { e, e }), EINVAL);
	EXPECT_EQ(client.setIrqs(0x21, wire::kIrqMsi, 0, 0, { e }), EINVAL) << "none wanted";

	int pipe[2];
	ASSERT_EQ(::pipe(pipe), 0);
	const UniqueFd readEnd(pipe[0]);
	const UniqueFd writeEnd(pipe[1]);
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { pipe[1] }), EINVAL);
}

TEST_F(MalformedTest, SetIrqsOfBadShape)
{
	const UniqueFd event = makeEventfd();
	const int e = event.get();
	EXPECT_EQ(client.setIrqs(0x20, wire::kIrqMsi, 0, 1), EINVAL) << "no data type";
	EXPECT_EQ(client.setIrqs(0x23, wire::kIrqMsi, 0, 1), EINVAL) << "two data types";
	EXPECT_EQ(client.setIrqs(0x01, wire::kIrqMsi, 0, 1), EINVAL) << "no action";
	EXPECT_EQ(client.setIrqs(0x19, wire::kIrqMsi, 0, 1), EINVAL) << "two actions";
	EXPECT_EQ(client.setIrqs(0x61, wire::kIrqMsi, 0, 1), EINVAL) << "unknown flag";
	EXPECT_EQ(client.setIrqs(0x0c, wire::kIrqMsi, 0, 1, { e }), EINVAL) << "mask by eventfd";
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 1, 1, { e }), EINVAL) << "no such interrupt";
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 2, { e, e }), EINVAL) << "too many";
	EXPECT_EQ(client.setIrqs(0x21, wire::kIrqMsi, 0xffffffff, 2), EINVAL) << "overflow";
	EXPECT_EQ(client.setIrqs(0x21, wire::kIrqMsi, 1, 0xffffffff), EINVAL) << "overflow";
	EXPECT_EQ(client.setIrqs(0x24, wire::kIrqIntx, 0, 1, { e }), EINVAL) << "there is no INTx";
	EXPECT_EQ(client.setIrqs(0x22, wire::kIrqMsi, 0, 1), EINVAL) << "no data";
	EXPECT_EQ(client.setIrqs(0x22, wire::kIrqMsi, 0, 1, {}, Bytes(2)), EINVAL) << "much data";
	EXPECT_EQ(client.setIrqs(0x21, wire::kIrqMsi, 0, 1, {}, Bytes(1)), EINVAL) << "data";
}

TEST_F(MalformedTest, SecondVersionIsRefused)
{
	EXPECT_EQ(client.version(), EINVAL);
	EXPECT_EQ(client.read32(0, 0), 0u);
}

TEST_F(MalformedTest, DescriptorsAreNotLeaked)
{
	const size_t before = openDescriptors();
	const UniqueFd memfd = makeMemfd(4096, true);
	const UniqueFd event = makeEventfd();
	const int m = memfd.get();
	for (int i = 0; i < 20; i++) {
		expectInvalid(wire::Command::DmaMap, toBytes(wire::DmaMap{ 32, 0, 0, 0, 4096 }),
			      { m });
		expectInvalid(wire::Command::DmaMap, toBytes(wire::DmaMap{ 32, 3, 0, 0, 4096 }),
			      { m, m, m, m, m, m, m, m });
		expectInvalid(wire::Command::DeviceReset, {}, { m });
		EXPECT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { m }), EINVAL);
		ASSERT_EQ(client.map(0, 4096, 3, m), 0);
		ASSERT_EQ(client.unmap(0, 4096), 0);
		ASSERT_EQ(client.setIrqs(0x24, wire::kIrqMsi, 0, 1, { event.get() }), 0);
		ASSERT_EQ(client.setIrqs(0x21, wire::kIrqMsi, 0, 0), 0);
	}
	EXPECT_EQ(openDescriptors(), before + 2);
}

/* What cannot be the start of a message ends the connection: the stream is lost. */
TEST_F(MalformedTest, BadHeaderEndsTheConnection)
{
	const std::vector<wire::Header> headers = {
		{ 1, 13, 0, 0, 0 },	     { 1, 13, 15, 0, 0 },
		{ 1, 13, 0xffffffff, 0, 0 }, { 1, 13, wire::kMaxMessage + 1, 0, 0 },
		{ 1, 13, 16, 2, 0 },	     { 1, 13, 16, 0xf, 0 },
	};
	client.disconnect();
	for (const wire::Header &header : headers) {
		Client bad = connectWhenFree(server.path());
		ASSERT_TRUE(bad.connected());
		ASSERT_TRUE(bad.sendRaw(toBytes(header)));
		EXPECT_TRUE(bad.closedByServer());
	}
}

TEST_F(MalformedTest, TooManyDescriptorsEndTheConnection)
{
	const UniqueFd memfd = makeMemfd(4096, true);
	const size_t before = openDescriptors();
	client.send(wire::Command::DeviceReset, {}, std::vector<int>(9, memfd.get()));
	EXPECT_TRUE(client.closedByServer());
	client.disconnect();
	/* The server's end of the connection is closed a moment before the client's sees it. */
	EXPECT_EQ(openDescriptors(), before - 2);
}

TEST_F(MalformedTest, MoreDescriptorsThanTheBufferEndTheConnection)
{
	const UniqueFd memfd = makeMemfd(4096, true);
	const size_t before = openDescriptors();
	client.send(wire::Command::DeviceReset, {}, std::vector<int>(60, memfd.get()));
	EXPECT_TRUE(client.closedByServer());
	client.disconnect();
	EXPECT_EQ(openDescriptors(), before - 2);
}

TEST_F(MalformedTest, ConnectionEndsInsideMessage)
{
	const Bytes message =
		encode(1, static_cast<uint16_t>(wire::Command::RegionRead), 0, 0, Bytes(16));
	client.sendRaw(std::span(message).first(20));
}

TEST_F(MalformedTest, MessageInManyPieces)
{
	const Bytes message = encode(9, static_cast<uint16_t>(wire::Command::RegionRead), 0, 0,
				     toBytes(wire::RegionAccess{ 0, 0, 4 }));
	for (const std::byte byte : message)
		ASSERT_TRUE(client.sendRaw({ &byte, 1 }));
	const auto reply = client.receive();
	ASSERT_TRUE(reply);
	EXPECT_EQ(+reply->header.id, 9);
	EXPECT_EQ(reply->payload.size(), 20u);
}

/* Descriptors belong to the message whose bytes they came with, not to its neighbours. */
TEST_F(MalformedTest, MessagesInOnePiece)
{
	const UniqueFd memfd = makeMemfd(4096, true);
	Bytes both = encode(1, static_cast<uint16_t>(wire::Command::DmaMap), 0, 0,
			    toBytes(wire::DmaMap{ 32, 3, 0, 0, 4096 }));
	const Bytes second = encode(2, static_cast<uint16_t>(wire::Command::DeviceReset), 0, 0, {});
	both.insert(both.end(), second.begin(), second.end());
	ASSERT_TRUE(client.sendRaw(both, { memfd.get() }));
	for (const int id : { 1, 2 }) {
		const auto reply = client.receive();
		ASSERT_TRUE(reply);
		EXPECT_EQ(+reply->header.id, id);
		EXPECT_EQ(+reply->header.flags, wire::kTypeReply);
	}
}

/* More than the server takes in a row, with a message among them that has a descriptor. */
TEST_F(MalformedTest, BurstsOfRegisterAccesses)
{
	constexpr uint32_t writes = 300;
	const UniqueFd memfd = makeMemfd(4096, true);
	Bytes burst;
	for (uint32_t i = 0; i < writes; i++) {
		Bytes write = toBytes(wire::RegionAccess{ 4 * (i % 3), 0, 4 });
		append(write, i);
		const Bytes message = encode(static_cast<uint16_t>(i),
					     static_cast<uint16_t>(wire::Command::RegionWrite),
					     wire::kNoReply, 0, write);
		burst.insert(burst.end(), message.begin(), message.end());
	}
	for (const uint16_t id : { 1000, 1001 }) {
		const Bytes message =
			encode(id, static_cast<uint16_t>(wire::Command::RegionRead), 0, 0,
			       toBytes(wire::RegionAccess{ 4u * (id % 2), 0, 4 }));
		burst.insert(burst.end(), message.begin(), message.end());
	}
	for (int i = 0; i < 10; i++) {
		const uint64_t address = uint64_t{ 4096 } * static_cast<unsigned int>(i);
		ASSERT_TRUE(client.sendRaw(burst));
		ASSERT_TRUE(
			client.sendRaw(encode(7, static_cast<uint16_t>(wire::Command::DmaMap), 0, 0,
					      toBytes(wire::DmaMap{ 32, 3, 0, address, 4096 })),
				       { memfd.get() }));
		/* The last of them to each register. */
		for (const uint32_t expected : { 297u, 298u }) {
			const auto reply = client.receive();
			ASSERT_TRUE(reply);
			ASSERT_EQ(reply->payload.size(), sizeof(wire::RegionAccess) + 4);
			uint32_t value;
			std::memcpy(&value, &reply->payload[sizeof(wire::RegionAccess)], 4);
			EXPECT_EQ(value, expected);
		}
		const auto reply = client.receive();
		ASSERT_TRUE(reply);
		EXPECT_EQ(+reply->header.id, 7);
		EXPECT_EQ(+reply->header.flags, wire::kTypeReply);
	}
	EXPECT_EQ(server.memory.map().size(), 10u);
}

TEST_F(MalformedTest, RepliesToNothingAreIgnored)
{
	for (const uint32_t flags : { wire::kTypeReply, wire::kTypeReply | wire::kError }) {
		const Bytes message = encode(77, static_cast<uint16_t>(wire::Command::DmaRead),
					     flags, 5, Bytes(20));
		ASSERT_TRUE(client.sendRaw(message));
	}
	EXPECT_EQ(client.read32(0, 0), 0u);
}

TEST(FirstMessageTest, MustBeVersion)
{
	ServerThread server;
	Client client(server.path());
	EXPECT_EQ(client.status(wire::Command::DeviceReset, {}), EPROTO);
	EXPECT_TRUE(client.closedByServer());
}

TEST(FirstMessageTest, BadVersionsAreRefused)
{
	const auto text = [](const std::string &json, bool terminated = true) {
		Bytes bytes;
		for (const char c : json)
			bytes.push_back(static_cast<std::byte>(c));
		if (terminated)
			bytes.push_back(std::byte{ 0 });
		return toBytes(wire::Version{ 0, 0 }, bytes);
	};
	const std::vector<std::pair<Bytes, int>> payloads = {
		{ {}, EINVAL },
		{ Bytes(3), EINVAL },
		{ toBytes(wire::Version{ 1, 0 }), ENOTSUP },
		{ text("{}", false), EINVAL },
		{ text(""), EINVAL },
		{ text("{"), EINVAL },
		{ text("[]"), EINVAL },
		{ text("{} x"), EINVAL },
		{ text(std::string(65536, '[')), EINVAL },
		{ text(std::string(60000, '[')), EINVAL },
		{ text(R"({"capabilities": 1})"), EINVAL },
		{ text(R"({"capabilities": {"max_data_xfer_size": "big"}})"), EINVAL },
		{ text(R"({"capabilities": {"max_data_xfer_size": -1}})"), EINVAL },
		{ text(R"({"capabilities": {"max_data_xfer_size": 0}})"), EINVAL },
	};
	for (const auto &[payload, error] : payloads) {
		ServerThread server;
		Client client(server.path());
		EXPECT_EQ(client.status(wire::Command::Version, payload), error);
		EXPECT_TRUE(client.closedByServer());
	}
	/* A later minor version and no capabilities at all are fine. */
	for (const Bytes &payload : { toBytes(wire::Version{ 0, 7 }), text("{}") }) {
		ServerThread server;
		Client client(server.path());
		EXPECT_EQ(client.status(wire::Command::Version, payload), 0);
	}
}

} /* namespace */

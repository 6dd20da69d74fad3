/* SPDX-License-Identifier: MIT */
/*
 * Every command as a client sends it.
 */
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

class CommandsTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(client.connected());
		ASSERT_EQ(client.version(), 0);
	}

	ServerThread server;
	Client client{ server.path() };
};

TEST(VersionTest, RepliesWithNumbersAndCapabilities)
{
	for (const bool multiple : { false, true }) {
		ServerThread server(Offer{ .writeMultiple = multiple });
		Client client(server.path());
		const Message reply =
			client.call(wire::Command::Version, toBytes(wire::Version{ 0, 0 }));
		ASSERT_GT(reply.payload.size(), sizeof(wire::Version));
		const auto numbers = parse<wire::Version>(reply.payload);
		EXPECT_EQ(+numbers->major, 0);
		EXPECT_EQ(+numbers->minor, 0);
		EXPECT_EQ(reply.payload.back(), std::byte{ 0 });
		const auto json =
			nlohmann::json::parse(reinterpret_cast<const char *>(reply.payload.data()) +
					      sizeof(wire::Version));
		const auto &capabilities = json.at("capabilities");
		EXPECT_EQ(capabilities.at("max_msg_fds"), 8);
		EXPECT_EQ(capabilities.at("max_data_xfer_size"), 1024 * 1024);
		EXPECT_EQ(capabilities.contains("write_multiple"), multiple);
	}
}

/* The text that QEMU 11.1 sends; keys that mean nothing here must not matter. */
TEST(VersionTest, AcceptsQemusProposal)
{
	ServerThread server;
	Client client(server.path());
	const std::string text =
		R"({"capabilities": {"pgsizes": 4096, "max_msg_fds": 16, "max_dma_maps": 65535, )"
		R"("max_data_xfer_size": 1048576, "migration": {"max_bitmap_size": 268435456, )"
		R"("pgsize": 4096}, "write_multiple": true}})";
	Bytes payload = toBytes(wire::Version{ 0, 0 });
	for (const char c : text)
		payload.push_back(static_cast<std::byte>(c));
	payload.push_back(std::byte{ 0 });
	EXPECT_EQ(client.status(wire::Command::Version, payload), 0);
}

TEST_F(CommandsTest, DeviceInfo)
{
	const wire::DeviceInfo request = { sizeof(request), 0, 0, 0 };
	const Message reply = client.call(wire::Command::DeviceGetInfo, toBytes(request));
	const auto info = parse<wire::DeviceInfo>(reply.payload);
	ASSERT_TRUE(info);
	EXPECT_EQ(+info->argsz, 16u);
	EXPECT_EQ(+info->flags, 3u);
	EXPECT_GE(+info->regions, 8u);
	EXPECT_GE(+info->irqs, 3u);
}

TEST_F(CommandsTest, RegionInfo)
{
	const std::array<uint64_t, wire::kRegionCount> sizes = {
		4096, 0, 4096, 0, 0, 0, 0, 256, 0
	};
	for (uint32_t index = 0; index < wire::kRegionCount; index++) {
		const wire::RegionInfo request = { sizeof(request), 0, index, 0, 0, 0 };
		const Message reply =
			client.call(wire::Command::DeviceGetRegionInfo, toBytes(request));
		const auto info = parse<wire::RegionInfo>(reply.payload);
		ASSERT_TRUE(info);
		EXPECT_EQ(+info->argsz, 32u);
		EXPECT_EQ(+info->index, index);
		EXPECT_EQ(+info->size, sizes[index]);
		EXPECT_EQ(+info->flags, sizes[index] ? 3u : 0u) << "never mappable";
		EXPECT_TRUE(reply.fds.empty());
	}
}

TEST_F(CommandsTest, RegionIoFdsAreNone)
{
	const wire::IndexInfo request = { sizeof(request), 0, 0, 0 };
	const Message reply = client.call(wire::Command::DeviceGetRegionIoFds, toBytes(request));
	const auto info = parse<wire::IndexInfo>(reply.payload);
	ASSERT_TRUE(info);
	EXPECT_EQ(+info->count, 0u);
}

TEST_F(CommandsTest, IrqInfo)
{
	const std::array<uint32_t, wire::kIrqCount> counts = { 0, 1, 1, 1, 0 };
	for (uint32_t index = 0; index < wire::kIrqCount; index++) {
		const wire::IndexInfo request = { sizeof(request), 0, index, 0 };
		const Message reply =
			client.call(wire::Command::DeviceGetIrqInfo, toBytes(request));
		const auto info = parse<wire::IndexInfo>(reply.payload);
		ASSERT_TRUE(info);
		EXPECT_EQ(+info->index, index);
		EXPECT_EQ(+info->count, counts[index]);
		EXPECT_EQ((info->flags & wire::kIrqEventfd) != 0, counts[index] != 0);
	}
}

TEST_F(CommandsTest, RegionReadAndWriteOfEveryWidth)
{
	for (const uint32_t width : { 1u, 2u, 4u, 8u, 64u, 4096u }) {
		Bytes data;
		for (uint32_t i = 0; i < width; i++)
			data.push_back(static_cast<std::byte>(i + width));
		EXPECT_EQ(client.write(0, 4096 - width, data), 0);
		EXPECT_EQ(client.read(0, 4096 - width, width), data);
	}
}

TEST_F(CommandsTest, WriteReplyRepeatsTheRequest)
{
	const wire::RegionAccess request = { 8, 0, 4 };
	const Message reply =
		client.call(wire::Command::RegionWrite, toBytes(request, Bytes(4, std::byte{ 1 })));
	EXPECT_EQ(reply.payload, toBytes(request));
}

TEST_F(CommandsTest, PostedWriteHasNoReply)
{
	client.send(wire::Command::RegionWrite,
		    toBytes(wire::RegionAccess{ 16, 0, 4 }, toBytes(uint32_t{ 0xcafe })), {},
		    wire::kNoReply);
	/* The next reply is the read's, and it sees the write. */
	EXPECT_EQ(client.read32(0, 16), 0xcafeu);
}

TEST_F(CommandsTest, RefusedPostedWriteHasNoReply)
{
	client.send(wire::Command::RegionWrite,
		    toBytes(wire::RegionAccess{ 4096, 0, 4 }, toBytes(uint32_t{ 1 })), {},
		    wire::kNoReply);
	EXPECT_EQ(client.read32(0, 16), 0u);
}

TEST_F(CommandsTest, WriteMultiIsCarriedOutInOrder)
{
	Bytes payload = toBytes(wire::RegionWriteMulti{ 3 });
	for (const uint32_t value : { 1u, 2u, 3u }) {
		wire::RegionWriteEntry entry = { value == 3 ? 8u : 4u, 0, 4, {} };
		std::memcpy(entry.data, &value, sizeof(value));
		append(payload, entry);
	}
	client.send(wire::Command::RegionWriteMulti, payload, {}, wire::kNoReply);
	EXPECT_EQ(client.read32(0, 4), 2u);
	EXPECT_EQ(client.read32(0, 8), 3u);
}

TEST_F(CommandsTest, ResetClearsTheDevice)
{
	ASSERT_EQ(client.write32(0, 0, 7), 0);
	ASSERT_EQ(client.write(wire::kRegionConfig, pci::kCommand, toBytes(uint16_t{ 6 })), 0);
	EXPECT_TRUE(server.function.busMaster());
	EXPECT_EQ(client.status(wire::Command::DeviceReset, {}), 0);
	EXPECT_EQ(server.function.resets(), 1);
	EXPECT_EQ(client.read32(0, 0), 0u);
	EXPECT_FALSE(server.function.busMaster());
	EXPECT_EQ(client.read(wire::kRegionConfig, pci::kCommand, 2), Bytes(2));
}

TEST_F(CommandsTest, MigrationAndUnknownCommandsAreNotSupported)
{
	for (const int command : { 0, 14, 16, 17, 18, 19, 1000, 65535 })
		EXPECT_EQ(client.status(static_cast<wire::Command>(command), Bytes(16)), ENOTSUP)
			<< command;
	/* And the connection goes on. */
	EXPECT_EQ(client.read32(0, 0), 0u);
}

TEST_F(CommandsTest, DmaCommandsGoTheOtherWay)
{
	EXPECT_EQ(client.status(wire::Command::DmaRead, toBytes(wire::DmaAccess{ 0, 4 })), EINVAL);
	EXPECT_EQ(
		client.status(wire::Command::DmaWrite, toBytes(wire::DmaAccess{ 0, 4 }, Bytes(4))),
		EINVAL);
}

TEST_F(CommandsTest, UnmapRepeatsTheRequest)
{
	/* What QEMU sends with a virtual IOMMU, although nothing is mapped there. */
	const wire::DmaUnmap request = { sizeof(request), 0, 0xfef00000, 0xffffffff01100000 };
	const Message reply = client.call(wire::Command::DmaUnmap, toBytes(request));
	EXPECT_EQ(reply.payload, toBytes(request));
}

TEST_F(CommandsTest, MapAndUnmapReachTheDevicesMemory)
{
	const UniqueFd memfd = makeMemfd(8192, true);
	ASSERT_EQ(client.map(0x10000, 8192, 3, memfd.get()), 0);

	const Bytes data(100, std::byte{ 0x5a });
	EXPECT_TRUE(server.memory.write(0x11000, data));
	Bytes seen(100);
	ASSERT_EQ(pread(memfd.get(), seen.data(), seen.size(), 4096), 100);
	EXPECT_EQ(seen, data);

	ASSERT_EQ(client.unmap(0x10000, 8192), 0);
	EXPECT_FALSE(server.memory.read(0x11000, seen));
}

TEST_F(CommandsTest, UnmapAll)
{
	const UniqueFd memfd = makeMemfd(8192, true);
	ASSERT_EQ(client.map(0, 4096, 3, memfd.get()), 0);
	ASSERT_EQ(client.map(0xfffffffffffff000, 4096, 3, memfd.get(), 4096), 0);
	EXPECT_EQ(server.memory.map().size(), 2u);
	EXPECT_EQ(client.unmap(0, 0, wire::kDmaUnmapAll), 0);
	EXPECT_EQ(server.memory.map().size(), 0u);
}

} /* namespace */

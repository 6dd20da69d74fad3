/* SPDX-License-Identifier: MIT */
/*
 * Configuration space as a guest's firmware and kernel go through it.
 */
#include <gtest/gtest.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

class ConfigSpaceTest : public testing::Test
{
protected:
	uint32_t read(size_t offset, uint32_t width)
	{
		std::array<std::byte, 4> bytes = {};
		EXPECT_EQ(function.regionRead(wire::kRegionConfig, offset,
					      std::span(bytes).first(width)),
			  0);
		uint32_t value;
		std::memcpy(&value, bytes.data(), 4);
		return value;
	}

	void write(size_t offset, uint32_t width, uint32_t value)
	{
		std::array<std::byte, 4> bytes;
		std::memcpy(bytes.data(), &value, 4);
		EXPECT_EQ(function.regionWrite(wire::kRegionConfig, offset,
					       std::span(bytes).first(width)),
			  0);
	}

	/* Place of a capability, found the way an operating system does. */
	uint32_t find(uint8_t id)
	{
		uint32_t at = read(pci::kCapabilities, 1);
		for (int i = 0; at != 0 && i < 48; i++) {
			EXPECT_EQ(at % 4, 0u);
			EXPECT_GE(at, 0x40u);
			if (read(at, 1) == id)
				return at;
			at = read(at + 1, 1);
		}
		return 0;
	}

	Log log = quietLog();
	GuestMemory memory{ log };
	Interrupts interrupts{ log, 1 };
	TestFunction function{ memory, interrupts };
};

TEST_F(ConfigSpaceTest, Header)
{
	EXPECT_EQ(read(pci::kVendorId, 4), 0x56781234u);
	EXPECT_EQ(read(pci::kRevision, 4), 0x12000003u);
	EXPECT_EQ(read(pci::kSubsystemVendorId, 4), 0x00011234u);
	EXPECT_EQ(read(pci::kStatus, 2), pci::kStatusCapabilities);
	EXPECT_EQ(read(0x0e, 1), 0u) << "header type 0, one function";
	EXPECT_EQ(read(pci::kInterruptPin, 1), 0u) << "no INTx";
}

TEST_F(ConfigSpaceTest, IdentityCannotBeWritten)
{
	write(pci::kVendorId, 4, 0xffffffff);
	write(pci::kRevision, 4, 0xffffffff);
	write(pci::kCapabilities, 4, 0xffffffff);
	EXPECT_EQ(read(pci::kVendorId, 4), 0x56781234u);
	EXPECT_EQ(read(pci::kRevision, 4), 0x12000003u);
	EXPECT_EQ(read(pci::kCapabilities, 1), 0x40u);
}

TEST_F(ConfigSpaceTest, BarsShowTheirSize)
{
	for (unsigned int bar = 0; bar < pci::kBarCount; bar++) {
		write(pci::kBar0 + 4 * bar, 4, 0xffffffff);
		const bool there = bar == 0 || bar == TestFunction::kMsixBar;
		EXPECT_EQ(read(pci::kBar0 + 4 * bar, 4), there ? 0xfffff000u : 0u) << bar;
	}
	write(pci::kBar0, 4, 0xfebf1234);
	EXPECT_EQ(read(pci::kBar0, 4), 0xfebf1000u);
	write(0x30, 4, 0xfffff800);
	EXPECT_EQ(read(0x30, 4), 0u) << "no expansion ROM";
}

TEST_F(ConfigSpaceTest, CommandKeepsOnlyItsBits)
{
	write(pci::kCommand, 2, 0xffff);
	EXPECT_EQ(read(pci::kCommand, 2), 0x0546u);
	EXPECT_TRUE(function.busMaster());
	write(pci::kCommand, 1, 0);
	EXPECT_EQ(read(pci::kCommand, 2), 0x0500u);
	EXPECT_FALSE(function.busMaster());
}

TEST_F(ConfigSpaceTest, MsiHasOneMessageAnd64BitAddress)
{
	const uint32_t at = find(pci::kCapabilityMsi);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(read(at + 2, 2), 0x0080u);
	write(at + 4, 4, 0xfee01004);
	write(at + 8, 4, 0x12345678);
	write(at + 12, 2, 0x4321);
	write(at + 2, 2, 1);
	EXPECT_EQ(read(at + 4, 4), 0xfee01004u);
	EXPECT_EQ(read(at + 8, 4), 0x12345678u);
	EXPECT_EQ(read(at + 12, 2), 0x4321u);
	EXPECT_EQ(read(at + 2, 2), 0x0081u);
}

TEST_F(ConfigSpaceTest, MsixHasOneVector)
{
	const uint32_t at = find(pci::kCapabilityMsix);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(read(at + 2, 2), 0u);
	EXPECT_EQ(read(at + 4, 4), 0x002u) << "table at the start of BAR 2";
	EXPECT_EQ(read(at + 8, 4), 0x802u) << "pending bits in its middle";
	write(at + 2, 2, 0xffff);
	EXPECT_EQ(read(at + 2, 2), 0xc000u);
}

TEST_F(ConfigSpaceTest, PendingBitIsReadFromTheMsixBar)
{
	std::array<std::byte, 8> bits;
	ASSERT_EQ(function.regionRead(TestFunction::kMsixBar, 0x800, bits), 0);
	EXPECT_EQ(bits[0], std::byte{ 0 });
	function.raiseInterrupt();
	ASSERT_EQ(function.regionRead(TestFunction::kMsixBar, 0x800, bits), 0);
	EXPECT_EQ(bits[0], std::byte{ 1 });
	EXPECT_EQ(bits[1], std::byte{ 0 });
}

TEST_F(ConfigSpaceTest, FunctionLevelReset)
{
	const uint32_t at = find(pci::kCapabilityAdvanced);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(read(at + 2, 1), 6u);
	EXPECT_EQ(read(at + 3, 1), 3u) << "reset and transactions-pending are there";
	EXPECT_EQ(read(at + 4, 2), 0u);

	write(pci::kCommand, 2, 6);
	write(pci::kBar0, 4, 0xfebf1000);
	function.raiseInterrupt();
	write(at + 4, 1, 0);
	EXPECT_EQ(function.resets(), 0);
	write(at + 4, 1, 1);
	EXPECT_EQ(function.resets(), 1);
	EXPECT_EQ(read(pci::kCommand, 2), 0u);
	EXPECT_EQ(read(pci::kBar0, 4), 0u);
	EXPECT_EQ(read(at + 4, 2), 0u);
	EXPECT_FALSE(interrupts.pending(0));
	EXPECT_FALSE(function.busMaster());

	/* The bit also counts inside a wider write. */
	write(at, 4, 0);
	EXPECT_EQ(function.resets(), 1);
	write(at + 4, 2, 1);
	EXPECT_EQ(function.resets(), 2);
}

TEST_F(ConfigSpaceTest, PowerStates)
{
	const uint32_t at = find(pci::kCapabilityPower);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(read(at + 2, 2), 3u) << "version 1.2, neither D1, D2 nor PME";
	EXPECT_EQ(read(at + 4, 4), 0u) << "D0, and a reset on the way back to it";

	write(pci::kCommand, 2, 6);
	std::array<std::byte, 4> bytes = {};
	ASSERT_EQ(function.regionWrite(0, 0, bytes), 0);
	function.raiseInterrupt();

	write(at + 4, 2, 3);
	EXPECT_EQ(read(at + 4, 2), 3u);
	EXPECT_EQ(function.resets(), 1);
	EXPECT_FALSE(interrupts.pending(0));
	EXPECT_FALSE(function.busMaster());
	EXPECT_EQ(read(pci::kCommand, 2), 6u) << "the configuration stays until the way back";
	ASSERT_EQ(function.regionRead(0, 0, bytes), 0);
	for (const std::byte byte : bytes)
		EXPECT_EQ(byte, std::byte{ 0xff });
	ASSERT_EQ(function.regionRead(TestFunction::kMsixBar, 0x800, bytes), 0);
	EXPECT_EQ(bytes[0], std::byte{ 0xff });
	write(pci::kCommand, 2, 6);
	EXPECT_FALSE(function.busMaster()) << "in D3hot whatever the command register says";

	write(at + 4, 2, 0);
	EXPECT_EQ(read(at + 4, 2), 0u);
	EXPECT_EQ(function.resets(), 2);
	EXPECT_EQ(read(pci::kCommand, 2), 0u);
	ASSERT_EQ(function.regionRead(TestFunction::kMsixBar, 0x800, bytes), 0);
	EXPECT_EQ(bytes[0], std::byte{ 0 });
}

TEST_F(ConfigSpaceTest, StatesThatAreNotThereCannotBeWritten)
{
	const uint32_t at = find(pci::kCapabilityPower);
	ASSERT_NE(at, 0u);
	for (const uint32_t start : { 0u, 3u }) {
		write(at + 4, 2, start);
		const int resets = function.resets();
		for (const uint32_t state : { 1u, 2u }) {
			write(at + 4, 2, state);
			EXPECT_EQ(read(at + 4, 2), start);
		}
		EXPECT_EQ(function.resets(), resets);
	}
}

TEST_F(ConfigSpaceTest, UnalignedAccessAcrossRegisters)
{
	EXPECT_EQ(read(1, 2), 0x7812u);
	write(pci::kBar0 + 1, 2, 0xabcd);
	EXPECT_EQ(read(pci::kBar0, 4), 0x00abc000u);
}

} /* namespace */

/* SPDX-License-Identifier: MIT */
/*
 * The PCI function as a guest sees it: configuration space, registers, DMA,
 * interrupts, reset.
 */
#include <nvdla/hw/pci.h>
#include <nvdla/hw/registers.h>

#include "nvdla_sim_test.h"

using namespace nvdla::test;

namespace
{

constexpr uint32_t kHwVersion = 0x00303031;
constexpr uint8_t kCapMsi = 0x05;
constexpr uint8_t kCapVendor = 0x09;
constexpr uint8_t kCapMsix = 0x11;
constexpr uint8_t kCapAdvanced = 0x13;

class FunctionTest : public NvdlaSimTest
{
protected:
	void start(Ram ram = Ram::Shared, const std::vector<std::string> &options = {})
	{
		ASSERT_NO_FATAL_FAILURE(startSim(options));
		ASSERT_NO_FATAL_FAILURE(startQemu(ram));
	}

	/* A message is a write of its data to its address; here that is plain memory. */
	static constexpr uint64_t kMessageAddress = 0x180000;
	static constexpr uint16_t kMessageData = 0x4b1d;

	void enableMsi()
	{
		const uint8_t at = device_->findCapability(kCapMsi);
		ASSERT_NE(at, 0);
		device_->setConfig<uint32_t>(static_cast<uint8_t>(at + 4), kMessageAddress);
		device_->setConfig<uint32_t>(static_cast<uint8_t>(at + 8), 0);
		device_->setConfig<uint16_t>(static_cast<uint8_t>(at + 12), kMessageData);
		device_->setConfig<uint16_t>(static_cast<uint8_t>(at + 2), 1);
	}

	void enableMsix()
	{
		const uint8_t at = device_->findCapability(kCapMsix);
		ASSERT_NE(at, 0);
		ASSERT_EQ(device_->config<uint32_t>(static_cast<uint8_t>(at + 4)),
			  NVDLA_PCI_MSIX_BAR + 0u);
		qemu_->write<uint32_t>(kMsixTable, kMessageAddress);
		qemu_->write<uint32_t>(kMsixTable + 4, 0);
		qemu_->write<uint32_t>(kMsixTable + 8, kMessageData);
		qemu_->write<uint32_t>(kMsixTable + 12, 0);
		device_->setConfig<uint16_t>(static_cast<uint8_t>(at + 2), 0x8000);
	}

	void expectMessage()
	{
		waitFor("an interrupt message",
			[&] { return qemu_->read<uint32_t>(kMessageAddress) == kMessageData; });
		qemu_->write<uint32_t>(kMessageAddress, 0);
	}

	/* The report may come a moment after the operation's end is seen. */
	void expectGuestError()
	{
		waitFor("a guest error",
			[&] { return said("sim.log").find("guest error") != std::string::npos; });
	}

	void copyWithInterrupt()
	{
		const auto data = pattern(4096);
		qemu_->writeMemory(kRam, data);
		qemu_->write<uint32_t>(kMessageAddress, 0);
		startCopy(kRam, kRam + 0x10000, 4096);
		expectMessage();
		EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0);
		finishCopy();
		EXPECT_EQ(qemu_->readMemory(kRam + 0x10000, 4096), data);
	}
};

TEST_F(FunctionTest, Identity)
{
	ASSERT_NO_FATAL_FAILURE(start());
	EXPECT_EQ(device_->config<uint16_t>(0x00), NVDLA_PCI_VENDOR_ID);
	EXPECT_EQ(device_->config<uint16_t>(0x02), NVDLA_PCI_DEVICE_ID);
	EXPECT_EQ(device_->config<uint32_t>(0x08), NVDLA_PCI_CLASS << 8 | NVDLA_PCI_REVISION);
	EXPECT_EQ(device_->config<uint16_t>(0x2c), NVDLA_PCI_SUBSYSTEM_VENDOR_ID);
	EXPECT_EQ(device_->config<uint16_t>(0x2e),
		  NVDLA_PCI_SUBSYSTEM_ID_BASE + NVDLA_PCI_VARIANT_NV_FULL);
	EXPECT_EQ(device_->config<uint8_t>(0x3d), 0) << "no INTx";
	for (unsigned int bar = 0; bar < 6; bar++) {
		const uint32_t size = bar == NVDLA_PCI_CSB_BAR	  ? NVDLA_PCI_CSB_SIZE
				      : bar == NVDLA_PCI_MSIX_BAR ? 4096
								  : 0;
		EXPECT_EQ(device_->barSize(bar), size) << bar;
	}
}

TEST_F(FunctionTest, VendorCapabilityDescribesTheCore)
{
	ASSERT_NO_FATAL_FAILURE(start(Ram::Shared, { "--cvsram-size", "512K" }));
	const uint8_t at = device_->findCapability(kCapVendor);
	ASSERT_NE(at, 0);
	const auto read = [&](unsigned int offset) {
		return device_->config<uint32_t>(static_cast<uint8_t>(at + offset));
	};
	EXPECT_EQ(device_->config<uint8_t>(static_cast<uint8_t>(at + NVDLA_PCI_VSC_LENGTH_OFFSET)),
		  NVDLA_PCI_VSC_LENGTH);
	EXPECT_EQ(device_->config<uint8_t>(static_cast<uint8_t>(at + NVDLA_PCI_VSC_VERSION_OFFSET)),
		  NVDLA_PCI_VSC_VERSION_1);
	EXPECT_EQ(read(NVDLA_PCI_VSC_MAGIC_OFFSET), static_cast<uint32_t>(NVDLA_PCI_VSC_MAGIC));
	EXPECT_EQ(read(NVDLA_PCI_VSC_VARIANT_OFFSET), NVDLA_PCI_VARIANT_NV_FULL + 0u);
	EXPECT_EQ(read(NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET), 0u);
	EXPECT_EQ(read(NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET + 4), 0u);
	EXPECT_EQ(read(NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET), 512u * 1024);
	EXPECT_EQ(read(NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET + 4), 0u);
}

TEST_F(FunctionTest, Registers)
{
	ASSERT_NO_FATAL_FAILURE(start());
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), kHwVersion);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	setCsb(NVDLA_GLB_S_INTR_MASK, 0xffffffff);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0x003f03ffu);
	setCsb(NVDLA_GLB_S_NVDLA_HW_VERSION, 0);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), kHwVersion) << "read-only";
}

TEST_F(FunctionTest, OnlyAccessesOf32Bits)
{
	ASSERT_NO_FATAL_FAILURE(start());
	EXPECT_EQ(qemu_->read<uint8_t>(kCsb), 0xff);
	EXPECT_EQ(qemu_->read<uint16_t>(kCsb), 0xffff);
	EXPECT_EQ(qemu_->read<uint16_t>(kCsb + 2), 0xffff);
	EXPECT_EQ(qemu_->read<uint32_t>(kCsb), kHwVersion);
	qemu_->write<uint8_t>(kCsb + NVDLA_GLB_S_INTR_MASK, 0xff);
	qemu_->write<uint16_t>(kCsb + NVDLA_GLB_S_INTR_MASK, 0xffff);
	qemu_->write<uint64_t>(kCsb, 0xffffffffffffffff);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	const std::string log = said("sim.log");
	const size_t report = log.find("only aligned accesses of 4 bytes");
	ASSERT_NE(report, std::string::npos) << log;
	EXPECT_EQ(log.find("only aligned", report + 1), std::string::npos) << "reported once";
}

/* Posted writes arrive in order and before a read, combined into larger messages or not. */
TEST_F(FunctionTest, WritesKeepTheirOrder)
{
	for (const bool multiple : { false, true }) {
		const std::vector<std::string> options(multiple ? 1 : 0, "--write-multiple");
		ASSERT_NO_FATAL_FAILURE(start(Ram::Shared, options));
		for (uint32_t round = 0; round < 20; round++) {
			for (uint32_t i = 1; i <= 100; i++)
				setCsb(NVDLA_GLB_S_INTR_MASK, i);
			EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 100u);
		}
		device_.reset();
		qemu_.reset();
		sim_.reset();
	}
}

TEST_F(FunctionTest, CopyInSharedMemory)
{
	ASSERT_NO_FATAL_FAILURE(start());
	const auto data = pattern(65536);
	qemu_->writeMemory(kRam, data);
	startCopy(kRam, kRam + 0x100000, 65536);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x100000, 65536), data);
}

/* Without a descriptor for its memory the device asks QEMU for every byte. */
TEST_F(FunctionTest, CopyThroughMessages)
{
	ASSERT_NO_FATAL_FAILURE(start(Ram::Private));
	const auto data = pattern(65536);
	qemu_->writeMemory(kRam, data);
	startCopy(kRam, kRam + 0x100000, 65536);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x100000, 65536), data);
}

TEST_F(FunctionTest, CopyThroughCvsram)
{
	ASSERT_NO_FATAL_FAILURE(start());
	const auto data = pattern(4096);
	qemu_->writeMemory(kRam, data);
	startCopy(kRam, 0x1000, 4096, false, true);
	finishCopy();
	startCopy(0x1000, kRam + 0x10000, 4096, true, false);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x10000, 4096), data);
}

TEST_F(FunctionTest, NoMemoryWithoutBusMaster)
{
	ASSERT_NO_FATAL_FAILURE(start());
	const auto data = pattern(4096);
	qemu_->writeMemory(kRam, data);
	device_->enable(true, false);
	startCopy(kRam, kRam + 0x10000, 4096);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x10000, 4096), std::vector<std::byte>(4096));
	expectGuestError();
}

TEST_F(FunctionTest, CopyOutsideMemoryHarmsNothing)
{
	ASSERT_NO_FATAL_FAILURE(start());
	const auto data = pattern(4096);
	qemu_->writeMemory(kRam, data);
	startCopy(kRam, 0x7f000000000, 4096);
	finishCopy();
	expectGuestError();
	startCopy(kRam, kRam + 0x10000, 4096);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x10000, 4096), data);
}

TEST_F(FunctionTest, InterruptByMsi)
{
	ASSERT_NO_FATAL_FAILURE(start());
	ASSERT_NO_FATAL_FAILURE(enableMsi());
	copyWithInterrupt();
	copyWithInterrupt();
}

TEST_F(FunctionTest, InterruptByMsix)
{
	ASSERT_NO_FATAL_FAILURE(start());
	ASSERT_NO_FATAL_FAILURE(enableMsix());
	copyWithInterrupt();
	copyWithInterrupt();
}

/* What was raised before the guest enabled messages is not lost. */
TEST_F(FunctionTest, InterruptFromBeforeMsiWasEnabled)
{
	ASSERT_NO_FATAL_FAILURE(start());
	setCsb(NVDLA_GLB_S_INTR_SET, 1);
	ASSERT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 1u);
	ASSERT_NO_FATAL_FAILURE(enableMsi());
	expectMessage();
}

TEST_F(FunctionTest, MaskedInterruptIsRaisedWhenUnmasked)
{
	ASSERT_NO_FATAL_FAILURE(start());
	ASSERT_NO_FATAL_FAILURE(enableMsi());
	setCsb(NVDLA_GLB_S_INTR_MASK, 0x3f03ff);
	setCsb(NVDLA_GLB_S_INTR_SET, 1);
	ASSERT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 1u);
	EXPECT_EQ(qemu_->read<uint32_t>(kMessageAddress), 0u);
	setCsb(NVDLA_GLB_S_INTR_MASK, 0);
	expectMessage();
}

/* Clearing one of two leaves the line raised, so there must be another message. */
TEST_F(FunctionTest, OneOfTwoCleared)
{
	ASSERT_NO_FATAL_FAILURE(start());
	ASSERT_NO_FATAL_FAILURE(enableMsi());
	setCsb(NVDLA_GLB_S_INTR_SET, 1);
	expectMessage();
	setCsb(NVDLA_GLB_S_INTR_SET, 4);
	expectMessage();
	ASSERT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 5u);
	setCsb(NVDLA_GLB_S_INTR_STATUS, 1);
	expectMessage();
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 4u);
}

TEST_F(FunctionTest, FunctionLevelReset)
{
	ASSERT_NO_FATAL_FAILURE(start());
	const uint8_t at = device_->findCapability(kCapAdvanced);
	ASSERT_NE(at, 0);
	EXPECT_EQ(device_->config<uint8_t>(static_cast<uint8_t>(at + 3)) & 2, 2)
		<< "reset is there";
	setCsb(NVDLA_GLB_S_INTR_MASK, 0x3f);
	setCsb(NVDLA_GLB_S_INTR_SET, 1);

	device_->setConfig<uint8_t>(static_cast<uint8_t>(at + 4), 1);
	EXPECT_EQ(device_->config<uint16_t>(0x04) & 6, 0);
	device_->mapBar(NVDLA_PCI_CSB_BAR, kCsb);
	device_->enable(true, true);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), kHwVersion);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);

	const auto data = pattern(4096);
	qemu_->writeMemory(kRam, data);
	startCopy(kRam, kRam + 0x10000, 4096);
	finishCopy();
	EXPECT_EQ(qemu_->readMemory(kRam + 0x10000, 4096), data);
}

} /* namespace */

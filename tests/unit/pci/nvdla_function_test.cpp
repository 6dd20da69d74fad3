/* SPDX-License-Identifier: MIT */
/*
 * The core behind its PCI function, without a client: configuration space, CSB
 * accesses, memory, interrupt and reset.
 */
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/pci.h>
#include <nvdla/hw/registers.h>

#include "pci/nvdla_function.h"
#include "vfio-user/wire.h"

using namespace nvdla::sim;

namespace
{

constexpr uint64_t kBase = 0x40000000;
constexpr size_t kSize = 1 << 20;
constexpr size_t kCvsramSize = 64 * 1024;

class NvdlaFunctionTest : public testing::Test
{
protected:
	explicit NvdlaFunctionTest(bool faults = false)
		: function(
			  { .cvsramBase = 0x50000000, .cvsramSize = kCvsramSize, .faults = faults },
			  memory, interrupts, log)
	{
	}

	void SetUp() override
	{
		const int fd = memfd_create("dram", MFD_CLOEXEC);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(ftruncate(fd, kSize), 0);
		ASSERT_EQ(memory.map().map({ kBase, kSize, 0, true, true }, vfiouser::UniqueFd(fd)),
			  0);
	}

	uint32_t config(uint32_t offset, uint32_t width)
	{
		uint32_t value = 0;
		const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(width);
		EXPECT_EQ(function.regionRead(vfiouser::wire::kRegionConfig, offset, bytes), 0);
		return value;
	}

	void setConfig(uint32_t offset, uint32_t width, uint32_t value)
	{
		const auto bytes = std::as_bytes(std::span(&value, 1)).first(width);
		EXPECT_EQ(function.regionWrite(vfiouser::wire::kRegionConfig, offset, bytes), 0);
	}

	uint32_t findCapability(uint8_t id)
	{
		uint32_t at = config(vfiouser::pci::kCapabilities, 1);
		while (at && config(at, 1) != id)
			at = config(at + 1, 1);
		return at;
	}

	uint32_t csb(uint32_t address)
	{
		uint32_t value = 0;
		const auto bytes = std::as_writable_bytes(std::span(&value, 1));
		EXPECT_EQ(function.regionRead(NVDLA_PCI_CSB_BAR, address, bytes), 0);
		return value;
	}

	void setCsb(uint32_t address, uint32_t value)
	{
		const auto bytes = std::as_bytes(std::span(&value, 1));
		EXPECT_EQ(function.regionWrite(NVDLA_PCI_CSB_BAR, address, bytes), 0);
	}

	/* One line of 64 bytes within DRAM, and wait until it is there. */
	void copy(uint64_t from, uint64_t to)
	{
		launch(from, to);
		waitFor([&] { return csb(NVDLA_GLB_S_INTR_STATUS) != 0; });
	}

	void launch(uint64_t from, uint64_t to)
	{
		constexpr uint32_t bytes = 64;
		setCsb(NVDLA_BDMA_CFG_SRC_ADDR_LOW, static_cast<uint32_t>(from));
		setCsb(NVDLA_BDMA_CFG_SRC_ADDR_HIGH, static_cast<uint32_t>(from >> 32));
		setCsb(NVDLA_BDMA_CFG_DST_ADDR_LOW, static_cast<uint32_t>(to));
		setCsb(NVDLA_BDMA_CFG_DST_ADDR_HIGH, static_cast<uint32_t>(to >> 32));
		setCsb(NVDLA_BDMA_CFG_LINE, bytes / 32 - 1);
		setCsb(NVDLA_BDMA_CFG_CMD,
		       NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE | NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
		setCsb(NVDLA_BDMA_CFG_LINE_REPEAT, 0);
		setCsb(NVDLA_BDMA_CFG_SURF_REPEAT, 0);
		setCsb(NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
		setCsb(NVDLA_BDMA_CFG_LAUNCH0, NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH);
	}

	template<typename Condition>
	void waitFor(Condition condition)
	{
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
		while (!condition()) {
			ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain";
			std::this_thread::yield();
		}
	}

	std::atomic<unsigned int> warnings = 0;
	vfiouser::Log log{ vfiouser::LogLevel::Warning,
			   [this](vfiouser::LogLevel, std::string_view) { warnings++; } };
	vfiouser::GuestMemory memory{ log };
	vfiouser::Interrupts interrupts{ log, 1 };
	NvdlaFunction function;
};

/* A function that takes orders for faults. */
class FaultOrdersTest : public NvdlaFunctionTest
{
protected:
	FaultOrdersTest() : NvdlaFunctionTest(true) {}

	void SetUp() override
	{
		NvdlaFunctionTest::SetUp();
		for (at_ = findCapability(vfiouser::pci::kCapabilityVendor); at_;
		     at_ = config(at_ + 1, 1)) {
			if (config(at_, 1) == vfiouser::pci::kCapabilityVendor &&
			    config(at_ + NVDLA_PCI_VSC_MAGIC_OFFSET, 4) == NVDLA_PCI_FAULTS_MAGIC)
				break;
		}
		ASSERT_NE(at_, 0u);
		EXPECT_EQ(config(at_ + NVDLA_PCI_VSC_LENGTH_OFFSET, 1),
			  0u + NVDLA_PCI_FAULTS_LENGTH);
		setConfig(vfiouser::pci::kCommand, 2,
			  vfiouser::pci::kCommandMemory | vfiouser::pci::kCommandMaster);
		ASSERT_TRUE(memory.write(kBase, pattern_));
	}

	void order(uint32_t fault, uint32_t count = 0)
	{
		setConfig(at_ + NVDLA_PCI_FAULTS_ORDER_OFFSET, 4,
			  fault | count << NVDLA_PCI_FAULTS_COUNT_SHIFT);
	}

	/* Copies the pattern and looks whether it arrived. */
	bool copies()
	{
		std::vector<std::byte> seen(pattern_.size());
		EXPECT_TRUE(memory.write(kBase + 4096, seen));
		setCsb(NVDLA_GLB_S_INTR_STATUS, ~0u);
		copy(kBase, kBase + 4096);
		EXPECT_TRUE(memory.read(kBase + 4096, seen));
		return seen == pattern_;
	}

	const std::vector<std::byte> pattern_ = std::vector<std::byte>(64, std::byte{ 0x3c });
	uint32_t at_ = 0;
};

TEST_F(NvdlaFunctionTest, Regions)
{
	EXPECT_EQ(function.region(NVDLA_PCI_CSB_BAR).size, 256u * 1024);
	EXPECT_EQ(function.region(NVDLA_PCI_MSIX_BAR).size, 4096u);
	EXPECT_EQ(function.region(vfiouser::wire::kRegionConfig).size, 256u);
	for (const uint32_t index : { 1u, 3u, 4u, 5u, 6u, 8u })
		EXPECT_EQ(function.region(index).size, 0u) << index;
}

TEST_F(NvdlaFunctionTest, Identity)
{
	EXPECT_EQ(config(0x00, 4), NVDLA_PCI_VENDOR_ID | NVDLA_PCI_DEVICE_ID << 16);
	EXPECT_EQ(config(0x08, 4), NVDLA_PCI_CLASS << 8 | NVDLA_PCI_REVISION);
	EXPECT_EQ(config(0x2c, 4),
		  NVDLA_PCI_SUBSYSTEM_VENDOR_ID | NVDLA_PCI_SUBSYSTEM_ID_BASE << 16);
}

TEST_F(NvdlaFunctionTest, VendorCapability)
{
	const uint32_t at = findCapability(vfiouser::pci::kCapabilityVendor);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_LENGTH_OFFSET, 1), 0u + NVDLA_PCI_VSC_LENGTH);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_VERSION_OFFSET, 1), 0u + NVDLA_PCI_VSC_VERSION_1);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_MAGIC_OFFSET, 4), 0u + NVDLA_PCI_VSC_MAGIC);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_VARIANT_OFFSET, 4), 0u + NVDLA_PCI_VARIANT_NV_FULL);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET, 4), 0x50000000u);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET + 4, 4), 0u);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET, 4), kCvsramSize);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET + 4, 4), 0u);
	setConfig(at + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET, 4, 1);
	EXPECT_EQ(config(at + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET, 4), kCvsramSize) << "read-only";
}

TEST_F(NvdlaFunctionTest, OnlyAlignedAccessesOf32Bits)
{
	std::array<std::byte, 16> bytes;
	for (const auto &[offset, size] :
	     { std::pair{ 0, 1 }, { 0, 2 }, { 0, 8 }, { 0, 16 }, { 1, 4 }, { 2, 4 }, { 0, 3 } }) {
		const auto data = std::span(bytes).first(static_cast<size_t>(size));
		std::fill(data.begin(), data.end(), std::byte{ 0 });
		ASSERT_EQ(function.regionRead(0, static_cast<uint64_t>(offset), data), 0);
		for (const std::byte byte : data)
			EXPECT_EQ(byte, std::byte{ 0xff });
		ASSERT_EQ(function.regionWrite(
				  0, NVDLA_GLB_S_INTR_MASK + static_cast<uint64_t>(offset), data),
			  0);
	}
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
	EXPECT_EQ(warnings, 1u) << "reported once";
	function.reset();
	ASSERT_EQ(function.regionRead(0, 0, std::span(bytes).first(1)), 0);
	EXPECT_EQ(warnings, 2u) << "and once more after a reset";
}

TEST_F(NvdlaFunctionTest, CopyAndInterrupt)
{
	const std::vector<std::byte> data(64, std::byte{ 0x3c });
	ASSERT_TRUE(memory.write(kBase, data));
	setConfig(vfiouser::pci::kCommand, 2,
		  vfiouser::pci::kCommandMemory | vfiouser::pci::kCommandMaster);
	ASSERT_NO_FATAL_FAILURE(copy(kBase, kBase + 4096));
	std::vector<std::byte> seen(64);
	ASSERT_TRUE(memory.read(kBase + 4096, seen));
	EXPECT_EQ(seen, data);

	/* The message waits for somebody to take it. */
	waitFor([&] { return interrupts.pending(0); });
	const vfiouser::UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	std::vector<vfiouser::UniqueFd> fds;
	fds.emplace_back(dup(event.get()));
	ASSERT_EQ(interrupts.configure({ 20, 0x24, vfiouser::wire::kIrqMsi, 0, 1 }, {},
				       std::move(fds)),
		  0);
	eventfd_t count = 0;
	EXPECT_EQ(eventfd_read(event.get(), &count), 0);
	EXPECT_EQ(count, 1u);
	EXPECT_EQ(warnings, 0u);
}

TEST_F(NvdlaFunctionTest, NoMemoryWithoutBusMaster)
{
	const std::vector<std::byte> data(64, std::byte{ 0x3c });
	ASSERT_TRUE(memory.write(kBase, data));
	setConfig(vfiouser::pci::kCommand, 2, vfiouser::pci::kCommandMemory);
	ASSERT_NO_FATAL_FAILURE(copy(kBase, kBase + 4096));
	std::vector<std::byte> seen(64);
	ASSERT_TRUE(memory.read(kBase + 4096, seen));
	EXPECT_EQ(seen, std::vector<std::byte>(64));
	/* What is told of the end comes behind the status. */
	waitFor([&] { return warnings > 0; });
	function.reset();
	EXPECT_EQ(warnings, 1u);
}

TEST_F(NvdlaFunctionTest, NobodyOrdersFaultsUnasked)
{
	const uint32_t at = findCapability(vfiouser::pci::kCapabilityVendor);
	for (uint32_t next = config(at + 1, 1); next; next = config(next + 1, 1))
		EXPECT_NE(config(next, 1), 0u + vfiouser::pci::kCapabilityVendor);
}

TEST_F(FaultOrdersTest, InterruptsAreLostAndSentForNothing)
{
	order(NVDLA_PCI_FAULT_LOST, 1);
	ASSERT_TRUE(copies());
	function.reset(); /* the engine's thread is past its interrupt then */
	EXPECT_FALSE(interrupts.pending(0));

	order(NVDLA_PCI_FAULT_SPURIOUS);
	EXPECT_TRUE(interrupts.pending(0));
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);
}

TEST_F(FaultOrdersTest, AnOperationNeverEnds)
{
	order(NVDLA_PCI_FAULT_HANG, 1);
	launch(kBase, kBase + 4096);
	std::vector<std::byte> seen(pattern_.size());
	waitFor([&] { return memory.read(kBase + 4096, seen) && seen == pattern_; });
	for (int look = 0; look < 1000; look++)
		ASSERT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);
	function.reset();
	setConfig(vfiouser::pci::kCommand, 2,
		  vfiouser::pci::kCommandMemory | vfiouser::pci::kCommandMaster);
	EXPECT_TRUE(copies()) << "once it was reset";
}

TEST_F(FaultOrdersTest, RegistersAreOnesUntilAReset)
{
	order(NVDLA_PCI_FAULT_ONES);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), ~0u);
	setCsb(NVDLA_GLB_S_INTR_MASK, 1);
	EXPECT_EQ(config(0, 2), 0u + NVDLA_PCI_VENDOR_ID);
	function.reset();
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
}

TEST_F(FaultOrdersTest, AccessesToMemoryAreRefused)
{
	order(NVDLA_PCI_FAULT_DMA, 2);
	EXPECT_FALSE(copies());
	function.reset();
	order(NVDLA_PCI_FAULT_NONE);
	setConfig(vfiouser::pci::kCommand, 2,
		  vfiouser::pci::kCommandMemory | vfiouser::pci::kCommandMaster);
	EXPECT_TRUE(copies());
}

TEST_F(FaultOrdersTest, AFunctionThatIsGoneTakesOrdersAlone)
{
	order(NVDLA_PCI_FAULT_GONE);
	EXPECT_EQ(config(0, 4), ~0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), ~0u);
	order(NVDLA_PCI_FAULT_NONE);
	EXPECT_EQ(config(0, 2), 0u + NVDLA_PCI_VENDOR_ID);
	EXPECT_EQ(config(vfiouser::pci::kCommand, 2), 0u) << "it had no power";
	setConfig(vfiouser::pci::kCommand, 2,
		  vfiouser::pci::kCommandMemory | vfiouser::pci::kCommandMaster);
	EXPECT_TRUE(copies());
}

/* QEMU decodes its BARs again when D0 is written, and not before. */
TEST_F(FaultOrdersTest, AFunctionThatIsGoneAsleepIsAsleepWhenItIsBack)
{
	const uint32_t state = findCapability(vfiouser::pci::kCapabilityPower) + 4;
	setConfig(state, 2, 3);
	order(NVDLA_PCI_FAULT_GONE);
	EXPECT_EQ(config(state, 2), 0xffffu);
	order(NVDLA_PCI_FAULT_NONE);
	EXPECT_EQ(config(state, 2), 3u);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), ~0u);
	setConfig(state, 2, 0);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
}

TEST_F(NvdlaFunctionTest, ResetRestoresRegistersAndConfiguration)
{
	setConfig(vfiouser::pci::kCommand, 2, vfiouser::pci::kCommandMaster);
	setCsb(NVDLA_GLB_S_INTR_MASK, 0x3f);
	setCsb(NVDLA_GLB_S_INTR_SET, 1u << 8);
	ASSERT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 1u << 8);
	ASSERT_TRUE(interrupts.pending(0));
	function.reset();
	EXPECT_EQ(config(vfiouser::pci::kCommand, 2), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);
	EXPECT_FALSE(interrupts.pending(0));
}

} /* namespace */

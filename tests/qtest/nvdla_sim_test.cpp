/* SPDX-License-Identifier: MIT */
#include "nvdla_sim_test.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/pci.h>
#include <nvdla/hw/registers.h>

#include "places.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t kBdmaDone = NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0;

} /* namespace */

void NvdlaSimTest::SetUp()
{
	const QemuBinary &binary = QemuBinary::find();
	ASSERT_EQ(binary.error, "");
	if (!binary.skipReason.empty())
		GTEST_SKIP() << binary.skipReason << " (set NVDLA_QEMU to use another)";
	folder_ = testing::TempDir() + "nvdla-qtest-XXXXXX";
	ASSERT_NE(mkdtemp(folder_.data()), nullptr);
}

void NvdlaSimTest::TearDown()
{
	if (HasFailure()) {
		std::cerr << "nvdla-sim said:\n"
			  << said("sim.log") << "QEMU said:\n"
			  << said("qemu.log");
	}
	device_.reset();
	qemu_.reset();
	sim_.reset();
	std::error_code error;
	if (!folder_.empty())
		std::filesystem::remove_all(folder_, error);
}

std::string NvdlaSimTest::said(const std::string &name) const
{
	std::ostringstream text;
	text << std::ifstream(file(name)).rdbuf();
	return text.str();
}

void NvdlaSimTest::startSim(const std::vector<std::string> &options)
{
	sim_ = std::make_unique<SimProcess>(built(NVDLA_SIM_PROGRAM), socket(), file("sim.log"),
					    options);
	ASSERT_TRUE(sim_->listening());
}

std::vector<std::string> NvdlaSimTest::qemuArguments(Ram ram) const
{
	std::vector<std::string> arguments = { "-m", "64M" };
	if (ram == Ram::Shared)
		arguments.insert(arguments.end(),
				 { "-machine", "q35,memory-backend=ram", "-object",
				   "memory-backend-memfd,id=ram,size=64M,share=on" });
	else
		arguments.insert(arguments.end(), { "-machine", "q35" });
	arguments.insert(arguments.end(),
			 { "-device", fmt::format(R"({{"driver": "vfio-user-pci", "addr": "{}", )"
						  R"("x-msg-timeout": 60000, )"
						  R"("socket": {{"type": "unix", "path": "{}"}}}})",
						  kSlot, socket()) });
	return arguments;
}

std::unique_ptr<Qtest> NvdlaSimTest::makeQemu(Ram ram, const std::string &errors) const
{
	return std::make_unique<Qtest>(
		QemuBinary::find().words, qemuArguments(ram), errors,
		[](const std::string &message) { ADD_FAILURE() << message; });
}

void NvdlaSimTest::startQemu(Ram ram)
{
	qemu_ = makeQemu(ram, file("qemu.log"));
	ASSERT_TRUE(qemu_->ready());
	device_ = std::make_unique<PciDevice>(*qemu_, kSlot);
	device_->mapBar(NVDLA_PCI_CSB_BAR, kCsb);
	device_->mapBar(NVDLA_PCI_MSIX_BAR, kMsixTable);
	device_->enable(true, true);
}

void NvdlaSimTest::startCopy(uint64_t from, uint64_t to, uint32_t bytes, bool fromCv, bool toCv)
{
	const uint32_t fromType = fromCv ? NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE__CVSRAM
					 : NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE__MC;
	const uint32_t toType = toCv ? NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE__CVSRAM
				     : NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE__MC;
	setCsb(NVDLA_BDMA_CFG_SRC_ADDR_LOW, static_cast<uint32_t>(from));
	setCsb(NVDLA_BDMA_CFG_SRC_ADDR_HIGH, static_cast<uint32_t>(from >> 32));
	setCsb(NVDLA_BDMA_CFG_DST_ADDR_LOW, static_cast<uint32_t>(to));
	setCsb(NVDLA_BDMA_CFG_DST_ADDR_HIGH, static_cast<uint32_t>(to >> 32));
	setCsb(NVDLA_BDMA_CFG_LINE, bytes / 32 - 1);
	setCsb(NVDLA_BDMA_CFG_CMD,
	       NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE, fromType) |
		       NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE, toType));
	setCsb(NVDLA_BDMA_CFG_LINE_REPEAT, 0);
	setCsb(NVDLA_BDMA_CFG_SRC_LINE, bytes);
	setCsb(NVDLA_BDMA_CFG_DST_LINE, bytes);
	setCsb(NVDLA_BDMA_CFG_SURF_REPEAT, 0);
	setCsb(NVDLA_BDMA_CFG_SRC_SURF, bytes);
	setCsb(NVDLA_BDMA_CFG_DST_SURF, bytes);
	setCsb(NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
	setCsb(NVDLA_BDMA_CFG_LAUNCH0, NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH);
}

void NvdlaSimTest::finishCopy()
{
	waitFor("BDMA is done", [&] { return (csb(NVDLA_GLB_S_INTR_STATUS) & kBdmaDone) != 0; });
	setCsb(NVDLA_GLB_S_INTR_STATUS, kBdmaDone);
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_STATUS), 0u);
}

void NvdlaSimTest::waitFor(const char *what, const std::function<bool()> &condition)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
	while (!condition()) {
		if (std::chrono::steady_clock::now() > end) {
			FAIL() << "never: " << what;
		}
		std::this_thread::yield();
	}
}

std::vector<std::byte> NvdlaSimTest::pattern(size_t size)
{
	std::vector<std::byte> bytes(size);
	for (size_t i = 0; i < size; i++)
		bytes[i] = static_cast<std::byte>(1 + (i * 37 + i / 251) % 255);
	return bytes;
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
#include <bit>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/core.h"

using namespace nvdla::sim;

namespace
{

constexpr uint32_t doneSums =
	NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS0 | NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS0;
constexpr uint32_t doneFetch = NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS0 |
			       NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS0;

/** An INT8 operation whose sizes and banks are all 1, and a cube of more lines than CSC reads */
class LateFetchTest : public testing::Test
{
protected:
	void convolve(uint32_t lines)
	{
		constexpr uint32_t clear[] = {
			NVDLA_CDMA_D_MISC_CFG,	 NVDLA_CSC_D_MISC_CFG,	NVDLA_CMAC_A_D_MISC_CFG,
			NVDLA_CMAC_B_D_MISC_CFG, NVDLA_CACC_D_MISC_CFG, NVDLA_SDP_D_DATA_FORMAT,
			NVDLA_CSC_D_RELEASE,
		};
		constexpr uint32_t enable[] = {
			NVDLA_SDP_D_OP_ENABLE,	  NVDLA_CACC_D_OP_ENABLE, NVDLA_CMAC_A_D_OP_ENABLE,
			NVDLA_CMAC_B_D_OP_ENABLE, NVDLA_CSC_D_OP_ENABLE,  NVDLA_CDMA_D_OP_ENABLE,
		};

		for (uint32_t address : clear)
			core.csbWrite(address, 0);
		core.csbWrite(
			NVDLA_CDMA_D_DATAIN_SIZE_0,
			(lines - 1) << std::countr_zero(NVDLA_CDMA_D_DATAIN_SIZE_0__DATAIN_HEIGHT));
		core.csbWrite(NVDLA_CDMA_D_DAIN_RAM_TYPE, 1);
		core.csbWrite(NVDLA_CDMA_D_DAIN_ADDR_LOW_0, 0x1000);
		core.csbWrite(NVDLA_CDMA_D_WEIGHT_RAM_TYPE, 1);
		core.csbWrite(NVDLA_CDMA_D_WEIGHT_ADDR_LOW, 0x2000);
		core.csbWrite(NVDLA_CDMA_D_WEIGHT_BYTES, 128);
		core.csbWrite(NVDLA_SDP_D_DST_BASE_ADDR_LOW, 0x3000);
		core.csbWrite(NVDLA_SDP_D_DST_DMA_CFG, 1);
		core.csbWrite(NVDLA_SDP_D_FEATURE_MODE_CFG,
			      NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE);
		for (uint32_t address : enable)
			core.csbWrite(address, 1);
		core.waitIdle();
	}

	/** \return what every interrupt found */
	std::vector<uint32_t> raised()
	{
		const std::scoped_lock lock(mutex);
		return raised_;
	}

	CoreConfig config()
	{
		CoreConfig config;
		config.diagnostics = [this](const GuestError &error) {
			const std::scoped_lock lock(mutex);
			errors.push_back(error.reason);
		};
		config.operationDone = [this](const OperationRecord &) {
			const std::scoped_lock lock(mutex);
			records++;
		};
		return config;
	}

	SparseMemory dram;
	std::mutex mutex;
	std::vector<std::string> errors;
	std::vector<uint32_t> raised_;
	unsigned int records = 0;
	Core core{ config(), dram, [this] {
			  const uint32_t status = core.csbRead(NVDLA_GLB_S_INTR_STATUS);
			  core.csbWrite(NVDLA_GLB_S_INTR_STATUS, status);
			  const std::scoped_lock lock(mutex);
			  raised_.push_back(status);
		  } };
};

TEST_F(LateFetchTest, LinesThatFindRoomLaterEndTheOperationLater)
{
	/* The data bank has 256 entries, and the sums release one. */
	convolve(257);
	EXPECT_EQ(raised(), (std::vector<uint32_t>{ doneSums, doneFetch }));
	EXPECT_EQ(core.csbRead(NVDLA_CDMA_D_OP_ENABLE), 0U);
	EXPECT_EQ(errors, std::vector<std::string>());
	EXPECT_EQ(records, 1U) << "one operation";
}

TEST_F(LateFetchTest, LinesThatNeverFindRoomKeepCdmaBusy)
{
	convolve(258);
	EXPECT_EQ(raised(), std::vector<uint32_t>{ doneSums });
	EXPECT_EQ(core.csbRead(NVDLA_CDMA_D_OP_ENABLE), 1U);
	EXPECT_EQ(core.csbRead(NVDLA_CACC_D_OP_ENABLE), 0U);
	EXPECT_EQ(errors,
		  std::vector<std::string>{ "CDMA: what it fetches does not fit the banks" });

	/* As on hardware, only a reset helps. */
	core.reset();
	convolve(256);
	EXPECT_EQ(raised().back(), doneSums | doneFetch);
}

} /* namespace */

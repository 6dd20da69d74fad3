/* SPDX-License-Identifier: MIT */
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "core/scheduler.h"

using namespace nvdla::sim;

namespace
{

const std::vector<Unit> convUnits = { Unit::Cacc, Unit::CmacA, Unit::CmacB, Unit::Csc, Unit::Cdma };

class SchedulerTest : public testing::Test
{
protected:
	void write(uint32_t address, uint32_t value)
	{
		scheduler.file(static_cast<Unit>(address / NVDLA_UNIT_SIZE)).write(address, value);
	}

	/* D_OP_ENABLE of the group that is selected. */
	void enable(Unit unit)
	{
		for (uint32_t word = 0; word < unitRegisters(unit).size(); word++) {
			const uint32_t address = unitBase(unit) + word * 4;
			const RegisterInfo *info = registerInfo(address);
			if (info && std::string(info->name) == "D_OP_ENABLE")
				write(address, 1);
		}
	}

	void flyingSdp(bool toPdp = false)
	{
		write(NVDLA_SDP_D_FEATURE_MODE_CFG,
		      NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE |
			      (toPdp ? NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST : 0));
		bypassSdp();
	}

	void bypassSdp()
	{
		write(NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS);
		write(NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_CFG__BN_BYPASS);
		write(NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_CFG__EW_BYPASS);
	}

	bool nothingBegins()
	{
		for (size_t engine = 0; engine < engineCount; engine++)
			if (scheduler.begin(static_cast<Engine>(engine)))
				return false;
		return true;
	}

	Scheduler scheduler{ nvFull };
};

TEST_F(SchedulerTest, NothingBeginsAfterReset)
{
	EXPECT_TRUE(nothingBegins());
	EXPECT_EQ(scheduler.file(Unit::Cdma).read(NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 1U);
}

TEST_F(SchedulerTest, ConvolutionNeedsAllUnitsAndAFlyingSdp)
{
	std::vector<Unit> units = convUnits;
	units.push_back(Unit::Sdp);
	for (const Unit missing : units) {
		scheduler.reset();
		flyingSdp();
		for (const Unit unit : units)
			if (unit != missing)
				enable(unit);
		EXPECT_TRUE(nothingBegins()) << unitName(missing);
		enable(missing);
		EXPECT_TRUE(scheduler.begin(Engine::Conv)) << unitName(missing);
		EXPECT_TRUE(nothingBegins());
	}
}

TEST_F(SchedulerTest, ConvolutionDoesNotTakeAnOfflineSdp)
{
	for (const Unit unit : convUnits)
		enable(unit);
	enable(Unit::Sdp);
	EXPECT_FALSE(scheduler.begin(Engine::Conv));
}

TEST_F(SchedulerTest, ConvolutionSetsItsInterruptsOfTheGroup)
{
	for (unsigned int group = 0; group < 2; group++) {
		for (const uint32_t pointer :
		     { NVDLA_CACC_S_POINTER, NVDLA_CMAC_A_S_POINTER, NVDLA_CMAC_B_S_POINTER,
		       NVDLA_CSC_S_POINTER, NVDLA_CDMA_S_POINTER, NVDLA_SDP_S_POINTER })
			write(pointer, group);
		flyingSdp();
		for (const Unit unit : convUnits)
			enable(unit);
		enable(Unit::Sdp);
		const auto job = scheduler.begin(Engine::Conv);
		ASSERT_TRUE(job);
		EXPECT_EQ(scheduler.finish(*job, {}), 0x150001U << group);
	}
}

TEST_F(SchedulerTest, FlyingSdpWithOperandsInMemoryWaitsForItsReadEngine)
{
	flyingSdp();
	write(NVDLA_SDP_D_DP_BN_CFG, 0);
	write(NVDLA_SDP_D_DP_BN_MUL_CFG, NVDLA_SDP_D_DP_BN_MUL_CFG__BN_MUL_SRC);
	for (const Unit unit : convUnits)
		enable(unit);
	enable(Unit::Sdp);
	EXPECT_FALSE(scheduler.begin(Engine::Conv));
	enable(Unit::SdpRdma);
	const auto job = scheduler.begin(Engine::Conv);
	ASSERT_TRUE(job);
	EXPECT_TRUE(job->inputs.has(Unit::SdpRdma));
}

TEST_F(SchedulerTest, BypassedStageNeedsNoReadEngine)
{
	flyingSdp();
	write(NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS);
	write(NVDLA_SDP_D_DP_BS_MUL_CFG, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC);
	for (const Unit unit : convUnits)
		enable(unit);
	enable(Unit::Sdp);
	const auto job = scheduler.begin(Engine::Conv);
	ASSERT_TRUE(job);
	EXPECT_FALSE(job->inputs.has(Unit::SdpRdma));
}

TEST_F(SchedulerTest, ReadEngineOfTheNextLayerIsLeftAlone)
{
	/* Group 0 of SDP needs no operands, group 1 does; the read engine is enabled early. */
	flyingSdp();
	enable(Unit::Sdp);
	write(NVDLA_SDP_S_POINTER, 1);
	flyingSdp();
	write(NVDLA_SDP_D_DP_BS_CFG, 0);
	write(NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC);
	enable(Unit::Sdp);
	write(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE);
	enable(Unit::SdpRdma);

	for (unsigned int layer = 0; layer < 2; layer++) {
		for (const uint32_t pointer :
		     { NVDLA_CACC_S_POINTER, NVDLA_CMAC_A_S_POINTER, NVDLA_CMAC_B_S_POINTER,
		       NVDLA_CSC_S_POINTER, NVDLA_CDMA_S_POINTER })
			write(pointer, layer);
		for (const Unit unit : convUnits)
			enable(unit);
		const auto job = scheduler.begin(Engine::Conv);
		ASSERT_TRUE(job);
		EXPECT_EQ(job->inputs.has(Unit::SdpRdma), layer == 1);
		scheduler.finish(*job, {});
	}
	EXPECT_EQ(scheduler.file(Unit::SdpRdma).consumer(), 1U);
}

TEST_F(SchedulerTest, ReadEngineWithNothingToReadIsDoneAtOnce)
{
	write(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE);
	write(NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
	write(NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG__NRDMA_DISABLE);
	write(NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_ERDMA_CFG__ERDMA_DISABLE);
	enable(Unit::SdpRdma);
	EXPECT_TRUE(nothingBegins());
	EXPECT_EQ(scheduler.file(Unit::SdpRdma).consumer(), 1U);
	EXPECT_EQ(scheduler.file(Unit::SdpRdma).read(NVDLA_SDP_RDMA_S_STATUS), 0U);
}

TEST_F(SchedulerTest, SdpToPdpWaitsForAFlyingPdp)
{
	bypassSdp();
	write(NVDLA_SDP_D_FEATURE_MODE_CFG, NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST);
	enable(Unit::Sdp);
	enable(Unit::SdpRdma);
	EXPECT_FALSE(scheduler.begin(Engine::Sdp));
	enable(Unit::Pdp); /* after reset the mode is on the fly */
	EXPECT_FALSE(scheduler.begin(Engine::Pdp));
	const auto job = scheduler.begin(Engine::Sdp);
	ASSERT_TRUE(job);
	EXPECT_TRUE(job->inputs.has(Unit::Pdp));
	EXPECT_EQ(scheduler.finish(*job, {}), 0x11U);
}

TEST_F(SchedulerTest, OfflineEnginesWaitForTheirReadEngines)
{
	struct Pair {
		Engine engine;
		Unit core;
		Unit rdma;
		uint32_t done;
	};
	for (const Pair &pair : { Pair{ Engine::Sdp, Unit::Sdp, Unit::SdpRdma, 0x1 },
				  Pair{ Engine::Pdp, Unit::Pdp, Unit::PdpRdma, 0x10 },
				  Pair{ Engine::Cdp, Unit::Cdp, Unit::CdpRdma, 0x4 } }) {
		scheduler.reset();
		write(NVDLA_PDP_D_OPERATION_MODE_CFG, NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE);
		enable(pair.core);
		EXPECT_TRUE(nothingBegins());
		enable(pair.rdma);
		const auto job = scheduler.begin(pair.engine);
		ASSERT_TRUE(job);
		EXPECT_EQ(job->inputs.units, 1U << index(pair.core) | 1U << index(pair.rdma));
		EXPECT_EQ(scheduler.finish(*job, {}), pair.done);
		EXPECT_EQ(scheduler.file(pair.core).consumer(), 1U);
		EXPECT_EQ(scheduler.file(pair.rdma).consumer(), 1U);
	}
}

/* Who enables a unit asks no other engines whether they can begin. */
TEST_F(SchedulerTest, OperationsWaitForUnitsThatTakePartInThem)
{
	const struct {
		Engine engine;
		std::vector<Unit> units;
	} operations[] = {
		{ Engine::Conv,
		  { Unit::Cacc, Unit::CmacA, Unit::CmacB, Unit::Csc, Unit::Cdma, Unit::Sdp,
		    Unit::SdpRdma, Unit::Pdp } },
		{ Engine::Sdp, { Unit::Sdp, Unit::SdpRdma, Unit::Pdp } },
		{ Engine::Pdp, { Unit::Pdp, Unit::PdpRdma } },
		{ Engine::Cdp, { Unit::Cdp, Unit::CdpRdma } },
		{ Engine::Rubik, { Unit::Rbk } },
	};

	for (const auto &operation : operations) {
		for (const Unit last : operation.units) {
			scheduler.reset();
			if (operation.engine == Engine::Conv)
				flyingSdp(true);
			if (operation.engine == Engine::Sdp)
				write(NVDLA_SDP_D_FEATURE_MODE_CFG,
				      NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST);
			write(NVDLA_SDP_D_DP_BN_CFG, 0);
			write(NVDLA_SDP_D_DP_BN_MUL_CFG, NVDLA_SDP_D_DP_BN_MUL_CFG__BN_MUL_SRC);
			if (operation.engine == Engine::Pdp)
				write(NVDLA_PDP_D_OPERATION_MODE_CFG,
				      NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE);
			for (const Unit unit : operation.units)
				if (unit != last)
					enable(unit);
			EXPECT_FALSE(scheduler.begin(operation.engine)) << unitName(last);
			enable(last);
			EXPECT_TRUE(scheduler.begin(operation.engine)) << unitName(last);
			EXPECT_TRUE(Scheduler::takesPart(last, operation.engine)) << unitName(last);
		}
	}
	EXPECT_TRUE(Scheduler::takesPart(Unit::Bdma, Engine::Bdma));
}

TEST_F(SchedulerTest, ReadEngineKeepsItsOwnPointers)
{
	write(NVDLA_CDP_RDMA_S_POINTER, 1);
	enable(Unit::CdpRdma);
	enable(Unit::Cdp);
	EXPECT_FALSE(scheduler.begin(Engine::Cdp)); /* the read engine's group 0 comes first */
	write(NVDLA_CDP_RDMA_S_POINTER, 0);
	write(NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH, 5);
	enable(Unit::CdpRdma);
	const auto job = scheduler.begin(Engine::Cdp);
	ASSERT_TRUE(job);
	EXPECT_EQ(job->inputs[Unit::CdpRdma][NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH], 5U);
}

TEST_F(SchedulerTest, PendingGroupBeginsAfterTheFirst)
{
	write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 1);
	enable(Unit::Rbk);
	write(NVDLA_RBK_S_POINTER, 1);
	write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 2);
	enable(Unit::Rbk);

	const auto first = scheduler.begin(Engine::Rubik);
	ASSERT_TRUE(first);
	EXPECT_FALSE(scheduler.begin(Engine::Rubik));
	EXPECT_EQ(first->inputs[Unit::Rbk][NVDLA_RBK_D_DAIN_ADDR_HIGH], 1U);
	EXPECT_EQ(scheduler.finish(*first, {}), 0x100U);

	const auto second = scheduler.begin(Engine::Rubik);
	ASSERT_TRUE(second);
	EXPECT_EQ(second->inputs[Unit::Rbk][NVDLA_RBK_D_DAIN_ADDR_HIGH], 2U);
	EXPECT_EQ(scheduler.finish(*second, {}), 0x200U);
	EXPECT_TRUE(nothingBegins());
}

TEST_F(SchedulerTest, ResultsAreLatchedIntoTheGroupThatRan)
{
	write(NVDLA_PDP_D_OPERATION_MODE_CFG, NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE);
	enable(Unit::Pdp);
	enable(Unit::PdpRdma);
	const auto job = scheduler.begin(Engine::Pdp);
	ASSERT_TRUE(job);
	OperationResult result;
	result.updates = { { NVDLA_PDP_D_NAN_OUTPUT_NUM, 3 },
			   { NVDLA_PDP_RDMA_D_PERF_READ_STALL, 4 },
			   { NVDLA_CDP_D_OUT_SATURATION, 5 } };
	scheduler.finish(*job, result);
	EXPECT_EQ(scheduler.file(Unit::Pdp).view(0)[NVDLA_PDP_D_NAN_OUTPUT_NUM], 3U);
	EXPECT_EQ(scheduler.file(Unit::Pdp).view(1)[NVDLA_PDP_D_NAN_OUTPUT_NUM], 0U);
	EXPECT_EQ(scheduler.file(Unit::PdpRdma).view(0)[NVDLA_PDP_RDMA_D_PERF_READ_STALL], 4U);
	/* Not a unit of this operation: not touched. */
	EXPECT_EQ(scheduler.file(Unit::Cdp).view(0)[NVDLA_CDP_D_OUT_SATURATION], 0U);
}

TEST_F(SchedulerTest, OperationKeepsTheTablesItBeganWith)
{
	bypassSdp();
	scheduler.lut(Unit::Sdp).le[3] = 11;
	scheduler.lut(Unit::Cdp).le[3] = 12;
	enable(Unit::Sdp);
	enable(Unit::SdpRdma);
	const auto job = scheduler.begin(Engine::Sdp);
	ASSERT_TRUE(job);
	scheduler.lut(Unit::Sdp).le[3] = 13;
	EXPECT_EQ(job->inputs.sdpLut.le[3], 11);
}

/* All operations of a group together. */
TEST_F(SchedulerTest, StallsOfBdmaDoNotWrap)
{
	const OperationTiming timing = { .readStall = 1ULL << 32, .writeStall = 3ULL << 30 };

	scheduler.file(Unit::Bdma)
		.write(NVDLA_BDMA_CFG_STATUS, NVDLA_BDMA_CFG_STATUS__STALL_COUNT_EN);
	for (unsigned int i = 0; i < 2; i++)
		ASSERT_EQ(scheduler.bdma().push({}), nullptr);
	ASSERT_EQ(scheduler.launchBdma(0), nullptr);
	for (unsigned int i = 0; i < 2; i++) {
		const auto job = scheduler.begin(Engine::Bdma);
		ASSERT_TRUE(job);
		scheduler.finish(*job, {}, timing);
		const RegisterFile &bdma = scheduler.file(Unit::Bdma);
		EXPECT_EQ(bdma.read(NVDLA_BDMA_STATUS_GRP0_READ_STALL), UINT32_MAX);
		EXPECT_EQ(bdma.read(NVDLA_BDMA_STATUS_GRP0_WRITE_STALL),
			  i == 0 ? 0xc0000000U : UINT32_MAX);
	}
}

} /* namespace */

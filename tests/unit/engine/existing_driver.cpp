/* SPDX-License-Identifier: MIT */
#include "existing_driver.h"

#include <algorithm>
#include <iterator>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

namespace nvdla::test
{

namespace
{

/* Registers that our driver writes and the existing one never does. */
constexpr uint32_t never[] = {
	NVDLA_CDMA_D_NAN_FLUSH_TO_ZERO,	  NVDLA_CDMA_D_PIXEL_OFFSET,
	NVDLA_SDP_RDMA_D_BS_BATCH_STRIDE, NVDLA_SDP_RDMA_D_BN_BATCH_STRIDE,
	NVDLA_SDP_RDMA_D_EW_BATCH_STRIDE, NVDLA_SDP_RDMA_D_PERF_ENABLE,
	NVDLA_PDP_RDMA_D_FLYING_MODE,	  NVDLA_PDP_RDMA_D_PERF_ENABLE,
	NVDLA_PDP_D_SRC_BASE_ADDR_LOW,	  NVDLA_PDP_D_SRC_BASE_ADDR_HIGH,
	NVDLA_PDP_D_NAN_FLUSH_TO_ZERO,	  NVDLA_CDP_RDMA_D_PERF_ENABLE,
	NVDLA_CDP_D_NAN_FLUSH_TO_ZERO,
};

/** \brief \a reg keeps what it has if a field of the same unit has a value */
struct Left {
	uint32_t reg;
	uint32_t decider;
	uint32_t mask;
	uint32_t value;
};

/* Field F of register R is V. */
#define IF(R, F, V) NVDLA_##R, NVDLA_##R##__##F, V

/* The same for X1 (BS) and X2 (BN): what is read for them, and what they do with it. */
#define LEFT_OF_READER(S, CFG)                                                                     \
	{ NVDLA_SDP_RDMA_D_##S##_BASE_ADDR_LOW, IF(SDP_RDMA_D_##CFG##_CFG, CFG##_DISABLE, 1) },    \
		{ NVDLA_SDP_RDMA_D_##S##_BASE_ADDR_HIGH,                                           \
		  IF(SDP_RDMA_D_##CFG##_CFG, CFG##_DISABLE, 1) },                                  \
		{ NVDLA_SDP_RDMA_D_##S##_LINE_STRIDE,                                              \
		  IF(SDP_RDMA_D_##CFG##_CFG, CFG##_DISABLE, 1) },                                  \
	{                                                                                          \
		NVDLA_SDP_RDMA_D_##S##_SURFACE_STRIDE,                                             \
			IF(SDP_RDMA_D_##CFG##_CFG, CFG##_DISABLE, 1)                               \
	}
#define LEFT_OF_X(S)                                                                               \
	{ NVDLA_SDP_D_DP_##S##_ALU_CFG, IF(SDP_D_DP_##S##_CFG, S##_BYPASS, 1) },                   \
		{ NVDLA_SDP_D_DP_##S##_ALU_CFG, IF(SDP_D_DP_##S##_CFG, S##_ALU_BYPASS, 1) },       \
		{ NVDLA_SDP_D_DP_##S##_MUL_CFG, IF(SDP_D_DP_##S##_CFG, S##_BYPASS, 1) },           \
		{ NVDLA_SDP_D_DP_##S##_ALU_SRC_VALUE, IF(SDP_D_DP_##S##_CFG, S##_BYPASS, 1) },     \
		{ NVDLA_SDP_D_DP_##S##_ALU_SRC_VALUE,                                              \
		  IF(SDP_D_DP_##S##_ALU_CFG, S##_ALU_SRC, 1) },                                    \
		{ NVDLA_SDP_D_DP_##S##_MUL_SRC_VALUE, IF(SDP_D_DP_##S##_CFG, S##_BYPASS, 1) },     \
	{                                                                                          \
		NVDLA_SDP_D_DP_##S##_MUL_SRC_VALUE, IF(SDP_D_DP_##S##_MUL_CFG, S##_MUL_SRC, 1)     \
	}
#define LEFT_OF_Y(PART)                                                                            \
	{ NVDLA_SDP_D_DP_EW_##PART##_CFG, IF(SDP_D_DP_EW_CFG, EW_BYPASS, 1) },                     \
		{ NVDLA_SDP_D_DP_EW_##PART##_CFG, IF(SDP_D_DP_EW_CFG, EW_##PART##_BYPASS, 1) },    \
		{ NVDLA_SDP_D_DP_EW_##PART##_SRC_VALUE, IF(SDP_D_DP_EW_CFG, EW_BYPASS, 1) },       \
		{ NVDLA_SDP_D_DP_EW_##PART##_SRC_VALUE,                                            \
		  IF(SDP_D_DP_EW_##PART##_CFG, EW_##PART##_SRC, 1) },                              \
		{ NVDLA_SDP_D_DP_EW_##PART##_CVT_OFFSET_VALUE,                                     \
		  IF(SDP_D_DP_EW_##PART##_CFG, EW_##PART##_CVT_BYPASS, 1) },                       \
		{ NVDLA_SDP_D_DP_EW_##PART##_CVT_SCALE_VALUE,                                      \
		  IF(SDP_D_DP_EW_##PART##_CFG, EW_##PART##_CVT_BYPASS, 1) },                       \
	{                                                                                          \
		NVDLA_SDP_D_DP_EW_##PART##_CVT_TRUNCATE_VALUE,                                     \
			IF(SDP_D_DP_EW_##PART##_CFG, EW_##PART##_CVT_BYPASS, 1)                    \
	}

constexpr uint32_t contract = NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__CONTRACT;
constexpr uint32_t split = NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__SPLIT;
constexpr uint32_t merge = NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__MERGE;

constexpr Left sometimes[] = {
	/* Compressed weights, the mean and the converter of pictures. */
	{ NVDLA_CDMA_D_WGS_ADDR_HIGH, IF(CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, 0) },
	{ NVDLA_CDMA_D_WGS_ADDR_LOW, IF(CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, 0) },
	{ NVDLA_CDMA_D_WMB_ADDR_HIGH, IF(CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, 0) },
	{ NVDLA_CDMA_D_WMB_ADDR_LOW, IF(CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, 0) },
	{ NVDLA_CDMA_D_WMB_BYTES, IF(CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT, 0) },
	{ NVDLA_CDMA_D_MEAN_GLOBAL_0, IF(CDMA_D_MEAN_FORMAT, MEAN_FORMAT, 0) },
	{ NVDLA_CDMA_D_MEAN_GLOBAL_1, IF(CDMA_D_MEAN_FORMAT, MEAN_FORMAT, 0) },
	{ NVDLA_CDMA_D_CVT_OFFSET, IF(CDMA_D_CVT_CFG, CVT_EN, 0) },
	{ NVDLA_CDMA_D_CVT_SCALE, IF(CDMA_D_CVT_CFG, CVT_EN, 0) },
	/* The source of what comes from another engine. */
	{ NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, IF(SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	{ NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH, IF(SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	{ NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, IF(SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	{ NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE, IF(SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	{ NVDLA_SDP_RDMA_D_SRC_DMA_CFG, IF(SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	{ NVDLA_PDP_D_SRC_LINE_STRIDE, IF(PDP_D_OPERATION_MODE_CFG, FLYING_MODE, 0) },
	{ NVDLA_PDP_D_SRC_SURFACE_STRIDE, IF(PDP_D_OPERATION_MODE_CFG, FLYING_MODE, 0) },
	/* The destination of what goes to another engine, or is one cube. */
	{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, IF(SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, 1) },
	{ NVDLA_SDP_D_DST_BASE_ADDR_HIGH, IF(SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, 1) },
	{ NVDLA_SDP_D_DST_LINE_STRIDE, IF(SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, 1) },
	{ NVDLA_SDP_D_DST_SURFACE_STRIDE, IF(SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, 1) },
	{ NVDLA_SDP_D_DST_BATCH_STRIDE, IF(SDP_D_FEATURE_MODE_CFG, BATCH_NUMBER, 0) },
	/* Operands that are not read, stages that do nothing, values that come from memory. */
	LEFT_OF_READER(BS, BRDMA),
	LEFT_OF_READER(BN, NRDMA),
	LEFT_OF_READER(EW, ERDMA),
	LEFT_OF_X(BS),
	LEFT_OF_X(BN),
	LEFT_OF_Y(ALU),
	LEFT_OF_Y(MUL),
	{ NVDLA_SDP_D_DP_EW_TRUNCATE_VALUE, IF(SDP_D_DP_EW_CFG, EW_BYPASS, 1) },
	/* Strides of other modes. */
	{ NVDLA_RBK_D_DAIN_PLANAR_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, contract) },
	{ NVDLA_RBK_D_DAIN_PLANAR_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, split) },
	{ NVDLA_RBK_D_DAIN_SURF_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, merge) },
	{ NVDLA_RBK_D_DAOUT_SURF_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, split) },
	{ NVDLA_RBK_D_DAOUT_PLANAR_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, contract) },
	{ NVDLA_RBK_D_DAOUT_PLANAR_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, merge) },
	{ NVDLA_RBK_D_CONTRACT_STRIDE_0, IF(RBK_D_MISC_CFG, RUBIK_MODE, split) },
	{ NVDLA_RBK_D_CONTRACT_STRIDE_0, IF(RBK_D_MISC_CFG, RUBIK_MODE, merge) },
	{ NVDLA_RBK_D_CONTRACT_STRIDE_1, IF(RBK_D_MISC_CFG, RUBIK_MODE, split) },
	{ NVDLA_RBK_D_CONTRACT_STRIDE_1, IF(RBK_D_MISC_CFG, RUBIK_MODE, merge) },
	{ NVDLA_RBK_D_DECONV_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, split) },
	{ NVDLA_RBK_D_DECONV_STRIDE, IF(RBK_D_MISC_CFG, RUBIK_MODE, merge) },
};

/* It has the same place in all units with groups. */
constexpr uint32_t pointer = NVDLA_RBK_S_POINTER - NVDLA_RBK_BASE;

constexpr uint32_t enables[] = {
	NVDLA_CDMA_D_OP_ENABLE,	    NVDLA_CSC_D_OP_ENABLE,  NVDLA_CMAC_A_D_OP_ENABLE,
	NVDLA_CMAC_B_D_OP_ENABLE,   NVDLA_CACC_D_OP_ENABLE, NVDLA_SDP_RDMA_D_OP_ENABLE,
	NVDLA_SDP_D_OP_ENABLE,	    NVDLA_PDP_D_OP_ENABLE,  NVDLA_PDP_RDMA_D_OP_ENABLE,
	NVDLA_CDP_RDMA_D_OP_ENABLE, NVDLA_CDP_D_OP_ENABLE,  NVDLA_RBK_D_OP_ENABLE,
};

constexpr uint32_t unitOf(uint32_t reg)
{
	return reg / NVDLA_UNIT_SIZE * NVDLA_UNIT_SIZE;
}

bool hasGroups(uint32_t unit)
{
	return unit != NVDLA_GLB_BASE && unit != NVDLA_BDMA_BASE;
}

/* Registers of which there is one for both groups: the tables of SDP and CDP, and CDMA's own. */
bool isSingle(uint32_t reg)
{
	return (reg >= NVDLA_SDP_S_LUT_ACCESS_CFG && reg < NVDLA_SDP_D_OP_ENABLE) ||
	       (reg >= NVDLA_CDP_S_LUT_ACCESS_CFG && reg < NVDLA_CDP_D_OP_ENABLE) ||
	       (reg >= NVDLA_CDMA_S_ARBITER && reg < NVDLA_CDMA_D_OP_ENABLE);
}

} /* namespace */

void ExistingDriver::write(sim::Core &core, uint32_t reg, uint32_t value)
{
	const uint32_t unit = unitOf(reg);

	if (hasGroups(unit) && reg == unit + pointer) {
		producer_[unit] = value;
	} else if (std::ranges::find(enables, reg) != std::end(enables)) {
		enable(core, unit);
	} else if (hasGroups(unit) && !isSingle(reg)) {
		groups_[{ unit, producer_[unit] }][reg] = value;
		if (unit == NVDLA_SDP_RDMA_BASE)
			programmed_[producer_[unit]] = true;
		return;
	}
	core.csbWrite(reg, value);
}

void ExistingDriver::cleared()
{
	producer_.clear();
	groups_.clear();
	programmed_[0] = programmed_[1] = false;
}

void ExistingDriver::enable(sim::Core &core, uint32_t unit)
{
	const Group &group = groups_[{ unit, producer_[unit] }];

	for (const auto &[reg, value] : group) {
		if (std::ranges::find(never, reg) != std::end(never))
			left_++;
		else
			core.csbWrite(reg, isLeft(group, reg) ? left_++, random_() : value);
	}
	if (unit == NVDLA_SDP_RDMA_BASE)
		programmed_[producer_[unit]] = false;
	if (unit == NVDLA_SDP_BASE)
		writeModesOfIdleReader(core);
}

bool ExistingDriver::isLeft(const Group &group, uint32_t reg) const
{
	return std::ranges::any_of(sometimes, [&](const Left &left) {
		const auto found = group.find(left.decider);
		return left.reg == reg && found != group.end() &&
		       NVDLA_FIELD_GET(left.mask, found->second) == left.value;
	});
}

/*
 * An operation that reads nothing leaves the reader idle. The existing driver writes its modes all
 * the same, and enables it where an operand has a mode but no use.
 */
void ExistingDriver::writeModesOfIdleReader(sim::Core &core)
{
	constexpr uint32_t modes[][2] = {
		{ NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
		  NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE },
		{ NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE },
		{ NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG__NRDMA_DISABLE },
		{ NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_ERDMA_CFG__ERDMA_DISABLE },
	};
	const bool enables = random_() % 2;

	/* Something is programmed there, or at work. */
	if (programmed_[0] || programmed_[1] || core.csbRead(NVDLA_SDP_RDMA_S_STATUS))
		return;
	/* Twice, so that our driver finds the group next that it expects. */
	for (const uint32_t group : { 0, 1 }) {
		core.csbWrite(NVDLA_SDP_RDMA_S_POINTER, group);
		for (const auto &[reg, value] : modes)
			core.csbWrite(reg, value);
		if (enables)
			core.csbWrite(NVDLA_SDP_RDMA_D_OP_ENABLE, 1);
	}
	core.csbWrite(NVDLA_SDP_RDMA_S_POINTER, producer_[NVDLA_SDP_RDMA_BASE]);
}

} /* namespace nvdla::test */

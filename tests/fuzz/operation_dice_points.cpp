/* SPDX-License-Identifier: MIT */
/*
 * SDP and PDP, off-line, and behind a convolution or each other.
 */
#include <algorithm>
#include <bit>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "operation_dice.h"
#include "pdp/pdp_op.h"

using namespace nvdla::sim;

namespace nvdla::fuzz
{

namespace
{

/* Of X1, X2 and Y, whose fields are in the same places but for what only Y has. */
struct StageRegisters {
	uint32_t config;
	uint32_t alu;
	uint32_t aluValue;
	uint32_t mul;
	uint32_t mulValue;
	uint32_t reader;
	uint32_t high;
	uint32_t low;
	uint32_t lineStride;
	uint32_t surfaceStride;
};

constexpr StageRegisters stages[] = {
	{ NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE,
	  NVDLA_SDP_D_DP_BS_MUL_CFG, NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_BRDMA_CFG,
	  NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW,
	  NVDLA_SDP_RDMA_D_BS_LINE_STRIDE, NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE },
	{ NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_ALU_SRC_VALUE,
	  NVDLA_SDP_D_DP_BN_MUL_CFG, NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_NRDMA_CFG,
	  NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW,
	  NVDLA_SDP_RDMA_D_BN_LINE_STRIDE, NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE },
	{ NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_ALU_CFG, NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE,
	  NVDLA_SDP_D_DP_EW_MUL_CFG, NVDLA_SDP_D_DP_EW_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_ERDMA_CFG,
	  NVDLA_SDP_RDMA_D_EW_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW,
	  NVDLA_SDP_RDMA_D_EW_LINE_STRIDE, NVDLA_SDP_RDMA_D_EW_SURFACE_STRIDE },
};
constexpr unsigned int kY = 2;

/* \return padding with which windows end where the input does; \a stride may change for it */
uint32_t padBehind(uint32_t size, uint32_t kernel, uint32_t before, uint32_t &stride)
{
	const uint32_t rest = (before + size - kernel) % stride;
	const uint32_t behind = rest ? stride - rest : 0;

	if (behind < kernel)
		return behind;
	stride = 1;
	return 0;
}

} /* namespace */

void OperationDice::setSdpTables(Precision precision)
{
	const bool isFloat = precision == Precision::Fp16;
	const auto bound = [&](int32_t value) {
		return isFloat ? std::bit_cast<uint32_t>(static_cast<float>(value))
			       : static_cast<uint32_t>(value);
	};

	set(NVDLA_SDP_S_LUT_CFG,
	    oneIn(2) ? static_cast<uint32_t>(random_()) : NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION);
	set(NVDLA_SDP_S_LUT_INFO,
	    oneIn(4) ? static_cast<uint32_t>(random_())
		     : NVDLA_FIELD_PREP(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT, 1));
	set(NVDLA_SDP_S_LUT_LE_START, bound(-100));
	set(NVDLA_SDP_S_LUT_LE_END, bound(28));
	set(NVDLA_SDP_S_LUT_LO_START, bound(-128));
	set(NVDLA_SDP_S_LUT_LO_END, bound(128));
	setRandomSlopes({ NVDLA_SDP_S_LUT_LE_SLOPE_SCALE, NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT,
			  NVDLA_SDP_S_LUT_LO_SLOPE_SCALE, NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT });
	setTables(NVDLA_SDP_S_LUT_ACCESS_CFG, NVDLA_SDP_S_LUT_ACCESS_DATA);
}

/* \return it reads operands */
bool OperationDice::setSdpStage(unsigned int stage, const Shape &shape, Precision precision)
{
	const StageRegisters &registers = stages[stage];
	const bool bypassed = oneIn(2);
	const bool adds = oneIn(2);
	const bool multiplies = oneIn(2);
	const bool aluReads = !bypassed && adds && !oneIn(3);
	const bool mulReads = !bypassed && multiplies && !oneIn(3);
	const bool perElement = oneIn(2);
	const bool twoBytes = precision != Precision::Int8 || oneIn(2);
	const uint32_t elements =
		core_.atomChannels(precision) * (twoBytes ? 2 : 1) * (aluReads && mulReads ? 2 : 1);
	const uint32_t use = aluReads && mulReads ? NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__BOTH
			     : aluReads		  ? NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__ALU
						  : NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__MUL;

	const bool last = oneIn(2); /* ReLU, or the table */
	const uint32_t algorithms = stage == kY && oneIn(8) ? 4 : 3;

	static_assert(NVDLA_SDP_D_DP_EW_CFG__EW_LUT_BYPASS ==
		      NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS);
	set(registers.config,
	    (bypassed ? NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS : 0) |
		    (adds ? 0 : NVDLA_SDP_D_DP_BS_CFG__BS_ALU_BYPASS) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_D_DP_BS_CFG__BS_ALU_ALGO, below(algorithms)) |
		    (multiplies ? 0 : NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS) |
		    (oneIn(4) ? NVDLA_SDP_D_DP_BS_CFG__BS_MUL_PRELU : 0) |
		    (last ? 0 : NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS));
	if (stage == kY && !bypassed && last)
		setSdpTables(precision);
	set(registers.alu,
	    (aluReads ? NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC : 0) | (stage == kY ? below(2) << 1
								      : oneIn(4)  ? below(64) << 8
										  : 0));
	set(registers.aluValue, below(0x10000));
	set(registers.mul, (mulReads ? NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC : 0) |
				   (stage == kY ? below(2) << 1 : from(0, 14) << 8));
	set(registers.mulValue, below(0x10000));
	if (!aluReads && !mulReads) {
		set(registers.reader, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
		return false;
	}
	const uint32_t surfaces = core_.surfaces(precision, shape.channels);
	const Place operands = perElement ? place(shape.width * elements, shape.height, surfaces)
					  : place(surfaces * elements, 1, 1);
	set(registers.reader,
	    NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE, use) |
		    (twoBytes ? NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_SIZE : 0) |
		    (perElement ? NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_MODE : 0) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_RAM_TYPE, operands.ram));
	set({ 0, registers.high, registers.low, registers.lineStride, registers.surfaceStride },
	    operands);
	return true;
}

bool OperationDice::setSdp(const Shape &shape, Precision precision, bool flying, bool toPdp,
			   uint32_t batches)
{
	const bool has16 = core_.has(Precision::Int16);
	const bool widens = has16 && precision == Precision::Int8 && !toPdp && oneIn(6);
	const Precision out = widens ? Precision::Int16 : precision;
	const bool narrows = has16 && precision == Precision::Int8 && !flying && !toPdp && oneIn(6);
	const Precision in = narrows ? Precision::Int16 : precision;
	const uint32_t mode =
		(flying ? NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE : 0) |
		(toPdp ? NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST : 0) |
		(oneIn(2) ? NVDLA_SDP_D_FEATURE_MODE_CFG__NAN_TO_ZERO : 0) |
		NVDLA_FIELD_PREP(NVDLA_SDP_D_FEATURE_MODE_CFG__BATCH_NUMBER, batches - 1);
	bool reads = !flying;

	set(NVDLA_SDP_D_DATA_CUBE_WIDTH, shape.width - 1);
	set(NVDLA_SDP_D_DATA_CUBE_HEIGHT, shape.height - 1);
	set(NVDLA_SDP_D_DATA_CUBE_CHANNEL, shape.channels - 1);
	set(NVDLA_SDP_D_FEATURE_MODE_CFG, mode);
	set(NVDLA_SDP_D_DATA_FORMAT,
	    NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION, precision) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION, out));
	for (unsigned int stage = 0; stage <= kY; stage++)
		reads |= setSdpStage(stage, shape, precision) && (stage != kY || core_.hasY);
	set(NVDLA_SDP_D_DP_EW_TRUNCATE_VALUE, from(0, 14));
	for (const uint32_t scale :
	     { NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE, NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE })
		set(scale, from(1, 100));
	for (const uint32_t truncate :
	     { NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE, NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE })
		set(truncate, from(0, 8));
	set(NVDLA_SDP_D_CVT_OFFSET, oneIn(2) ? 3 : 0);
	set(NVDLA_SDP_D_CVT_SCALE, oneIn(4) ? below(0x10000) : from(1, 100));
	set(NVDLA_SDP_D_CVT_SHIFT, from(0, 20));
	set(NVDLA_SDP_D_PERF_ENABLE, below(32));

	set(NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, shape.width - 1);
	set(NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, shape.height - 1);
	set(NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL, shape.channels - 1);
	set(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
	    (flying ? NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE : 0) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__IN_PRECISION, in) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__PROC_PRECISION, precision) |
		    NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__OUT_PRECISION, out));
	set(NVDLA_SDP_RDMA_D_PERF_ENABLE, below(4));
	if (!flying)
		set({ NVDLA_SDP_RDMA_D_SRC_DMA_CFG, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH,
		      NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE,
		      NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE },
		    place(shape.width * core_.atomBytes, shape.height,
			  core_.surfaces(precision, shape.channels) * (narrows ? 2 : 1)));
	if (toPdp)
		return reads;
	/* The cubes of a batch behind each other. */
	const uint32_t outSurfaces = core_.surfaces(precision, shape.channels) * (widens ? 2 : 1);
	const Place destination =
		place(shape.width * core_.atomBytes, shape.height, outSurfaces * batches);
	set({ NVDLA_SDP_D_DST_DMA_CFG, NVDLA_SDP_D_DST_BASE_ADDR_HIGH,
	      NVDLA_SDP_D_DST_BASE_ADDR_LOW, NVDLA_SDP_D_DST_LINE_STRIDE,
	      NVDLA_SDP_D_DST_SURFACE_STRIDE },
	    destination);
	set(NVDLA_SDP_D_DST_BATCH_STRIDE, outSurfaces * destination.surfaceStride);
	return reads;
}

void OperationDice::addSdp(bool toPdp)
{
	const Precision precision = rollPrecision();
	Shape shape = rollShape(precision, 4000);

	/* PDP's line buffer takes no more of most of them. */
	if (toPdp && !oneIn(4))
		shape.width = std::min(shape.width, 100U);
	if (toPdp)
		setPdp(shape, precision, true);
	setSdp(shape, precision, false, toPdp, 1);
	if (toPdp)
		set(NVDLA_PDP_D_OP_ENABLE, 1);
	set(NVDLA_SDP_RDMA_D_OP_ENABLE, 1);
	set(NVDLA_SDP_D_OP_ENABLE, 1);
}

/* Two parts or three, each as wide as the line buffer takes, or less. */
OperationDice::Columns OperationDice::setPdpParts(uint32_t kernel, uint32_t stride,
						  uint32_t padLeft, uint32_t most)
{
	const uint32_t parts = from(2, 3);
	const uint32_t first = from(1, most);
	const uint32_t mid = from(1, most);
	const uint32_t last = from(1, most);
	const uint32_t firstIn = (first - 1) * stride + kernel - padLeft;
	const uint32_t lastIn = last * stride;
	const uint32_t middle = (parts - 2) * mid;

	for (const uint32_t mode :
	     { NVDLA_PDP_D_PARTIAL_WIDTH_IN, NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN })
		set(mode,
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_FIRST,
				     firstIn - 1) |
			    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID,
					     mid * stride - 1) |
			    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_LAST,
					     lastIn - 1));
	set(NVDLA_PDP_D_PARTIAL_WIDTH_OUT,
	    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_FIRST, first - 1) |
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_MID,
				     mid - 1) |
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_PARTIAL_WIDTH_OUT__PARTIAL_WIDTH_OUT_LAST,
				     last - 1));
	return { firstIn + middle * stride + lastIn, first + middle + last, parts };
}

void OperationDice::setPdp(const Shape &in, Precision precision, bool flying)
{
	const uint32_t kernelX = std::min(from(1, 8), in.width);
	const uint32_t kernelY = std::min(from(1, 8), in.height);
	uint32_t strideX = oneIn(2) ? kernelX : from(1, 4);
	uint32_t strideY = oneIn(3) ? from(1, 4) : kernelY;
	const uint32_t padLeft = below(kernelX);
	const uint32_t padTop = below(kernelY);
	const uint32_t padBottom = padBehind(in.height, kernelY, padTop, strideY);
	const uint32_t most = pdpMaxOutWidth(kernelY, strideY);
	const bool isSplit = !flying && oneIn(4);
	const uint32_t columns =
		flying || oneIn(6) ? in.width
				   : std::min(in.width, most * strideX + kernelX - padLeft - 1);
	const uint32_t padRight = isSplit ? 0 : padBehind(columns, kernelX, padLeft, strideX);
	const Columns unsplit = { columns, (padLeft + columns + padRight - kernelX) / strideX + 1,
				  1 };
	const auto [width, outWidth, parts] =
		isSplit ? setPdpParts(kernelX, strideX, padLeft, most) : unsplit;
	const uint32_t outHeight = (padTop + in.height + padBottom - kernelY) / strideY + 1;
	const uint32_t surfaces = core_.surfaces(precision, in.channels);
	const uint32_t splits =
		NVDLA_FIELD_PREP(NVDLA_PDP_D_OPERATION_MODE_CFG__SPLIT_NUM, parts - 1);

	set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, outWidth - 1);
	set(NVDLA_PDP_RDMA_D_OPERATION_MODE_CFG, parts - 1);
	set(NVDLA_PDP_D_OPERATION_MODE_CFG,
	    NVDLA_FIELD_PREP(NVDLA_PDP_D_OPERATION_MODE_CFG__POOLING_METHOD, below(3)) |
		    (flying ? NVDLA_FIELD_PREP(
				      NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE,
				      NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE__ON_FLYING)
			    : NVDLA_FIELD_PREP(
				      NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE,
				      NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE__OFF_FLYING)) |
		    splits);
	set(NVDLA_PDP_D_DATA_FORMAT, static_cast<uint32_t>(precision));
	set(NVDLA_PDP_RDMA_D_DATA_FORMAT, static_cast<uint32_t>(precision));
	set(NVDLA_PDP_D_NAN_FLUSH_TO_ZERO, below(2));
	for (const auto &[pdp, rdma, value] :
	     { std::tuple(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH,
			  width),
	       std::tuple(NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT,
			  in.height),
	       std::tuple(NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL,
			  in.channels) }) {
		set(pdp, value - 1);
		set(rdma, value - 1);
	}
	set(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, outHeight - 1);
	set(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, in.channels - 1);
	for (const uint32_t kernel :
	     { NVDLA_PDP_D_POOLING_KERNEL_CFG, NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG })
		set(kernel,
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_WIDTH, kernelX - 1) |
			    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_HEIGHT,
					     kernelY - 1) |
			    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_STRIDE_WIDTH,
					     strideX - 1) |
			    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_STRIDE_HEIGHT,
					     strideY - 1));
	set(NVDLA_PDP_D_POOLING_PADDING_CFG,
	    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_LEFT, padLeft) |
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_TOP, padTop) |
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_RIGHT, padRight) |
		    NVDLA_FIELD_PREP(NVDLA_PDP_D_POOLING_PADDING_CFG__PAD_BOTTOM, padBottom));
	for (uint32_t n = 0; n < 7; n++)
		set(NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 4 * n, below(1 << 19));
	set(NVDLA_PDP_D_RECIP_KERNEL_WIDTH, 0x10000 / kernelX);
	set(NVDLA_PDP_D_RECIP_KERNEL_HEIGHT, 0x10000 / kernelY);
	set({ NVDLA_PDP_D_DST_RAM_CFG, NVDLA_PDP_D_DST_BASE_ADDR_HIGH,
	      NVDLA_PDP_D_DST_BASE_ADDR_LOW, NVDLA_PDP_D_DST_LINE_STRIDE,
	      NVDLA_PDP_D_DST_SURFACE_STRIDE },
	    place(outWidth * core_.atomBytes, outHeight, surfaces));
	set(NVDLA_PDP_D_PERF_ENABLE, below(2));
	if (flying)
		return;
	set(NVDLA_PDP_RDMA_D_FLYING_MODE,
	    NVDLA_FIELD_PREP(NVDLA_PDP_RDMA_D_FLYING_MODE__FLYING_MODE,
			     NVDLA_PDP_RDMA_D_FLYING_MODE__FLYING_MODE__OFF_FLYING));
	set({ NVDLA_PDP_RDMA_D_SRC_RAM_CFG, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH,
	      NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE,
	      NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE },
	    place(width * core_.atomBytes, in.height, surfaces));
}

void OperationDice::addPdp()
{
	const Precision precision = rollPrecision();

	setPdp(rollShape(precision, 5000), precision, false);
	set(NVDLA_PDP_RDMA_D_OP_ENABLE, 1);
	set(NVDLA_PDP_D_OP_ENABLE, 1);
}

} /* namespace nvdla::fuzz */

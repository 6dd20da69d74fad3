/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_op.h"

#include <nvdla/hw/registers.h>

#include "core/fields.h"
#include "core/operation.h"

namespace nvdla::sim
{

namespace
{

/* The shifters behind the multipliers of X use only six bits of the shift field. */
constexpr uint32_t shiftMask = 0x3f;

/* Distance of X2's registers from X1's. */
constexpr uint32_t kX2 = NVDLA_SDP_D_DP_BN_CFG - NVDLA_SDP_D_DP_BS_CFG;
static_assert(NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE - NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE == kX2);
static_assert(NVDLA_SDP_D_DP_BN_ALU_CFG - NVDLA_SDP_D_DP_BS_ALU_CFG == kX2);

/* Byte distances: NRDMA's and ERDMA's registers from BRDMA's, Y's multiplier from Y's ALU. */
constexpr uint32_t kX2Reader = NVDLA_SDP_RDMA_D_NRDMA_CFG - NVDLA_SDP_RDMA_D_BRDMA_CFG;
constexpr uint32_t kYReader = NVDLA_SDP_RDMA_D_ERDMA_CFG - NVDLA_SDP_RDMA_D_BRDMA_CFG;
static_assert(NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE - NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE == kX2Reader);
static_assert(NVDLA_SDP_RDMA_D_EW_SURFACE_STRIDE - NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE == kYReader);
constexpr uint32_t kYMul = NVDLA_SDP_D_DP_EW_MUL_CFG - NVDLA_SDP_D_DP_EW_ALU_CFG;
static_assert(NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE - NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE ==
	      kYMul);

constexpr CubeRegisters readerRegisters(uint32_t behind)
{
	return {
		NVDLA_SDP_RDMA_D_BRDMA_CFG + behind,
		NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_RAM_TYPE,
		NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH + behind,
		NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW + behind,
		NVDLA_SDP_RDMA_D_BS_LINE_STRIDE + behind,
		NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE + behind,
	};
}

class SdpDecoder
{
public:
	SdpDecoder(const RegisterView &sdp, const RegisterView &rdma, const Geometry &geometry)
		: sdp_(sdp), rdma_(rdma), op_{ .geometry = &geometry }
	{
	}

	SdpOp decode();

private:
	void error(const char *text) { noteError(op_.guestError, text); }
	Precision precision(uint32_t value);
	/* A cube of one position is one packed run of atoms, and its strides are ignored. */
	bool isSinglePosition() const { return op_.width == 1 && op_.height == 1; }
	void decodeCubes();
	void decodeUnits(SdpStage &stage, uint32_t config);
	void decodeX(SdpStage &stage, uint32_t behind);
	void decodeOperandOfY(SdpOperand &operand, uint32_t behind);
	void decodeY(SdpStage &stage);
	void decodeLut();
	void decodeRead(SdpOperandRead &read, const CubeRegisters &registers);
	void decodeRdma();
	void checkStage(const SdpStage &stage, const char *missing, const char *unused);
	void check();

	const RegisterView &sdp_;
	const RegisterView &rdma_;
	SdpOp op_;
};

Precision SdpDecoder::precision(uint32_t value)
{
	if (value > static_cast<uint32_t>(Precision::Fp16)) {
		error("SDP: reserved value in a precision field");
		return Precision::Int16;
	}
	if (!op_.geometry->has(static_cast<Precision>(value))) {
		error("SDP: the core has INT8 only");
		return Precision::Int8;
	}
	return static_cast<Precision>(value);
}

void SdpDecoder::decodeCubes()
{
	op_.width = COUNT(sdp_, SDP_D_DATA_CUBE_WIDTH, WIDTH);
	op_.height = COUNT(sdp_, SDP_D_DATA_CUBE_HEIGHT, HEIGHT);
	op_.channels = COUNT(sdp_, SDP_D_DATA_CUBE_CHANNEL, CHANNEL);

	op_.flying = FLAG(sdp_, SDP_D_FEATURE_MODE_CFG, FLYING_MODE);
	op_.toPdp = FLAG(sdp_, SDP_D_FEATURE_MODE_CFG, OUTPUT_DST);
	op_.winograd = FLAG(sdp_, SDP_D_FEATURE_MODE_CFG, WINOGRAD);
	op_.nanToZero = FLAG(sdp_, SDP_D_FEATURE_MODE_CFG, NAN_TO_ZERO);
	op_.batches = COUNT(sdp_, SDP_D_FEATURE_MODE_CFG, BATCH_NUMBER);

	op_.proc = precision(FIELD(sdp_, SDP_D_DATA_FORMAT, PROC_PRECISION));
	op_.out = precision(FIELD(sdp_, SDP_D_DATA_FORMAT, OUT_PRECISION));
	op_.in = op_.proc;

	op_.destination = decodeCube(sdp_, CUBE(SDP_D_DST_, DMA_CFG, DST_RAM_TYPE), *op_.geometry);
	op_.destination.batchStride = op_.geometry->wholeAtoms(sdp_[NVDLA_SDP_D_DST_BATCH_STRIDE]);

	if (isSinglePosition() && op_.batches == 1)
		op_.destination.surfaceStride = op_.atom();

	op_.converter.offset = static_cast<int32_t>(sdp_[NVDLA_SDP_D_CVT_OFFSET]);
	op_.converter.scale = static_cast<int16_t>(SIGNED(sdp_, SDP_D_CVT_SCALE, CVT_SCALE));
	op_.converter.shift = static_cast<uint8_t>(FIELD(sdp_, SDP_D_CVT_SHIFT, CVT_SHIFT));

	op_.countsLut = FLAG(sdp_, SDP_D_PERF_ENABLE, PERF_LUT_EN);
	op_.countsSaturation = FLAG(sdp_, SDP_D_PERF_ENABLE, PERF_SAT_EN);
	op_.countsOutputNan = FLAG(sdp_, SDP_D_PERF_ENABLE, PERF_NAN_INF_COUNT_EN);
}

/* Decode the fields that X and Y have at the same bits of their registers. */
void SdpDecoder::decodeUnits(SdpStage &stage, uint32_t config)
{
	stage.bypass = sdp_.flag(config, NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS);
	stage.alu.bypass = sdp_.flag(config, NVDLA_SDP_D_DP_BS_CFG__BS_ALU_BYPASS);
	stage.algorithm =
		static_cast<SdpAlu>(sdp_.field(config, NVDLA_SDP_D_DP_BS_CFG__BS_ALU_ALGO));
	stage.mul.bypass = sdp_.flag(config, NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS);
	stage.prelu = sdp_.flag(config, NVDLA_SDP_D_DP_BS_CFG__BS_MUL_PRELU);
}

void SdpDecoder::decodeX(SdpStage &stage, uint32_t behind)
{
	const uint32_t config = NVDLA_SDP_D_DP_BS_CFG + behind;
	const uint32_t alu = NVDLA_SDP_D_DP_BS_ALU_CFG + behind;
	const uint32_t mul = NVDLA_SDP_D_DP_BS_MUL_CFG + behind;

	decodeUnits(stage, config);
	stage.reluBypass = sdp_.flag(config, NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS);

	stage.alu.fromMemory = sdp_.flag(alu, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC);
	stage.aluShift = static_cast<uint8_t>(
		sdp_.field(alu, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SHIFT_VALUE));
	stage.alu.value = sdp_.signedField(NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE + behind,
					   NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE__BS_ALU_OPERAND);

	stage.mul.fromMemory = sdp_.flag(mul, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC);
	stage.mulShift = sdp_.field(mul, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SHIFT_VALUE) & shiftMask;
	stage.mul.value = sdp_.signedField(NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE + behind,
					   NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE__BS_MUL_OPERAND);

	if (!stage.bypass && !stage.alu.bypass && stage.algorithm == SdpAlu::Equal)
		error("SDP: only the Y stage can compare");
}

void SdpDecoder::decodeOperandOfY(SdpOperand &operand, uint32_t behind)
{
	const uint32_t config = NVDLA_SDP_D_DP_EW_ALU_CFG + behind;

	operand.fromMemory = sdp_.flag(config, NVDLA_SDP_D_DP_EW_ALU_CFG__EW_ALU_SRC);
	operand.converterBypass = sdp_.flag(config, NVDLA_SDP_D_DP_EW_ALU_CFG__EW_ALU_CVT_BYPASS);
	operand.value = static_cast<int32_t>(sdp_[NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE + behind]);
	operand.converter = {
		.offset =
			static_cast<int32_t>(sdp_[NVDLA_SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE + behind]),
		.scale = static_cast<int16_t>(sdp_[NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE + behind]),
		.shift = static_cast<uint8_t>(
			sdp_.field(NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE + behind,
				   NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE__EW_ALU_CVT_TRUNCATE)),
	};
}

void SdpDecoder::decodeY(SdpStage &stage)
{
	const uint32_t config = NVDLA_SDP_D_DP_EW_CFG;

	decodeUnits(stage, config);
	/* The registers exist even in cores without Y. */
	stage.bypass = stage.bypass || !op_.geometry->hasY;
	stage.lutBypass = sdp_.flag(config, NVDLA_SDP_D_DP_EW_CFG__EW_LUT_BYPASS);
	stage.mulShift =
		static_cast<uint16_t>(FIELD(sdp_, SDP_D_DP_EW_TRUNCATE_VALUE, EW_TRUNCATE));
	decodeOperandOfY(stage.alu, 0);
	decodeOperandOfY(stage.mul, kYMul);
}

void SdpDecoder::decodeLut()
{
	LutConfig lut = sim::decodeLut(sdp_[NVDLA_SDP_S_LUT_CFG], sdp_[NVDLA_SDP_S_LUT_INFO]);

	lut.le.start = static_cast<int32_t>(sdp_[NVDLA_SDP_S_LUT_LE_START]);
	lut.le.end = static_cast<int32_t>(sdp_[NVDLA_SDP_S_LUT_LE_END]);
	lut.lo.start = static_cast<int32_t>(sdp_[NVDLA_SDP_S_LUT_LO_START]);
	lut.lo.end = static_cast<int32_t>(sdp_[NVDLA_SDP_S_LUT_LO_END]);
	decodeLutSlopes(lut.le, sdp_[NVDLA_SDP_S_LUT_LE_SLOPE_SCALE],
			sdp_[NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT]);
	decodeLutSlopes(lut.lo, sdp_[NVDLA_SDP_S_LUT_LO_SLOPE_SCALE],
			sdp_[NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT]);
	op_.lut = lut;
}

void SdpDecoder::decodeRead(SdpOperandRead &read, const CubeRegisters &registers)
{
	const uint32_t config = registers.ram;
	const uint32_t use = rdma_.field(config, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE);
	const uint32_t both = NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__BOTH;

	read.enabled = !rdma_.flag(config, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
	read.mul = use == NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__MUL || use == both;
	read.alu = use == NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__ALU || use == both;
	read.twoBytes = rdma_.flag(config, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_SIZE);
	read.perElement = rdma_.flag(config, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_MODE);
	read.cube = decodeCube(rdma_, registers, *op_.geometry);

	if (isSinglePosition())
		read.cube.surfaceStride = op_.lanes() * read.elementBytes();
	if (read.enabled && !read.alu && !read.mul)
		error("SDP_RDMA: reserved value of DATA_USE");
}

void SdpDecoder::decodeRdma()
{
	decodeRead(op_.x1.read, readerRegisters(0));
	decodeRead(op_.x2.read, readerRegisters(kX2Reader));
	if (op_.geometry->hasY)
		decodeRead(op_.y.read, readerRegisters(kYReader));

	if (!op_.flying)
		op_.in = precision(FIELD(rdma_, SDP_RDMA_D_FEATURE_MODE_CFG, IN_PRECISION));
	op_.source = decodeCube(rdma_, CUBE(SDP_RDMA_D_SRC_, DMA_CFG, SRC_RAM_TYPE), *op_.geometry);
	if (isSinglePosition())
		op_.source.surfaceStride = op_.atom();
	op_.countsInputNan = FLAG(rdma_, SDP_RDMA_D_PERF_ENABLE, PERF_NAN_INF_COUNT_EN);

	if (COUNT(rdma_, SDP_RDMA_D_DATA_CUBE_WIDTH, WIDTH) != op_.width ||
	    COUNT(rdma_, SDP_RDMA_D_DATA_CUBE_HEIGHT, HEIGHT) != op_.height ||
	    COUNT(rdma_, SDP_RDMA_D_DATA_CUBE_CHANNEL, CHANNEL) != op_.channels)
		error("SDP: cube sizes of SDP and SDP_RDMA differ");
	if (FLAG(rdma_, SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE) != op_.flying)
		error("SDP: FLYING_MODE of SDP and SDP_RDMA differ");
	if (FIELD(rdma_, SDP_RDMA_D_FEATURE_MODE_CFG, PROC_PRECISION) !=
	    static_cast<uint32_t>(op_.proc))
		error("SDP: PROC_PRECISION of SDP and SDP_RDMA differ");
}

void SdpDecoder::checkStage(const SdpStage &stage, const char *missing, const char *unused)
{
	const bool needsAlu = stage.readsAlu();
	const bool needsMul = stage.readsMul();
	const bool readsAlu = stage.read.enabled && stage.read.alu;
	const bool readsMul = stage.read.enabled && stage.read.mul;

	if ((needsAlu && !readsAlu) || (needsMul && !readsMul)) {
		error(missing);
		op_.hangs = true;
	} else if ((readsAlu && !needsAlu) || (readsMul && !needsMul)) {
		/*
		 * The reader delivers ALU and multiplier operands in pairs. An operand that the
		 * stage does not take blocks the reader, so the stage never gets the other operand.
		 */
		error(unused);
		op_.hangs |= needsAlu || needsMul;
	}
}

void SdpDecoder::check()
{
	checkStage(op_.x1, "SDP: X1 waits for operands that BRDMA does not read",
		   "SDP: BRDMA reads operands that X1 does not take");
	checkStage(op_.x2, "SDP: X2 waits for operands that NRDMA does not read",
		   "SDP: NRDMA reads operands that X2 does not take");
	checkStage(op_.y, "SDP: Y waits for operands that ERDMA does not read",
		   "SDP: ERDMA reads operands that Y does not take");

	if (op_.out == Precision::Int8 && op_.proc != Precision::Int8) {
		error("SDP: INT8 output needs INT8 processing");
		op_.hangs = true;
	}
	if (op_.proc == Precision::Int8 && op_.out == Precision::Fp16)
		error("SDP: INT8 cannot be converted to FP16");
	if (op_.in != op_.proc && !(op_.in == Precision::Int16 && op_.proc == Precision::Int8))
		error("SDP: the source's precision does not fit the processing precision");
	if (op_.in != op_.out && (op_.toPdp || op_.compares()))
		error("SDP: no precision conversion on the way to PDP or when comparing");
	if (!op_.flying && (op_.batches > 1 || op_.winograd))
		error("SDP: batches and Winograd need the input from the convolution");
	if (op_.batches > op_.geometry->mostBatches)
		error("SDP: the core has no batches");
	if (op_.compares() && (op_.batches > 1 || op_.winograd))
		error("SDP: batches and Winograd cannot be compared");
	if (op_.compares() && !op_.y.lutBypass)
		error("SDP: the look-up table must be bypassed when comparing");
}

SdpOp SdpDecoder::decode()
{
	decodeCubes();
	decodeX(op_.x1, 0);
	decodeX(op_.x2, kX2);
	decodeY(op_.y);
	decodeLut();
	if (op_.usesRdma())
		decodeRdma();
	check();
	return op_;
}

} /* namespace */

SdpOp decodeSdp(const RegisterView &sdp, const RegisterView &rdma, const Geometry &geometry)
{
	return SdpDecoder(sdp, rdma, geometry).decode();
}

} /* namespace nvdla::sim */

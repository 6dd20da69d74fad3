/* SPDX-License-Identifier: MIT */
#include "cdp/cdp.h"

#include <nvdla/hw/registers.h>

#include "core/fields.h"
#include "core/operation.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/* A table's start or end is an integer of 38 bits in two registers, or FP32 in the low register. */
constexpr unsigned edgeBits = 38;
constexpr unsigned int8OutputOffsetBits = 25;

class CdpDecoder
{
public:
	CdpDecoder(const RegisterView &cdp, const RegisterView &rdma, const Geometry &geometry)
		: cdp_(cdp), rdma_(rdma), op_{ .geometry = &geometry }
	{
	}

	CdpOp decode();

private:
	void error(const char *text) { noteError(op_.guestError, text); }
	void decodeCubes();
	void decodeConverters();
	void decodeLut();
	int64_t edge(uint32_t high, uint32_t low) const;

	const RegisterView &cdp_;
	const RegisterView &rdma_;
	CdpOp op_;
};

void CdpDecoder::decodeCubes()
{
	op_.width = rdma_[NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH] + 1;
	op_.height = rdma_[NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT] + 1;
	op_.channels = rdma_[NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL] + 1;

	const uint32_t type = FIELD(cdp_, CDP_D_DATA_FORMAT, INPUT_DATA_TYPE);
	if (type > static_cast<uint32_t>(Precision::Fp16)) {
		error("CDP: reserved value of INPUT_DATA_TYPE");
		op_.precision = Precision::Int16;
	} else if (!op_.geometry->has(static_cast<Precision>(type))) {
		error("CDP: the core has INT8 only");
	} else {
		op_.precision = static_cast<Precision>(type);
	}
	if (FIELD(rdma_, CDP_RDMA_D_DATA_FORMAT, INPUT_DATA) != type)
		error("CDP: the precisions of CDP and CDP_RDMA differ");

	op_.source = decodeCube(rdma_, CUBE(CDP_RDMA_D_SRC_, DMA_CFG, SRC_RAM_TYPE), *op_.geometry);
	op_.destination = decodeCube(cdp_, CUBE(CDP_D_DST_, DMA_CFG, DST_RAM_TYPE), *op_.geometry);
}

/* Offsets of INT8's converters are narrower: 8 bits for the input, 25 bits for the output. */
void CdpDecoder::decodeConverters()
{
	const bool isInt8 = op_.precision == Precision::Int8;
	const uint32_t in = cdp_[NVDLA_CDP_D_DATIN_OFFSET];
	const uint32_t out = cdp_[NVDLA_CDP_D_DATOUT_OFFSET];

	op_.input.offset = static_cast<int32_t>(isInt8 ? signExtend<8>(in) : signExtend<16>(in));
	op_.input.scale = static_cast<int16_t>(cdp_[NVDLA_CDP_D_DATIN_SCALE]);
	op_.input.shift = static_cast<uint8_t>(FIELD(cdp_, CDP_D_DATIN_SHIFTER, DATIN_SHIFTER));
	op_.output.offset = static_cast<int32_t>(isInt8 ? signExtend<int8OutputOffsetBits>(out)
							: signExtend<32>(out));
	op_.output.scale = static_cast<int16_t>(cdp_[NVDLA_CDP_D_DATOUT_SCALE]);
	op_.output.shift = static_cast<uint8_t>(FIELD(cdp_, CDP_D_DATOUT_SHIFTER, DATOUT_SHIFTER));
}

int64_t CdpDecoder::edge(uint32_t high, uint32_t low) const
{
	if (op_.precision == Precision::Fp16)
		return cdp_[low];
	return signExtend<edgeBits>(cdp_.address64(high, low));
}

void CdpDecoder::decodeLut()
{
	LutConfig lut = sim::decodeLut(cdp_[NVDLA_CDP_S_LUT_CFG], cdp_[NVDLA_CDP_S_LUT_INFO]);

	lut.le.start = edge(NVDLA_CDP_S_LUT_LE_START_HIGH, NVDLA_CDP_S_LUT_LE_START_LOW);
	lut.le.end = edge(NVDLA_CDP_S_LUT_LE_END_HIGH, NVDLA_CDP_S_LUT_LE_END_LOW);
	lut.lo.start = edge(NVDLA_CDP_S_LUT_LO_START_HIGH, NVDLA_CDP_S_LUT_LO_START_LOW);
	lut.lo.end = edge(NVDLA_CDP_S_LUT_LO_END_HIGH, NVDLA_CDP_S_LUT_LO_END_LOW);
	decodeLutSlopes(lut.le, cdp_[NVDLA_CDP_S_LUT_LE_SLOPE_SCALE],
			cdp_[NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT]);
	decodeLutSlopes(lut.lo, cdp_[NVDLA_CDP_S_LUT_LO_SLOPE_SCALE],
			cdp_[NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT]);
	op_.lut = lut;
}

CdpOp CdpDecoder::decode()
{
	decodeCubes();
	decodeConverters();
	decodeLut();

	op_.radius = COUNT(cdp_, CDP_D_LRN_CFG, NORMALZ_LEN);
	op_.squareSumBypass = FLAG(cdp_, CDP_D_FUNC_BYPASS, SQSUM_BYPASS);
	op_.mulBypass = FLAG(cdp_, CDP_D_FUNC_BYPASS, MUL_BYPASS);
	op_.nanToZero = FLAG(cdp_, CDP_D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO);
	op_.countsLut = FLAG(cdp_, CDP_D_PERF_ENABLE, LUT_EN);
	return op_;
}

} /* namespace */

CdpOp decodeCdp(const RegisterView &cdp, const RegisterView &rdma, const Geometry &geometry)
{
	return CdpDecoder(cdp, rdma, geometry).decode();
}

} /* namespace nvdla::sim */

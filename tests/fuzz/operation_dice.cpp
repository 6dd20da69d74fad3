/* SPDX-License-Identifier: MIT */
#include "operation_dice.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "lut/lut_tables.h"

using namespace nvdla::sim;

namespace nvdla::fuzz
{

Precision OperationDice::rollPrecision()
{
	Precision precision;

	do
		precision = static_cast<Precision>(below(3));
	while (!core_.has(precision));
	return precision;
}

uint32_t OperationDice::rollWidth()
{
	switch (below(4)) {
	case 0:
		return from(1, 20);
	case 1: /* what is worked on at once, and one less or more */
		return oneOf({ 64, 128, 256, 512, 1024 }) - 1 + below(3);
	default:
		return from(21, 320);
	}
}

OperationDice::Shape OperationDice::rollShape(Precision precision, uint32_t mostAtoms)
{
	Shape shape = { rollWidth(), from(1, 30), 1 };
	uint32_t surfaces = oneIn(3) ? from(6, 40) : from(1, 5);

	shape.width = std::min(shape.width, mostAtoms);
	surfaces = std::clamp(mostAtoms / shape.width, 1U, surfaces);
	shape.height = std::clamp(mostAtoms / (shape.width * surfaces), 1U, shape.height);
	shape.channels = surfaces * core_.atomChannels(precision);
	if (!oneIn(3))
		shape.channels -= below(core_.atomChannels(precision));
	return shape;
}

uint64_t OperationDice::findRoom(RamType ram, uint64_t bytes)
{
	const uint64_t size = ram == RamType::Mc ? kDramBytes : kCvsramBytes;
	const uint64_t base = ram == RamType::Mc ? 0 : kCvsramBase;
	const uint64_t last = bytes < size ? size - bytes : 0;

	/* Some end behind the memory. */
	return base + (oneIn(30) ? size - std::min(bytes, size) / 2 : random_() % (last + 1)) /
			      core_.atomBytes * core_.atomBytes;
}

OperationDice::Place OperationDice::place(uint32_t lineBytes, uint32_t lines, uint32_t surfaces)
{
	const auto gap = [&] { return oneIn(2) ? 0 : from(1, 4) * core_.atomBytes; };
	Place made;

	/* Onto something that there is, or somewhere in it. */
	if (!places_.empty() && oneIn(12)) {
		made = places_[below(static_cast<uint32_t>(places_.size()))];
		made.address += oneIn(2) ? 0 : uint64_t{ below(64) } * core_.atomBytes;
		return made;
	}
	made.lineStride = lineBytes + gap();
	made.surfaceStride = made.lineStride * lines + gap();
	if (oneIn(10)) { /* surfaces beside each other */
		made.surfaceStride = lineBytes + gap();
		made.lineStride = made.surfaceStride * surfaces;
	} else if (oneIn(30)) { /* or onto each other */
		made.surfaceStride = from(0, 8) * core_.atomBytes;
	}
	const uint64_t bytes = uint64_t{ made.lineStride } * (lines - 1) +
			       uint64_t{ made.surfaceStride } * (surfaces - 1) + lineBytes;
	made.ram = core_.has(Unit::Cvif) && bytes < kCvsramBytes && oneIn(6) ? RamType::Cv
									     : RamType::Mc;
	made.address = findRoom(made.ram, bytes);
	places_.push_back(made);
	return made;
}

void OperationDice::set(uint32_t high, uint32_t low, uint64_t value)
{
	set(high, static_cast<uint32_t>(value >> 32));
	set(low, static_cast<uint32_t>(value));
}

void OperationDice::set(const PlaceRegisters &registers, const Place &place)
{
	if (registers.ram)
		set(registers.ram, static_cast<uint32_t>(place.ram));
	set(registers.high, registers.low, place.address);
	set(registers.lineStride, place.lineStride);
	set(registers.surfaceStride, place.surfaceStride);
}

/* Both of them, which fall, or are anything. */
void OperationDice::setTables(uint32_t config, uint32_t data)
{
	const LutTables tables;
	const bool falls = !oneIn(3);

	for (const bool lo : { false, true }) {
		const size_t entries = lo ? tables.lo.size() : tables.le.size();
		const uint32_t step = from(1, 60);

		set(config, NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE |
				    (lo ? NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID : 0));
		for (uint32_t i = 0; i < entries; i++)
			set(data, falls ? 16000 - step * i : below(0x10000));
	}
}

void OperationDice::setRandomSlopes(std::initializer_list<uint32_t> registers)
{
	for (const uint32_t address : registers)
		set(address, oneIn(2) ? 0 : static_cast<uint32_t>(random_()));
}

void OperationDice::addBdmaTransfer()
{
	const Shape shape = rollShape(Precision::Int8, 5000);
	const uint32_t surfaces = (shape.channels + 31) / 32;
	const Place source = place(shape.width * core_.atomBytes, shape.height, surfaces);
	const Place destination = place(shape.width * core_.atomBytes, shape.height, surfaces);

	set(NVDLA_BDMA_CFG_CMD,
	    NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE, source.ram) |
		    NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE, destination.ram));
	set(NVDLA_BDMA_CFG_LINE, NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_LINE__SIZE, shape.width - 1));
	set(NVDLA_BDMA_CFG_LINE_REPEAT, shape.height - 1);
	set(NVDLA_BDMA_CFG_SURF_REPEAT, surfaces - 1);
	set({ 0, NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_SRC_ADDR_LOW, NVDLA_BDMA_CFG_SRC_LINE,
	      NVDLA_BDMA_CFG_SRC_SURF },
	    source);
	set({ 0, NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW, NVDLA_BDMA_CFG_DST_LINE,
	      NVDLA_BDMA_CFG_DST_SURF },
	    destination);
	set(NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
}

void OperationDice::addBdma()
{
	set(NVDLA_BDMA_CFG_STATUS, below(2));
	for (uint32_t count = from(1, 3); count > 0; count--)
		addBdmaTransfer();
	set(NVDLA_BDMA_CFG_LAUNCH0, 1);
	if (oneIn(2))
		return;
	addBdmaTransfer();
	set(NVDLA_BDMA_CFG_LAUNCH1, 1);
}

void OperationDice::addRubik()
{
	const auto mode = below(3);
	const Precision precision = rollPrecision();
	const Shape shape = rollShape(precision, 2500);
	const uint32_t atoms = shape.width * core_.atomBytes;
	const uint32_t surfaces = core_.surfaces(precision, shape.channels);
	const uint32_t planeLine = (shape.width * elementBytes(precision) + core_.atomBytes - 1) /
				   core_.atomBytes * core_.atomBytes;
	const bool contracts = mode == NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__CONTRACT;
	const bool splits = mode == NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__SPLIT;
	const uint32_t strideX = contracts ? from(1, 3) : 1;
	const uint32_t strideY = contracts ? from(1, 3) : 1;
	const Place cube = place(atoms, shape.height, surfaces * strideX * strideY);
	const Place other = contracts ? place(atoms * strideX, shape.height * strideY, surfaces)
				      : place(planeLine, shape.height, shape.channels);
	const Place &source = contracts || splits ? cube : other;
	const Place &destination = contracts || splits ? other : cube;

	set(NVDLA_RBK_D_MISC_CFG,
	    NVDLA_FIELD_PREP(NVDLA_RBK_D_MISC_CFG__RUBIK_MODE, mode) |
		    NVDLA_FIELD_PREP(NVDLA_RBK_D_MISC_CFG__IN_PRECISION, precision));
	set(NVDLA_RBK_D_DATAIN_SIZE_0,
	    NVDLA_FIELD_PREP(NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_WIDTH, shape.width - 1) |
		    NVDLA_FIELD_PREP(NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_HEIGHT, shape.height - 1));
	set(NVDLA_RBK_D_DATAIN_SIZE_1, shape.channels * strideX * strideY - 1);
	set(NVDLA_RBK_D_DATAOUT_SIZE_1, shape.channels - 1);
	set({ NVDLA_RBK_D_DAIN_RAM_TYPE, NVDLA_RBK_D_DAIN_ADDR_HIGH, NVDLA_RBK_D_DAIN_ADDR_LOW,
	      NVDLA_RBK_D_DAIN_LINE_STRIDE, NVDLA_RBK_D_DAIN_SURF_STRIDE },
	    source);
	set({ NVDLA_RBK_D_DAOUT_RAM_TYPE, NVDLA_RBK_D_DAOUT_ADDR_HIGH, NVDLA_RBK_D_DAOUT_ADDR_LOW,
	      NVDLA_RBK_D_DAOUT_LINE_STRIDE, NVDLA_RBK_D_DAOUT_SURF_STRIDE },
	    destination);
	set(NVDLA_RBK_D_DAIN_PLANAR_STRIDE, source.surfaceStride);
	set(NVDLA_RBK_D_DAOUT_PLANAR_STRIDE, destination.surfaceStride);
	set(NVDLA_RBK_D_CONTRACT_STRIDE_0, surfaces * source.surfaceStride);
	set(NVDLA_RBK_D_CONTRACT_STRIDE_1, strideY * destination.lineStride);
	set(NVDLA_RBK_D_DECONV_STRIDE,
	    NVDLA_FIELD_PREP(NVDLA_RBK_D_DECONV_STRIDE__DECONV_X_STRIDE, strideX - 1) |
		    NVDLA_FIELD_PREP(NVDLA_RBK_D_DECONV_STRIDE__DECONV_Y_STRIDE, strideY - 1));
	set(NVDLA_RBK_D_PERF_ENABLE, below(2));
	set(NVDLA_RBK_D_OP_ENABLE, 1);
}

/* Edges between which some inputs are, and the tables themselves. */
void OperationDice::setCdpTables(Precision precision)
{
	const bool isFloat = precision == Precision::Fp16;
	const uint32_t info = static_cast<uint32_t>(isFloat			   ? 10
						    : precision == Precision::Int8 ? 11
										   : 28);

	set(NVDLA_CDP_S_LUT_CFG, oneIn(3) ? static_cast<uint32_t>(random_())
					  : NVDLA_CDP_S_LUT_CFG__LUT_LE_FUNCTION /* linear */);
	set(NVDLA_CDP_S_LUT_INFO,
	    oneIn(4) ? static_cast<uint32_t>(random_())
		     : NVDLA_FIELD_PREP(NVDLA_CDP_S_LUT_INFO__LUT_LE_INDEX_SELECT, info) |
			       NVDLA_FIELD_PREP(NVDLA_CDP_S_LUT_INFO__LUT_LO_INDEX_SELECT, 4));
	set(NVDLA_CDP_S_LUT_LE_START_HIGH, NVDLA_CDP_S_LUT_LE_START_LOW, uint64_t{ 0 });
	set(NVDLA_CDP_S_LUT_LO_START_HIGH, NVDLA_CDP_S_LUT_LO_START_LOW, uint64_t{ 0 });
	set(NVDLA_CDP_S_LUT_LE_END_HIGH, NVDLA_CDP_S_LUT_LE_END_LOW,
	    isFloat ? uint64_t{ 0x47800000 } : uint64_t{ 1 } << from(12, 30));
	set(NVDLA_CDP_S_LUT_LO_END_HIGH, NVDLA_CDP_S_LUT_LO_END_LOW,
	    isFloat ? uint64_t{ 0x45800000 } : uint64_t{ 1 } << 12);
	setRandomSlopes({ NVDLA_CDP_S_LUT_LE_SLOPE_SCALE, NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT,
			  NVDLA_CDP_S_LUT_LO_SLOPE_SCALE, NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT });
	setTables(NVDLA_CDP_S_LUT_ACCESS_CFG, NVDLA_CDP_S_LUT_ACCESS_DATA);
}

void OperationDice::addCdp()
{
	const Precision precision = rollPrecision();
	const Shape shape = rollShape(precision, 4000);
	const uint32_t surfaces = core_.surfaces(precision, shape.channels);
	const Place source = place(shape.width * core_.atomBytes, shape.height, surfaces);

	setCdpTables(precision);
	set(NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH, shape.width - 1);
	set(NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT, shape.height - 1);
	set(NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL, shape.channels - 1);
	set(NVDLA_CDP_RDMA_D_DATA_FORMAT, static_cast<uint32_t>(precision));
	set(NVDLA_CDP_D_DATA_FORMAT, static_cast<uint32_t>(precision));
	set({ NVDLA_CDP_RDMA_D_SRC_DMA_CFG, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_HIGH,
	      NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE,
	      NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE },
	    source);
	set({ NVDLA_CDP_D_DST_DMA_CFG, NVDLA_CDP_D_DST_BASE_ADDR_HIGH,
	      NVDLA_CDP_D_DST_BASE_ADDR_LOW, NVDLA_CDP_D_DST_LINE_STRIDE,
	      NVDLA_CDP_D_DST_SURFACE_STRIDE },
	    oneIn(6) ? source : place(shape.width * core_.atomBytes, shape.height, surfaces));
	set(NVDLA_CDP_D_LRN_CFG, below(4));
	set(NVDLA_CDP_D_FUNC_BYPASS, oneIn(3) ? below(4) : 0);
	set(NVDLA_CDP_D_NAN_FLUSH_TO_ZERO, below(2));
	set(NVDLA_CDP_D_DATIN_OFFSET, oneIn(3) ? below(0x10000) : 0);
	set(NVDLA_CDP_D_DATIN_SCALE, oneIn(3) ? below(0x10000) : 1);
	set(NVDLA_CDP_D_DATIN_SHIFTER, oneIn(3) ? below(32) : 0);
	set(NVDLA_CDP_D_DATOUT_OFFSET, oneIn(3) ? static_cast<uint32_t>(random_()) : 0);
	set(NVDLA_CDP_D_DATOUT_SCALE, from(1, 300));
	set(NVDLA_CDP_D_DATOUT_SHIFTER, oneIn(3) ? below(64) : 12);
	set(NVDLA_CDP_D_PERF_ENABLE, below(4));
	set(NVDLA_CDP_RDMA_D_OP_ENABLE, 1);
	set(NVDLA_CDP_D_OP_ENABLE, 1);
}

Program OperationDice::roll(Kind kind)
{
	static constexpr const char *names[kKinds] = {
		"BDMA",
		"RUBIK",
		"CDP",
		"PDP",
		"SDP",
		"SDP to PDP",
		"conv",
		"conv, batch",
		"conv, one position",
		"conv, depthwise",
		"conv, sparse",
		"conv, sparse depthwise",
		"conv, image",
		"conv, Winograd",
	};
	Program program = { .what = names[static_cast<size_t>(kind)], .writes = {} };

	program_ = &program;
	places_.clear();
	switch (kind) {
	case Kind::Bdma:
		addBdma();
		break;
	case Kind::Rubik:
		addRubik();
		break;
	case Kind::Cdp:
		addCdp();
		break;
	case Kind::Pdp:
		addPdp();
		break;
	case Kind::Sdp:
	case Kind::SdpPdp:
		addSdp(kind == Kind::SdpPdp);
		break;
	default:
		addConvolution(kind);
		break;
	}
	return program;
}

} /* namespace nvdla::fuzz */

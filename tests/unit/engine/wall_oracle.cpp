/* SPDX-License-Identifier: MIT */
#include "wall_oracle.h"

#include <algorithm>
#include <bit>

namespace nvdla::test
{

namespace
{

uint64_t bytesOf(uint32_t precision)
{
	return precision == 0 ? 1 : 2;
}

uint64_t roundUp(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Bytes of a pixel in either plane, by the row of the table of pixel formats. */
std::pair<uint64_t, uint64_t> pixelBytes(uint32_t format)
{
	if (format >= 30)
		return { 2, 4 };
	if (format >= 28)
		return { 1, 2 };
	if (format >= 12)
		return { 4, 0 };
	if (format >= 6)
		return { 8, 0 };
	return { format ? 2 : 1, 0 };
}

} /* namespace */

uint32_t WallOracle::get(uint32_t reg, uint32_t mask)
{
	const Slot &slot = slots_[reg / 4];
	if (slot.operation != now_ || slot.isAddress)
		askedTooMuch_ = true;
	return (slot.value & mask) >> std::countr_zero(mask);
}

void WallOracle::add(uint32_t low, uint64_t unit, std::initializer_list<Steps> steps,
		     uint32_t memory, bool writes)
{
	const Slot &slot = slots_[low / 4];
	uint64_t bytes = unit;
	for (const Steps &step : steps)
		bytes += (step.count - 1) * step.stride;
	if (slot.operation != now_)
		askedTooMuch_ = true;
	reach_.push_back({ slot.isAddress ? slot.value : noAccess, bytes, memory, writes,
			   variant_.atom_bytes });
}

uint64_t WallOracle::atoms(uint64_t channels, uint64_t bytes) const
{
	return (channels * bytes + variant_.atom_bytes - 1) / variant_.atom_bytes;
}

void WallOracle::bdma()
{
	const uint64_t line =
		(get(NVDLA_BDMA_CFG_LINE, NVDLA_BDMA_CFG_LINE__SIZE) + 1ULL) * variant_.atom_bytes;
	const uint64_t lines = get(NVDLA_BDMA_CFG_LINE_REPEAT) + 1ULL;
	const uint64_t surfaces = get(NVDLA_BDMA_CFG_SURF_REPEAT) + 1ULL;
	add(NVDLA_BDMA_CFG_SRC_ADDR_LOW, line,
	    { { lines, get(NVDLA_BDMA_CFG_SRC_LINE) }, { surfaces, get(NVDLA_BDMA_CFG_SRC_SURF) } },
	    get(NVDLA_BDMA_CFG_CMD, NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE), false);
	add(NVDLA_BDMA_CFG_DST_ADDR_LOW, line,
	    { { lines, get(NVDLA_BDMA_CFG_DST_LINE) }, { surfaces, get(NVDLA_BDMA_CFG_DST_SURF) } },
	    get(NVDLA_BDMA_CFG_CMD, NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE), true);
}

void WallOracle::cdp()
{
	const uint64_t width = get(NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH) + 1ULL;
	const uint64_t height = get(NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT) + 1ULL;
	const uint64_t surfaces = atoms(get(NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL) + 1ULL,
					bytesOf(get(NVDLA_CDP_RDMA_D_DATA_FORMAT)));
	add(NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, width * variant_.atom_bytes,
	    { { height, get(NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE) },
	      { surfaces, get(NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE) } },
	    get(NVDLA_CDP_RDMA_D_SRC_DMA_CFG), false);
	add(NVDLA_CDP_D_DST_BASE_ADDR_LOW, width * variant_.atom_bytes,
	    { { height, get(NVDLA_CDP_D_DST_LINE_STRIDE) },
	      { surfaces, get(NVDLA_CDP_D_DST_SURFACE_STRIDE) } },
	    get(NVDLA_CDP_D_DST_DMA_CFG), true);
}

void WallOracle::pdp()
{
	const uint32_t parts =
		get(NVDLA_PDP_D_OPERATION_MODE_CFG, NVDLA_PDP_D_OPERATION_MODE_CFG__SPLIT_NUM) + 1;
	/* Columns of all parts; the fields are alike in the three registers. */
	const auto columns = [&](uint32_t whole, uint32_t partial) -> uint64_t {
		const auto part = [&](uint32_t mask) { return get(partial, mask) + 1ULL; };
		if (parts == 1)
			return get(whole) + 1ULL;
		return std::max(
			get(whole) + 1ULL,
			part(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_FIRST) +
				(parts - 2) *
					part(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID) +
				part(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_LAST));
	};

	if (get(NVDLA_PDP_D_OPERATION_MODE_CFG, NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE))
		add(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW,
		    columns(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH,
			    NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN) *
			    variant_.atom_bytes,
		    { { get(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT) + 1ULL,
			get(NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE) },
		      { atoms(get(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL) + 1ULL,
			      bytesOf(get(NVDLA_PDP_RDMA_D_DATA_FORMAT))),
			get(NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE) } },
		    get(NVDLA_PDP_RDMA_D_SRC_RAM_CFG), false);
	add(NVDLA_PDP_D_DST_BASE_ADDR_LOW,
	    columns(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, NVDLA_PDP_D_PARTIAL_WIDTH_OUT) *
		    variant_.atom_bytes,
	    { { get(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT) + 1ULL, get(NVDLA_PDP_D_DST_LINE_STRIDE) },
	      { atoms(get(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL) + 1ULL,
		      bytesOf(get(NVDLA_PDP_D_DATA_FORMAT))),
		get(NVDLA_PDP_D_DST_SURFACE_STRIDE) } },
	    get(NVDLA_PDP_D_DST_RAM_CFG), true);
}

void WallOracle::rubik()
{
	const uint32_t mode = get(NVDLA_RBK_D_MISC_CFG, NVDLA_RBK_D_MISC_CFG__RUBIK_MODE);
	const uint64_t bytes =
		bytesOf(get(NVDLA_RBK_D_MISC_CFG, NVDLA_RBK_D_MISC_CFG__IN_PRECISION));
	const uint64_t width =
		get(NVDLA_RBK_D_DATAIN_SIZE_0, NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_WIDTH) + 1ULL;
	const uint64_t height =
		get(NVDLA_RBK_D_DATAIN_SIZE_0, NVDLA_RBK_D_DATAIN_SIZE_0__DATAIN_HEIGHT) + 1ULL;
	const uint64_t in = get(NVDLA_RBK_D_DATAIN_SIZE_1) + 1ULL;
	const uint64_t out = get(NVDLA_RBK_D_DATAOUT_SIZE_1) + 1ULL;
	const uint32_t inMemory = get(NVDLA_RBK_D_DAIN_RAM_TYPE);
	const uint32_t outMemory = get(NVDLA_RBK_D_DAOUT_RAM_TYPE);
	const uint64_t inLine = get(NVDLA_RBK_D_DAIN_LINE_STRIDE);
	const uint64_t outLine = get(NVDLA_RBK_D_DAOUT_LINE_STRIDE);
	const uint64_t atom = variant_.atom_bytes, plane = roundUp(width * bytes, 64);

	if (mode == NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__SPLIT) {
		add(NVDLA_RBK_D_DAIN_ADDR_LOW, width * atom,
		    { { height, inLine }, { atoms(in, bytes), get(NVDLA_RBK_D_DAIN_SURF_STRIDE) } },
		    inMemory, false);
		add(NVDLA_RBK_D_DAOUT_ADDR_LOW, plane,
		    { { height, outLine }, { out, get(NVDLA_RBK_D_DAOUT_PLANAR_STRIDE) } },
		    outMemory, true);
	} else if (mode == NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__MERGE) {
		add(NVDLA_RBK_D_DAIN_ADDR_LOW, plane,
		    { { height, inLine }, { in, get(NVDLA_RBK_D_DAIN_PLANAR_STRIDE) } }, inMemory,
		    false);
		add(NVDLA_RBK_D_DAOUT_ADDR_LOW, width * atom,
		    { { height, outLine },
		      { atoms(out, bytes), get(NVDLA_RBK_D_DAOUT_SURF_STRIDE) } },
		    outMemory, true);
	} else {
		const uint64_t x =
			get(NVDLA_RBK_D_DECONV_STRIDE, NVDLA_RBK_D_DECONV_STRIDE__DECONV_X_STRIDE) +
			1ULL;
		const uint64_t y =
			get(NVDLA_RBK_D_DECONV_STRIDE, NVDLA_RBK_D_DECONV_STRIDE__DECONV_Y_STRIDE) +
			1ULL;
		add(NVDLA_RBK_D_DAIN_ADDR_LOW, width * atom,
		    { { height, inLine },
		      { atoms(out, bytes), get(NVDLA_RBK_D_DAIN_SURF_STRIDE) },
		      { x * y, get(NVDLA_RBK_D_CONTRACT_STRIDE_0) } },
		    inMemory, false);
		add(NVDLA_RBK_D_DAOUT_ADDR_LOW, width * x * atom,
		    { { y, outLine },
		      { height, get(NVDLA_RBK_D_CONTRACT_STRIDE_1) },
		      { atoms(out, bytes), get(NVDLA_RBK_D_DAOUT_SURF_STRIDE) } },
		    outMemory, true);
	}
}

void WallOracle::sdpOperand(uint32_t step, uint64_t width, uint64_t height, uint64_t channels,
			    uint32_t proc)
{
	const uint32_t cfg = NVDLA_SDP_RDMA_D_BRDMA_CFG + step;
	if (get(cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE))
		return;

	const bool both = get(cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE) ==
			  NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__BOTH;
	const bool each = get(cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_MODE);
	const uint64_t elements = variant_.atom_bytes / bytesOf(proc);
	const uint64_t atom = elements * (both ? 2 : 1) *
			      bytesOf(get(cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_SIZE));
	add(NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW + step, (each ? width : 1) * atom,
	    { { each ? height : 1, get(NVDLA_SDP_RDMA_D_BS_LINE_STRIDE + step) },
	      { (channels + elements - 1) / elements,
		get(NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE + step) } },
	    get(cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_RAM_TYPE), false);
}

void WallOracle::sdp()
{
	const uint64_t width = get(NVDLA_SDP_D_DATA_CUBE_WIDTH) + 1ULL;
	const uint64_t height = get(NVDLA_SDP_D_DATA_CUBE_HEIGHT) + 1ULL;
	const uint64_t channels = get(NVDLA_SDP_D_DATA_CUBE_CHANNEL) + 1ULL;
	const uint32_t mode = NVDLA_SDP_D_FEATURE_MODE_CFG;
	const uint32_t proc = get(NVDLA_SDP_D_DATA_FORMAT, NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION);
	const bool flying = get(mode, NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE);
	const uint32_t ew = get(NVDLA_SDP_D_DP_EW_CFG);
	/* The pipeline takes as many channels at once as an atom of its precision has. */
	const auto surfaces = [&](uint32_t precision) {
		const uint64_t at_once = variant_.atom_bytes / bytesOf(proc);
		const uint64_t atoms_each = bytesOf(precision) > bytesOf(proc) ? 2 : 1;
		return (channels + at_once - 1) / at_once * atoms_each;
	};
	const bool compares =
		!(ew & (NVDLA_SDP_D_DP_EW_CFG__EW_BYPASS | NVDLA_SDP_D_DP_EW_CFG__EW_ALU_BYPASS)) &&
		(ew & NVDLA_SDP_D_DP_EW_CFG__EW_ALU_ALGO) == NVDLA_SDP_D_DP_EW_CFG__EW_ALU_ALGO;

	if (!flying)
		add(NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, width * variant_.atom_bytes,
		    { { height, get(NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE) },
		      { surfaces(get(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
				     NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__IN_PRECISION)),
			get(NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE) } },
		    get(NVDLA_SDP_RDMA_D_SRC_DMA_CFG), false);
	if (isWritten(NVDLA_SDP_RDMA_D_BRDMA_CFG))
		for (uint32_t cfg : { NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG,
				      NVDLA_SDP_RDMA_D_ERDMA_CFG })
			sdpOperand(cfg - NVDLA_SDP_RDMA_D_BRDMA_CFG, width, height, channels, proc);
	if (get(mode, NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST) || compares)
		return;
	add(NVDLA_SDP_D_DST_BASE_ADDR_LOW, width * variant_.atom_bytes,
	    { { height, get(NVDLA_SDP_D_DST_LINE_STRIDE) },
	      { surfaces(get(NVDLA_SDP_D_DATA_FORMAT, NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION)),
		get(NVDLA_SDP_D_DST_SURFACE_STRIDE) },
	      { get(mode, NVDLA_SDP_D_FEATURE_MODE_CFG__BATCH_NUMBER) + 1ULL,
		get(NVDLA_SDP_D_DST_BATCH_STRIDE) } },
	    get(NVDLA_SDP_D_DST_DMA_CFG), true);
}

void WallOracle::convInput()
{
	const uint32_t format = NVDLA_CDMA_D_DATAIN_FORMAT, size = NVDLA_CDMA_D_DATAIN_SIZE_0;
	const uint64_t width = get(size, NVDLA_CDMA_D_DATAIN_SIZE_0__DATAIN_WIDTH) + 1ULL;
	const uint64_t height = get(size, NVDLA_CDMA_D_DATAIN_SIZE_0__DATAIN_HEIGHT) + 1ULL;
	const uint64_t atom = variant_.atom_bytes;
	const uint32_t memory = get(NVDLA_CDMA_D_DAIN_RAM_TYPE);

	if (!get(format, NVDLA_CDMA_D_DATAIN_FORMAT__DATAIN_FORMAT)) {
		const uint32_t precision =
			get(NVDLA_CDMA_D_MISC_CFG, NVDLA_CDMA_D_MISC_CFG__IN_PRECISION);
		add(NVDLA_CDMA_D_DAIN_ADDR_LOW_0, width * atom,
		    { { height, get(NVDLA_CDMA_D_LINE_STRIDE) },
		      { atoms(get(NVDLA_CDMA_D_DATAIN_SIZE_1) + 1ULL, bytesOf(precision)),
			get(NVDLA_CDMA_D_SURF_STRIDE) },
		      { get(NVDLA_CDMA_D_BATCH_NUMBER) + 1ULL, get(NVDLA_CDMA_D_BATCH_STRIDE) } },
		    memory, false);
		return;
	}
	const auto [first, second] =
		pixelBytes(get(format, NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT));
	const auto line = [&](uint64_t pixel) {
		return roundUp(get(NVDLA_CDMA_D_PIXEL_OFFSET) * pixel % atom + width * pixel, atom);
	};
	add(NVDLA_CDMA_D_DAIN_ADDR_LOW_0, line(first),
	    { { height, get(NVDLA_CDMA_D_LINE_STRIDE) } }, memory, false);
	if (second)
		add(NVDLA_CDMA_D_DAIN_ADDR_LOW_1, line(second),
		    { { height, get(NVDLA_CDMA_D_LINE_UV_STRIDE) } }, memory, false);
}

void WallOracle::conv()
{
	const uint32_t misc = NVDLA_CDMA_D_MISC_CFG;
	const uint32_t memory = get(NVDLA_CDMA_D_WEIGHT_RAM_TYPE);
	const uint64_t group =
		variant_.int8_kernels / bytesOf(get(misc, NVDLA_CDMA_D_MISC_CFG__PROC_PRECISION));
	const uint64_t kernels = get(NVDLA_CDMA_D_WEIGHT_SIZE_1) + 1ULL;

	convInput();
	add(NVDLA_CDMA_D_WEIGHT_ADDR_LOW, get(NVDLA_CDMA_D_WEIGHT_BYTES), {}, memory, false);
	if (!get(NVDLA_CDMA_D_WEIGHT_FORMAT))
		return;
	add(NVDLA_CDMA_D_WMB_ADDR_LOW, get(NVDLA_CDMA_D_WMB_BYTES), {}, memory, false);
	add(NVDLA_CDMA_D_WGS_ADDR_LOW,
	    roundUp((kernels + group - 1) / group * 4, variant_.atom_bytes), {}, memory, false);
}

const std::vector<Reach> &WallOracle::reach(nvdla_op_type engine, const wall_verdict &verdict)
{
	now_++;
	reach_.clear();
	for (uint32_t i = 0; i < verdict.num_writes; i++) {
		const wall_write &write = verdict.writes[i];
		slots_[write.reg / 4] = { now_, write.value, write.is_address };
		if (write.reg == NVDLA_BDMA_CFG_OP)
			bdma();
	}
	switch (engine) {
	case NVDLA_OP_BDMA:
		break;
	case NVDLA_OP_CONV:
		conv();
		break;
	case NVDLA_OP_SDP:
		sdp();
		break;
	case NVDLA_OP_PDP:
		pdp();
		break;
	case NVDLA_OP_CDP:
		cdp();
		break;
	case NVDLA_OP_RUBIK:
		rubik();
		break;
	}
	return reach_;
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * Convolutions, in all their modes.
 */
#include <algorithm>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "conv/cbuf.h"
#include "conv/pixel_format.h"
#include "operation_dice.h"

#define FIELD(reg, name, value) NVDLA_FIELD_PREP(NVDLA_##reg##__##name, value)

using namespace nvdla::sim;

namespace nvdla::fuzz
{

/** \brief What the registers of the five units are made of */
struct OperationDice::Convolution {
	ConvMode mode = ConvMode::Direct;
	Precision precision = Precision::Int8;
	Shape fetched = {};
	Shape data = {};
	Shape kernel = {};
	uint32_t kernels = 1;
	uint32_t outWidth = 1;
	uint32_t outHeight = 1;
	uint32_t batches = 1;
	uint32_t strideX = 1, strideY = 1;	     /* of the windows */
	uint32_t fetchStrideX = 1, fetchStrideY = 1; /* Winograd */
	uint32_t dilationX = 1, dilationY = 1;
	uint32_t padLeft = 0, padTop = 0; /* as CSC makes it */
	uint32_t fetchPad[4] = {};	  /* as CDMA does: left, right, top, bottom */
	uint32_t pixelFormat = 0;
	uint32_t rowsOfBlock = 0; /* as a power of two */
	bool isSparse = false;
	bool isDepthwise = false;
	uint32_t entries = 1; /* of a line */
	uint32_t dataBanks = 1;
	uint32_t weightBanks = 1;
	Place source = {};

	uint32_t elements() const { return kernel.width * kernel.height * kernel.channels; }
};

void OperationDice::rollDirect(Convolution &conv)
{
	conv.fetched = rollShape(conv.precision, 1500);
	conv.kernel = { std::min(from(1, 4), conv.fetched.width),
			std::min(from(1, 4), conv.fetched.height), conv.fetched.channels };
	if (oneIn(2))
		conv.kernel.width = conv.kernel.height = 1;
	conv.dilationX = oneIn(4) ? from(1, 3) : 1;
	conv.dilationY = oneIn(4) ? from(1, 3) : 1;
	conv.strideX = oneIn(3) ? from(2, 4) : 1;
	conv.strideY = oneIn(3) ? from(2, 4) : 1;
	conv.padLeft = oneIn(2) ? below(conv.kernel.width) : 0;
	conv.padTop = oneIn(2) ? below(conv.kernel.height) : 0;
	/* What is behind the cube is padding, too. */
	const auto out = [](uint32_t in, uint32_t pad, uint32_t size, uint32_t dilation,
			    uint32_t stride) {
		const uint32_t touched = (size - 1) * dilation + 1;
		const uint32_t all = 2 * pad + in;
		return all < touched ? 1 : (all - touched) / stride + 1;
	};
	conv.outWidth = out(conv.fetched.width, conv.padLeft, conv.kernel.width, conv.dilationX,
			    conv.strideX);
	conv.outHeight = out(conv.fetched.height, conv.padTop, conv.kernel.height, conv.dilationY,
			     conv.strideY);
	conv.data = conv.fetched;
	conv.source = place(conv.fetched.width * core_.atomBytes, conv.fetched.height,
			    core_.surfaces(conv.precision, conv.fetched.channels) * conv.batches);
	if (conv.batches > 1) /* whose cubes follow each other */
		conv.source.surfaceStride = std::max(conv.source.surfaceStride,
						     conv.source.lineStride * conv.fetched.height);
}

/* Each kernel has weights for its own channel alone. */
void OperationDice::rollDepthwise(Convolution &conv)
{
	rollDirect(conv);
	conv.isDepthwise = true;
	conv.fetched.channels = std::min(conv.fetched.channels, core_.atomChannels(conv.precision));
	if (oneIn(2))
		conv.fetched.channels = core_.atomChannels(conv.precision);
	conv.data = conv.fetched;
	conv.kernel.channels = conv.kernels = conv.fetched.channels;
}

void OperationDice::rollImage(Convolution &conv)
{
	conv.mode = ConvMode::Image;
	conv.fetched = { std::min(rollWidth(), 200U), from(1, 12), 1 };
	do
		conv.pixelFormat = below(64);
	while (!pixelFormat(conv.pixelFormat) ||
	       (pixelFormat(conv.pixelFormat)->kind == PixelKind::Fp16 &&
		!core_.has(Precision::Fp16)));
	const PixelFormat &format = *pixelFormat(conv.pixelFormat);
	if (format.kind == PixelKind::Fp16)
		conv.precision = Precision::Fp16;
	const uint32_t columns = std::min(from(1, 5), conv.fetched.width);
	conv.fetched.channels = format.channels;
	conv.data = conv.fetched;
	conv.rowsOfBlock = below(3);
	conv.kernel = { 1, std::min(from(1, 5), conv.fetched.height), columns * format.channels };
	if (conv.kernel.channels << conv.rowsOfBlock > core_.macChannels)
		conv.rowsOfBlock = 0;
	conv.fetchPad[0] = below(columns);
	conv.fetchPad[1] = below(columns);
	conv.padTop = below(conv.kernel.height);
	conv.strideX = from(1, 3);
	conv.strideY = from(1, 3);
	conv.outWidth = (conv.fetchPad[0] + conv.fetched.width + conv.fetchPad[1] - columns) /
				conv.strideX +
			1;
	conv.outHeight =
		(2 * conv.padTop + conv.fetched.height - conv.kernel.height) / conv.strideY + 1;
	conv.source = place((conv.fetched.width * 8 + 96) / core_.atomBytes * core_.atomBytes,
			    conv.fetched.height, 2);
}

void OperationDice::rollWinograd(Convolution &conv)
{
	const uint32_t atom = core_.atomChannels(conv.precision);

	conv.mode = ConvMode::Winograd;
	conv.fetchStrideX = oneIn(3) ? 2 : 1;
	conv.fetchStrideY = oneIn(3) ? 2 : 1;
	conv.data = { 4 * from(2, 10), 4 * from(2, 5), 0 };
	for (uint32_t &pad : conv.fetchPad)
		pad = below(2);
	conv.fetched = { conv.data.width * conv.fetchStrideX - conv.fetchPad[0] - conv.fetchPad[1],
			 conv.data.height * conv.fetchStrideY - conv.fetchPad[2] - conv.fetchPad[3],
			 atom * from(1, 3) - below(atom) };
	conv.data.channels = core_.surfaces(conv.precision, conv.fetched.channels) * atom *
			     conv.fetchStrideX * conv.fetchStrideY;
	conv.kernel = { 4, 4, conv.data.channels };
	conv.outWidth = conv.data.width - 4;
	conv.outHeight = conv.data.height - 4;
	conv.source = place(conv.fetched.width * core_.atomBytes, conv.fetched.height,
			    core_.surfaces(conv.precision, conv.fetched.channels));
}

/* \return there is room for the cube and for a group of kernels */
bool OperationDice::layBanks(Convolution &conv)
{
	const uint32_t columns =
		conv.data.width +
		(conv.mode == ConvMode::Image ? conv.fetchPad[0] + conv.fetchPad[1] : 0);
	const uint32_t group = conv.elements() * elementBytes(conv.precision) *
			       std::min(conv.kernels, core_.atomChannels(conv.precision));

	conv.entries =
		entriesPerSlice(conv.mode, conv.precision, columns, conv.data.channels, core_);
	const uint32_t dataBanks =
		(conv.entries * conv.data.height * conv.batches + core_.bankEntries - 1) /
		core_.bankEntries;
	const uint32_t weightBanks =
		(group + core_.entryBytes + core_.bankBytes() - 1) / core_.bankBytes();
	const uint32_t banks = conv.isSparse ? core_.banks - 1 : core_.banks;

	/* The mask of a group has a bank, a bit for each element. */
	const bool masksFit = group <= core_.bankBytes() * 8 * elementBytes(conv.precision);

	if (dataBanks + weightBanks > banks || (conv.isSparse && !masksFit))
		return false;
	conv.dataBanks = from(dataBanks, banks - weightBanks);
	conv.weightBanks = oneIn(2) ? weightBanks : banks - conv.dataBanks;
	return true;
}

/* Group sizes are written here: random ones would nearly always exceed all weights, and hang. */
void OperationDice::setGroupSizes(RamType ram, uint32_t most, uint32_t weightBytes)
{
	const uint64_t address = findRoom(ram, 1024);
	std::vector<uint32_t> sizes(most);

	set(NVDLA_CDMA_D_WGS_ADDR_HIGH, NVDLA_CDMA_D_WGS_ADDR_LOW, address);
	if (oneIn(20))
		return;
	for (uint32_t &size : sizes)
		size = below(weightBytes / most / 2);
	const auto bytes = std::as_bytes(std::span(sizes));
	program_->patches.push_back({ ram, address, { bytes.begin(), bytes.end() } });
}

/* Where they are anything, memory's numbers are the weights, and the mask. */
void OperationDice::setWeights(const Convolution &conv)
{
	const auto wholeEntries = [&](uint64_t bytes) {
		return static_cast<uint32_t>((bytes + core_.entryBytes - 1) / core_.entryBytes *
					     core_.entryBytes);
	};
	const uint64_t elements = uint64_t{ conv.elements() } * conv.kernels;
	const uint32_t bytes = wholeEntries(elements * elementBytes(conv.precision));
	const uint32_t maskBytes = wholeEntries((elements + 7) / 8);
	const RamType ram = core_.has(Unit::Cvif) && bytes < kCvsramBytes && oneIn(4) ? RamType::Cv
										      : RamType::Mc;
	const uint64_t weights = findRoom(ram, bytes);
	const uint64_t mask = findRoom(ram, maskBytes);

	set(NVDLA_CDMA_D_WEIGHT_FORMAT, conv.isSparse);
	set(NVDLA_CSC_D_WEIGHT_FORMAT, conv.isSparse);
	set(NVDLA_CDMA_D_WEIGHT_SIZE_0, bytes / conv.kernels);
	set(NVDLA_CDMA_D_WEIGHT_SIZE_1, conv.kernels - 1);
	set(NVDLA_CDMA_D_WEIGHT_RAM_TYPE, static_cast<uint32_t>(ram));
	set(NVDLA_CDMA_D_WEIGHT_ADDR_HIGH, NVDLA_CDMA_D_WEIGHT_ADDR_LOW, weights);
	set(NVDLA_CDMA_D_WEIGHT_BYTES, bytes);
	set(NVDLA_CDMA_D_WMB_ADDR_HIGH, NVDLA_CDMA_D_WMB_ADDR_LOW, mask);
	set(NVDLA_CDMA_D_WMB_BYTES, maskBytes);
	setGroupSizes(ram, (conv.kernels + 15) / 16, bytes);
	if (!conv.isDepthwise)
		return;
	/* Kernels and channels of one step: an element of a kernel after the other. */
	const size_t element = elementBytes(conv.precision);
	Program::Patch own = { ram, weights, std::vector<std::byte>(bytes) };
	Program::Patch ownMask = { ram, mask, std::vector<std::byte>(maskBytes) };
	for (uint64_t i = 0; i < elements; i++) {
		const uint64_t kernel = i / conv.kernel.channels % conv.kernels;
		if (i % conv.kernel.channels != kernel && !(oneIn(5000) && oneIn(20)))
			continue;
		for (size_t byte = 0; byte < element; byte++)
			own.bytes[i * element + byte] =
				static_cast<std::byte>(1 + below(byte + 1 < element ? 200 : 60));
		ownMask.bytes[i / 8] |= std::byte{ 1 } << i % 8;
	}
	program_->patches.push_back(std::move(conv.isSparse ? ownMask : own));
}

void OperationDice::setConvolution(const Convolution &conv)
{
	const uint32_t mode = conv.mode == ConvMode::Winograd;
	const uint32_t isImage = conv.mode == ConvMode::Image;
	const auto precision = static_cast<uint32_t>(conv.precision);
	const uint32_t pad = oneIn(2) ? 0 : below(0x10000);
	/* Pixels are converted to what is processed, cubes are it. */
	const uint32_t in = isImage ? static_cast<uint32_t>(rollPrecision()) : precision;
	const auto size = [](const Shape &shape) {
		return FIELD(CDMA_D_DATAIN_SIZE_0, DATAIN_WIDTH, shape.width - 1) |
		       FIELD(CDMA_D_DATAIN_SIZE_0, DATAIN_HEIGHT, shape.height - 1);
	};

	set(NVDLA_CDMA_D_MISC_CFG, FIELD(CDMA_D_MISC_CFG, CONV_MODE, mode) |
					   FIELD(CDMA_D_MISC_CFG, IN_PRECISION, in) |
					   FIELD(CDMA_D_MISC_CFG, PROC_PRECISION, precision));
	set(NVDLA_CSC_D_MISC_CFG, FIELD(CSC_D_MISC_CFG, CONV_MODE, mode) |
					  FIELD(CSC_D_MISC_CFG, IN_PRECISION, in) |
					  FIELD(CSC_D_MISC_CFG, PROC_PRECISION, precision));
	for (const uint32_t unit :
	     { NVDLA_CMAC_A_D_MISC_CFG, NVDLA_CMAC_B_D_MISC_CFG, NVDLA_CACC_D_MISC_CFG })
		set(unit, FIELD(CACC_D_MISC_CFG, CONV_MODE, mode) |
				  FIELD(CACC_D_MISC_CFG, PROC_PRECISION, precision));
	set(NVDLA_CDMA_D_DATAIN_FORMAT,
	    FIELD(CDMA_D_DATAIN_FORMAT, DATAIN_FORMAT, isImage) |
		    FIELD(CDMA_D_DATAIN_FORMAT, PIXEL_FORMAT, conv.pixelFormat) |
		    FIELD(CDMA_D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE, below(2)));
	set(NVDLA_CSC_D_DATAIN_FORMAT, isImage);
	set(NVDLA_CDMA_D_DATAIN_SIZE_0, size(conv.fetched));
	set(NVDLA_CDMA_D_DATAIN_SIZE_1, conv.fetched.channels - 1);
	set(NVDLA_CDMA_D_DATAIN_SIZE_EXT_0, size(conv.data));
	set(NVDLA_CSC_D_DATAIN_SIZE_EXT_0, size(conv.data));
	set(NVDLA_CSC_D_DATAIN_SIZE_EXT_1, conv.data.channels - 1);
	set(NVDLA_CDMA_D_PIXEL_OFFSET, isImage && oneIn(2) ? below(4) : 0);
	set({ NVDLA_CDMA_D_DAIN_RAM_TYPE, NVDLA_CDMA_D_DAIN_ADDR_HIGH_0,
	      NVDLA_CDMA_D_DAIN_ADDR_LOW_0, NVDLA_CDMA_D_LINE_STRIDE, NVDLA_CDMA_D_SURF_STRIDE },
	    conv.source);
	set(NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, NVDLA_CDMA_D_DAIN_ADDR_LOW_1,
	    conv.source.address + conv.source.surfaceStride);
	set(NVDLA_CDMA_D_LINE_UV_STRIDE, conv.source.lineStride);
	set(NVDLA_CDMA_D_BATCH_STRIDE,
	    core_.surfaces(conv.precision, conv.fetched.channels) * conv.source.surfaceStride);
	for (const uint32_t unit :
	     { NVDLA_CDMA_D_BATCH_NUMBER, NVDLA_CSC_D_BATCH_NUMBER, NVDLA_CACC_D_BATCH_NUMBER })
		set(unit, conv.batches - 1);
	set(NVDLA_CDMA_D_ENTRY_PER_SLICE, conv.entries - 1);
	set(NVDLA_CSC_D_ENTRY_PER_SLICE, conv.entries - 1);
	for (const uint32_t unit : { NVDLA_CDMA_D_BANK, NVDLA_CSC_D_BANK })
		set(unit, FIELD(CDMA_D_BANK, DATA_BANK, conv.dataBanks - 1) |
				  FIELD(CDMA_D_BANK, WEIGHT_BANK, conv.weightBanks - 1));
	set(NVDLA_CDMA_D_CONV_STRIDE,
	    FIELD(CDMA_D_CONV_STRIDE, CONV_X_STRIDE, conv.fetchStrideX - 1) |
		    FIELD(CDMA_D_CONV_STRIDE, CONV_Y_STRIDE, conv.fetchStrideY - 1));
	set(NVDLA_CDMA_D_ZERO_PADDING,
	    FIELD(CDMA_D_ZERO_PADDING, PAD_LEFT, conv.fetchPad[0]) |
		    FIELD(CDMA_D_ZERO_PADDING, PAD_RIGHT, conv.fetchPad[1]) |
		    FIELD(CDMA_D_ZERO_PADDING, PAD_TOP, conv.fetchPad[2]) |
		    FIELD(CDMA_D_ZERO_PADDING, PAD_BOTTOM, conv.fetchPad[3]));
	set(NVDLA_CSC_D_ZERO_PADDING, FIELD(CSC_D_ZERO_PADDING, PAD_LEFT, conv.padLeft) |
					      FIELD(CSC_D_ZERO_PADDING, PAD_TOP, conv.padTop));
	set(NVDLA_CDMA_D_ZERO_PADDING_VALUE, pad);
	set(NVDLA_CSC_D_ZERO_PADDING_VALUE, pad);
	set(NVDLA_CDMA_D_CVT_CFG, isImage ? below(2) | below(2) * below(64) << 4 : 0);
	set(NVDLA_CDMA_D_CVT_SCALE, oneIn(2) ? 1 : below(0x10000));
	set(NVDLA_CDMA_D_CVT_OFFSET, below(0x10000));
	set(NVDLA_CDMA_D_NAN_FLUSH_TO_ZERO, below(2));
	set(NVDLA_CDMA_D_PERF_ENABLE, below(2));
	set(NVDLA_CSC_D_WEIGHT_SIZE_EXT_0,
	    FIELD(CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, conv.kernel.width - 1) |
		    FIELD(CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT, conv.kernel.height - 1));
	set(NVDLA_CSC_D_WEIGHT_SIZE_EXT_1,
	    FIELD(CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, conv.kernel.channels - 1) |
		    FIELD(CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL, conv.kernels - 1));
	set(NVDLA_CSC_D_CONV_STRIDE_EXT,
	    FIELD(CSC_D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT, conv.strideX - 1) |
		    FIELD(CSC_D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT, conv.strideY - 1));
	set(NVDLA_CSC_D_DILATION_EXT,
	    FIELD(CSC_D_DILATION_EXT, X_DILATION_EXT, conv.dilationX - 1) |
		    FIELD(CSC_D_DILATION_EXT, Y_DILATION_EXT, conv.dilationY - 1));
	set(NVDLA_CSC_D_POST_Y_EXTENSION, conv.rowsOfBlock);
	set(NVDLA_CSC_D_PRA_CFG, mode ? below(4) : 0);
	set(NVDLA_CSC_D_RELEASE, conv.data.height - 1);
	for (const auto &[sizes, channels] :
	     { std::pair(NVDLA_CSC_D_DATAOUT_SIZE_0, NVDLA_CSC_D_DATAOUT_SIZE_1),
	       std::pair(NVDLA_CACC_D_DATAOUT_SIZE_0, NVDLA_CACC_D_DATAOUT_SIZE_1) }) {
		set(sizes,
		    FIELD(CACC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH, conv.outWidth - 1) |
			    FIELD(CACC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, conv.outHeight - 1));
		set(channels, conv.kernels - 1);
	}
	set(NVDLA_CACC_D_CLIP_CFG, conv.precision == Precision::Int16 ? from(0, 12) : from(0, 4));
}

void OperationDice::addConvolution(Kind kind)
{
	Convolution conv;
	Shape out;

	do {
		conv = Convolution();
		places_.clear();
		conv.precision = rollPrecision();
		conv.isSparse = core_.hasCompressedWeights &&
				(kind == Kind::Sparse || kind == Kind::SparseDepthwise ||
				 (kind != Kind::Depthwise && oneIn(8)));
		conv.kernels = oneIn(3) ? from(40, 200) : from(1, 40);
		conv.batches = kind == Kind::Batch ? from(2, 5) : 1;
		if (kind == Kind::Image)
			rollImage(conv);
		else if (kind == Kind::Winograd)
			rollWinograd(conv);
		else if (kind == Kind::Depthwise || kind == Kind::SparseDepthwise)
			rollDepthwise(conv);
		else
			rollDirect(conv);
		if (kind == Kind::OnePosition) {
			conv.padLeft = conv.padTop = 0;
			conv.outWidth = conv.outHeight = 1;
		}
		out = { conv.outWidth, conv.outHeight, conv.kernels };
	} while (!layBanks(conv) || uint64_t{ out.width } * out.height * conv.batches *
						    core_.surfaces(conv.precision, out.channels) >
					    8000);

	const bool toPdp = conv.batches == 1 && oneIn(5);
	setConvolution(conv);
	setWeights(conv);
	if (toPdp)
		setPdp(out, conv.precision, true);
	const bool reads = setSdp(out, conv.precision, true, toPdp, conv.batches);
	if (toPdp)
		set(NVDLA_PDP_D_OP_ENABLE, 1);
	if (reads)
		set(NVDLA_SDP_RDMA_D_OP_ENABLE, 1);
	enableConvolution();
}

void OperationDice::enableConvolution()
{
	for (const uint32_t unit :
	     { NVDLA_SDP_D_OP_ENABLE, NVDLA_CACC_D_OP_ENABLE, NVDLA_CMAC_A_D_OP_ENABLE,
	       NVDLA_CMAC_B_D_OP_ENABLE, NVDLA_CSC_D_OP_ENABLE, NVDLA_CDMA_D_OP_ENABLE })
		set(unit, 1);
}

Program growing(Precision precision, uint32_t side, uint32_t batches)
{
	Program program = { .what = "growing", .writes = {} };
	OperationDice dice(1);
	OperationDice::Convolution conv;

	dice.program_ = &program;
	conv.precision = precision;
	conv.fetched = conv.data = conv.kernel = { 1, 1, 1 };
	conv.kernels = 32;
	conv.batches = batches;
	conv.outWidth = conv.outHeight = side;
	conv.source = { RamType::Mc, 0x1000, nvFull.atomBytes, nvFull.atomBytes };
	dice.layBanks(conv);
	dice.setConvolution(conv);
	dice.setWeights(conv);
	dice.setSdp({ conv.outWidth, conv.outHeight, conv.kernels }, conv.precision, true, false,
		    conv.batches);
	dice.enableConvolution();
	return program;
}

} /* namespace nvdla::fuzz */

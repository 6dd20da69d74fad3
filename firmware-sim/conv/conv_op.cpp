/* SPDX-License-Identifier: MIT */
/* Decodes the registers of CDMA, CSC, CMAC_A, CMAC_B and CACC to a ConvOp. */
#include "conv/conv_op.h"

#include <string_view>

#include <nvdla/hw/registers.h>

#include "conv/cbuf.h"
#include "conv/pixel_format.h"
#include "core/fields.h"

/* Read a stride and an address; bits below the size of an atom are ignored. */
#define BYTES(view, reg) (geometry.wholeAtoms((view)[NVDLA_##reg]))
#define ADDRESS(view, high, low) (geometry.wholeAtoms((view).address64(NVDLA_##high, NVDLA_##low)))

namespace nvdla::sim
{

namespace
{

/* Fields that are wider in other cores than in nv_full, where their upper bits read as zero. */
constexpr uint32_t kDataBank = 0x1f;
constexpr uint32_t kWeightBank = 0x1f0000;
constexpr uint32_t kEntries = 0x3fff;

DataFetch decodeFetch(const RegisterView &cdma, const Geometry &geometry)
{
	DataFetch fetch;

	fetch.ram = static_cast<RamType>(FIELD(cdma, CDMA_D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE));
	fetch.address = ADDRESS(cdma, CDMA_D_DAIN_ADDR_HIGH_0, CDMA_D_DAIN_ADDR_LOW_0);
	fetch.addressUv = ADDRESS(cdma, CDMA_D_DAIN_ADDR_HIGH_1, CDMA_D_DAIN_ADDR_LOW_1);
	fetch.lineStride = BYTES(cdma, CDMA_D_LINE_STRIDE);
	fetch.lineStrideUv = BYTES(cdma, CDMA_D_LINE_UV_STRIDE);
	fetch.surfaceStride = BYTES(cdma, CDMA_D_SURF_STRIDE);
	fetch.batchStride = BYTES(cdma, CDMA_D_BATCH_STRIDE);
	fetch.packed = FLAG(cdma, CDMA_D_DAIN_MAP, LINE_PACKED) &&
		       FLAG(cdma, CDMA_D_DAIN_MAP, SURF_PACKED);
	fetch.size = { COUNT(cdma, CDMA_D_DATAIN_SIZE_0, DATAIN_WIDTH),
		       COUNT(cdma, CDMA_D_DATAIN_SIZE_0, DATAIN_HEIGHT),
		       COUNT(cdma, CDMA_D_DATAIN_SIZE_1, DATAIN_CHANNEL) };
	fetch.padLeft = FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_LEFT);
	fetch.padRight = FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_RIGHT);
	fetch.padTop = FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_TOP);
	fetch.padBottom = FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_BOTTOM);
	fetch.padValue = static_cast<int16_t>(FIELD(cdma, CDMA_D_ZERO_PADDING_VALUE, PAD_VALUE));
	fetch.strideX = COUNT(cdma, CDMA_D_CONV_STRIDE, CONV_X_STRIDE);
	fetch.strideY = COUNT(cdma, CDMA_D_CONV_STRIDE, CONV_Y_STRIDE);
	fetch.entries = cdma.field(NVDLA_CDMA_D_ENTRY_PER_SLICE, kEntries) + 1;
	fetch.flushNan = FLAG(cdma, CDMA_D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO);
	return fetch;
}

PixelInput decodePixel(const RegisterView &cdma)
{
	PixelInput pixel;

	pixel.format = static_cast<uint8_t>(FIELD(cdma, CDMA_D_DATAIN_FORMAT, PIXEL_FORMAT));
	pixel.isSigned = FLAG(cdma, CDMA_D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE);
	pixel.xOffset = FIELD(cdma, CDMA_D_PIXEL_OFFSET, PIXEL_X_OFFSET);
	pixel.convert = FLAG(cdma, CDMA_D_CVT_CFG, CVT_EN);
	pixel.truncate = static_cast<uint8_t>(FIELD(cdma, CDMA_D_CVT_CFG, CVT_TRUNCATE));
	pixel.scale = static_cast<int16_t>(FIELD(cdma, CDMA_D_CVT_SCALE, CVT_SCALE));
	if (FLAG(cdma, CDMA_D_MEAN_FORMAT, MEAN_FORMAT)) {
		pixel.mean[0] = static_cast<int16_t>(FIELD(cdma, CDMA_D_MEAN_GLOBAL_0, MEAN_RY));
		pixel.mean[1] = static_cast<int16_t>(FIELD(cdma, CDMA_D_MEAN_GLOBAL_0, MEAN_GU));
		pixel.mean[2] = static_cast<int16_t>(FIELD(cdma, CDMA_D_MEAN_GLOBAL_1, MEAN_BV));
		pixel.mean[3] = static_cast<int16_t>(FIELD(cdma, CDMA_D_MEAN_GLOBAL_1, MEAN_AX));
	} else {
		const auto offset =
			static_cast<int16_t>(FIELD(cdma, CDMA_D_CVT_OFFSET, CVT_OFFSET));
		for (int16_t &mean : pixel.mean)
			mean = offset;
	}
	return pixel;
}

WeightFetch decodeWeights(const RegisterView &cdma, const Geometry &geometry)
{
	const uint32_t wholeEntries = ~(geometry.entryBytes - 1);
	WeightFetch weights;

	weights.ram = static_cast<RamType>(FIELD(cdma, CDMA_D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE));
	weights.address = ADDRESS(cdma, CDMA_D_WEIGHT_ADDR_HIGH, CDMA_D_WEIGHT_ADDR_LOW);
	weights.bytes = cdma[NVDLA_CDMA_D_WEIGHT_BYTES] & wholeEntries;
	weights.compressed = FLAG(cdma, CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT);
	weights.maskAddress = ADDRESS(cdma, CDMA_D_WMB_ADDR_HIGH, CDMA_D_WMB_ADDR_LOW);
	weights.maskBytes = cdma[NVDLA_CDMA_D_WMB_BYTES] & wholeEntries;
	weights.groupSizeAddress = ADDRESS(cdma, CDMA_D_WGS_ADDR_HIGH, CDMA_D_WGS_ADDR_LOW);
	return weights;
}

Windows decodeWindows(const RegisterView &csc)
{
	Windows windows;

	windows.data = { COUNT(csc, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT),
			 COUNT(csc, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT),
			 COUNT(csc, CSC_D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT) };
	windows.kernel = { COUNT(csc, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT),
			   COUNT(csc, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT),
			   COUNT(csc, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) };
	windows.kernels = COUNT(csc, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL);
	windows.out = { COUNT(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH),
			COUNT(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT),
			COUNT(csc, CSC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL) };
	windows.strideX = COUNT(csc, CSC_D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT);
	windows.strideY = COUNT(csc, CSC_D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT);
	windows.dilationX = COUNT(csc, CSC_D_DILATION_EXT, X_DILATION_EXT);
	windows.dilationY = COUNT(csc, CSC_D_DILATION_EXT, Y_DILATION_EXT);
	windows.padLeft = FIELD(csc, CSC_D_ZERO_PADDING, PAD_LEFT);
	windows.padTop = FIELD(csc, CSC_D_ZERO_PADDING, PAD_TOP);
	windows.padValue = static_cast<int16_t>(FIELD(csc, CSC_D_ZERO_PADDING_VALUE, PAD_VALUE));
	windows.rowsPerBlock = 1U << FIELD(csc, CSC_D_POST_Y_EXTENSION, Y_EXTENSION);
	windows.preTruncate = FIELD(csc, CSC_D_PRA_CFG, PRA_TRUNCATE);
	windows.entries = csc.field(NVDLA_CSC_D_ENTRY_PER_SLICE, kEntries) + 1;
	windows.releasedSlices = COUNT(csc, CSC_D_RELEASE, RLS_SLICES);
	return windows;
}

/** \return the registers in which the units contradict each other; empty if there are none */
std::string_view disagreement(const ConvViews &views, const ConvOp &op)
{
	const auto &[cdma, csc, cmacA, cmacB, cacc] = views;
	const uint32_t mode = FIELD(csc, CSC_D_MISC_CFG, CONV_MODE);
	const uint32_t precision = FIELD(csc, CSC_D_MISC_CFG, PROC_PRECISION);

	if (FIELD(cdma, CDMA_D_MISC_CFG, CONV_MODE) != mode ||
	    FIELD(cmacA, CMAC_A_D_MISC_CFG, CONV_MODE) != mode ||
	    FIELD(cmacB, CMAC_B_D_MISC_CFG, CONV_MODE) != mode ||
	    FIELD(cacc, CACC_D_MISC_CFG, CONV_MODE) != mode)
		return "D_MISC_CFG.CONV_MODE differs between the units";
	if (FIELD(cdma, CDMA_D_MISC_CFG, PROC_PRECISION) != precision ||
	    FIELD(cmacA, CMAC_A_D_MISC_CFG, PROC_PRECISION) != precision ||
	    FIELD(cmacB, CMAC_B_D_MISC_CFG, PROC_PRECISION) != precision ||
	    FIELD(cacc, CACC_D_MISC_CFG, PROC_PRECISION) != precision)
		return "D_MISC_CFG.PROC_PRECISION differs between the units";
	if (FIELD(cdma, CDMA_D_DATAIN_FORMAT, DATAIN_FORMAT) !=
	    FIELD(csc, CSC_D_DATAIN_FORMAT, DATAIN_FORMAT))
		return "D_DATAIN_FORMAT differs between CDMA and CSC";
	if (COUNT(cdma, CDMA_D_BATCH_NUMBER, BATCHES) != op.batches ||
	    COUNT(cacc, CACC_D_BATCH_NUMBER, BATCHES) != op.batches)
		return "D_BATCH_NUMBER differs between the units";
	if (cdma.field(NVDLA_CDMA_D_BANK, kDataBank) + 1 != op.dataBanks ||
	    cdma.field(NVDLA_CDMA_D_BANK, kWeightBank) + 1 != op.weightBanks)
		return "D_BANK differs between CDMA and CSC";
	if (FLAG(csc, CSC_D_WEIGHT_FORMAT, WEIGHT_FORMAT) != op.weights.compressed)
		return "D_WEIGHT_FORMAT differs between CDMA and CSC";
	if (COUNT(cdma, CDMA_D_WEIGHT_SIZE_1, WEIGHT_KERNEL) != op.windows.kernels)
		return "WEIGHT_KERNEL differs between CDMA and CSC";

	const CubeSize out = { COUNT(cacc, CACC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH),
			       COUNT(cacc, CACC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT),
			       COUNT(cacc, CACC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL) };
	if (out != op.windows.out)
		return "D_DATAOUT_SIZE differs between CSC and CACC";
	return {};
}

std::string_view illegalImage(const ConvOp &op)
{
	const PixelFormat *format = pixelFormat(op.pixel.format);

	if (!format)
		return "CDMA D_DATAIN_FORMAT.PIXEL_FORMAT is none of the formats";
	if (format->channels != op.windows.data.channels)
		return "CSC D_DATAIN_SIZE_EXT_1 is not the pixel format's number of channels";
	if (format->kind == PixelKind::Fp16 && op.precision != Precision::Fp16)
		return "a floating-point pixel format needs PROC_PRECISION FP16";
	if (op.batches != 1)
		return "D_BATCH_NUMBER is not 0 for image input";
	if (op.windows.kernel.width != 1)
		return "CSC D_WEIGHT_SIZE_EXT_0.WEIGHT_WIDTH_EXT is not 0 for image input";
	if (op.windows.dilationX != 1 || op.windows.dilationY != 1)
		return "CSC D_DILATION_EXT is not 0 for image input";
	if (op.windows.rowsPerBlock > 4)
		return "CSC D_POST_Y_EXTENSION is reserved";
	if (op.windows.rowsPerBlock * op.windows.kernel.channels > op.geometry->macChannels &&
	    op.windows.rowsPerBlock != 1)
		return "CSC D_POST_Y_EXTENSION: the rows do not fit one MAC step";
	return {};
}

std::string_view illegalWinograd(const ConvOp &op)
{
	const Windows &windows = op.windows;

	if (op.batches != 1)
		return "D_BATCH_NUMBER is not 0 in Winograd mode";
	if (windows.kernel.width != 4 || windows.kernel.height != 4)
		return "CSC D_WEIGHT_SIZE_EXT_0 is not 4x4 in Winograd mode";
	if (windows.kernel.channels != windows.data.channels)
		return "CSC channels of data and weights differ in Winograd mode";
	if (windows.data.width % 4 || windows.data.height % 4 || windows.data.width < 8 ||
	    windows.data.height < 8)
		return "CSC D_DATAIN_SIZE_EXT_0 is not a multiple of 4 above 4 in Winograd mode";
	if (windows.out.width != windows.data.width - 4 ||
	    windows.out.height != windows.data.height - 4)
		return "CSC D_DATAOUT_SIZE_0 is not the input less 4 in Winograd mode";
	return {};
}

/** \return the capability that the core lacks for the operation; empty if there is none */
std::string_view lacking(const ConvOp &op)
{
	const Geometry &geometry = *op.geometry;

	if (!geometry.has(op.precision) || !geometry.has(op.inPrecision))
		return "D_MISC_CFG: the core has INT8 only";
	if (op.mode == ConvMode::Winograd && !geometry.hasWinograd)
		return "D_MISC_CFG.CONV_MODE: the core has no Winograd mode";
	if (op.weights.compressed && !geometry.hasCompressedWeights)
		return "D_WEIGHT_FORMAT: the core has no compressed weights";
	if (op.batches > geometry.mostBatches)
		return "D_BATCH_NUMBER: the core has no batches";
	return {};
}

/** \return the rule of the programming guide that the operation breaks; empty if there is none */
std::string_view illegal(const ConvOp &op)
{
	const Windows &windows = op.windows;

	if (op.precision > Precision::Fp16)
		return "D_MISC_CFG.PROC_PRECISION is reserved";
	if (op.inPrecision > Precision::Fp16)
		return "CDMA D_MISC_CFG.IN_PRECISION is reserved";
	if (const std::string_view missing = lacking(op); !missing.empty())
		return missing;
	if (op.dataBanks + op.weightBanks > op.geometry->banks - op.weights.compressed)
		return "D_BANK: data and weight banks overlap";
	if (op.surfaces() != (windows.kernels + op.groupKernels() - 1) / op.groupKernels())
		return "CSC WEIGHT_KERNEL does not fit DATAOUT_CHANNEL";
	if (op.mode != ConvMode::Image && op.inPrecision != op.precision)
		return "CDMA D_MISC_CFG: feature input cannot be converted";
	if (op.mode == ConvMode::Image)
		return illegalImage(op);
	if (op.mode == ConvMode::Winograd)
		return illegalWinograd(op);
	if (windows.kernel.channels != windows.data.channels)
		return "CSC channels of data and weights differ";
	return {};
}

} /* namespace */

uint32_t ConvOp::entriesOf(uint32_t columns) const
{
	return entriesPerSlice(mode, precision, columns, windows.data.channels, *geometry);
}

uint32_t ConvOp::fetchedEntries() const
{
	return fetch.entries ? fetch.entries : bufferedEntries();
}

uint32_t ConvOp::bufferedEntries() const
{
	return windows.entries ? windows.entries : entriesOf(bufferedColumns());
}

ConvOp decodeConv(const ConvViews &views, const Geometry &geometry)
{
	const RegisterView &cdma = views.cdma;
	const RegisterView &csc = views.csc;
	ConvOp op;

	op.geometry = &geometry;
	if (FLAG(csc, CSC_D_MISC_CFG, CONV_MODE))
		op.mode = ConvMode::Winograd;
	else if (FLAG(csc, CSC_D_DATAIN_FORMAT, DATAIN_FORMAT))
		op.mode = ConvMode::Image;
	op.inPrecision = static_cast<Precision>(FIELD(cdma, CDMA_D_MISC_CFG, IN_PRECISION));
	op.precision = static_cast<Precision>(FIELD(csc, CSC_D_MISC_CFG, PROC_PRECISION));
	op.batches = COUNT(csc, CSC_D_BATCH_NUMBER, BATCHES);
	op.dataBanks = csc.field(NVDLA_CSC_D_BANK, kDataBank) + 1;
	op.weightBanks = csc.field(NVDLA_CSC_D_BANK, kWeightBank) + 1;
	op.reuseData = FLAG(cdma, CDMA_D_MISC_CFG, DATA_REUSE);
	op.reuseWeights = FLAG(cdma, CDMA_D_MISC_CFG, WEIGHT_REUSE);
	op.keepData = FLAG(csc, CSC_D_MISC_CFG, SKIP_DATA_RLS);
	op.keepWeights = FLAG(csc, CSC_D_MISC_CFG, SKIP_WEIGHT_RLS);
	op.fetch = decodeFetch(cdma, geometry);
	op.pixel = decodePixel(cdma);
	op.weights = decodeWeights(cdma, geometry);
	op.windows = decodeWindows(csc);
	op.clipTruncate = FIELD(views.cacc, CACC_D_CLIP_CFG, CLIP_TRUNCATE);

	op.guestError = disagreement(views, op);
	if (op.guestError.empty())
		op.guestError = illegal(op);
	return op;
}

} /* namespace nvdla::sim */

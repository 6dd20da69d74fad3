/* SPDX-License-Identifier: MIT */
/*
 * One operation of the convolution pipeline as plain values.
 */
#pragma once

#include <cstdint>
#include <string>

#include "core/geometry.h"
#include "core/memory.h"
#include "core/register_view.h"
#include "core/stream.h"

namespace nvdla::sim
{

/** \brief How the pipeline reads its input: CONV_MODE combined with DATAIN_FORMAT */
enum class ConvMode : uint8_t {
	Direct,	  /**< feature cube, direct convolution */
	Image,	  /**< pixels, direct convolution */
	Winograd, /**< feature cube, 3x3 kernels in the Winograd domain */
};

/** \brief Registers of the five units, each of the group from which the unit runs */
struct ConvViews {
	const RegisterView &cdma;
	const RegisterView &csc;
	const RegisterView &cmacA;
	const RegisterView &cmacB;
	const RegisterView &cacc;
};

/** \brief Width, height and channels of a cube; each at least 1 */
struct CubeSize {
	uint32_t width = 1;
	uint32_t height = 1;
	uint32_t channels = 1;

	uint64_t elements() const { return uint64_t{ width } * height * channels; }
	bool operator==(const CubeSize &) const = default;
};

/** \brief CDMA: place of the input cube, and its layout in the buffer */
struct DataFetch {
	RamType ram = RamType::Mc;
	uint64_t address = 0;	/**< of the cube, or of plane 0 of an image */
	uint64_t addressUv = 0; /**< of plane 1 of a semi-planar image */
	uint32_t lineStride = 0;
	uint32_t lineStrideUv = 0;
	uint32_t surfaceStride = 0;
	uint32_t batchStride = 0;
	bool packed = false; /**< no gaps between lines or surfaces */
	CubeSize size;	     /**< size of one cube of the batch, in memory */

	uint32_t padLeft = 0; /**< columns and lines of padding that CDMA adds */
	uint32_t padRight = 0;
	uint32_t padTop = 0;
	uint32_t padBottom = 0;
	int16_t padValue = 0;

	uint32_t strideX = 1; /**< Winograd: CDMA turns strides into channels */
	uint32_t strideY = 1;
	uint32_t entries = 0; /**< buffer entries of a line; 0: computed */
	bool flushNan = false;
};

/** \brief CDMA: pixel format and input converter, (x - mean) * scale >> truncate */
struct PixelInput {
	uint8_t format = 0;    /**< PIXEL_FORMAT */
	uint32_t xOffset = 0;  /**< pixels from the aligned address to the first pixel */
	bool isSigned = false; /**< PIXEL_SIGN_OVERRIDE */
	bool convert = false;
	int16_t mean[4] = {}; /**< subtracted from R/Y, G/U, B/V, A/X */
	int16_t scale = 1;
	uint8_t truncate = 0;
};

/** \brief CDMA: place of the weights */
struct WeightFetch {
	RamType ram = RamType::Mc;
	uint64_t address = 0;
	uint32_t bytes = 0; /**< bytes of the packed weights, whole buffer entries */
	bool compressed = false;
	uint64_t maskAddress = 0; /**< WMB, a bit for each weight: nonzero or not */
	uint32_t maskBytes = 0;
	uint64_t groupSizeAddress = 0; /**< WGS, the bytes of each group */
};

/** \brief CSC: windows over the buffered cube */
struct Windows {
	CubeSize data;	 /**< size of a buffered cube, after channel extension */
	CubeSize kernel; /**< size of a kernel, after channel extension */
	uint32_t kernels = 1;
	CubeSize out;
	uint32_t strideX = 1;
	uint32_t strideY = 1;
	uint32_t dilationX = 1;
	uint32_t dilationY = 1;
	uint32_t padLeft = 0;
	uint32_t padTop = 0;
	int16_t padValue = 0;
	uint32_t rowsPerBlock = 1;   /**< image: kernel rows in one MAC step */
	uint32_t preTruncate = 0;    /**< Winograd: PRA_TRUNCATE, right shift of transformed data */
	uint32_t entries = 0;	     /**< buffer entries of a line; 0: computed */
	uint32_t releasedSlices = 1; /**< lines released at the end of the operation */
};

/**
 * \brief One operation of the convolution pipeline
 *
 * Sizes are counts, not counts minus one as in registers; strides and addresses are in
 * bytes. If the hardware does not define the operation, \a guestError has the reason, and the
 * engine does not run it.
 */
struct ConvOp {
	const Geometry *geometry = &nvFull; /**< the core's configuration */
	ConvMode mode = ConvMode::Direct;
	Precision inPrecision = Precision::Int8; /**< type of samples that CDMA reads */
	Precision precision = Precision::Int8;	 /**< type of MAC operands and weights */
	uint32_t batches = 1;
	uint32_t dataBanks = 1;
	uint32_t weightBanks = 1;
	bool reuseData = false;
	bool reuseWeights = false;
	bool keepData = false;	  /**< SKIP_DATA_RLS */
	bool keepWeights = false; /**< SKIP_WEIGHT_RLS */

	DataFetch fetch;
	PixelInput pixel;
	WeightFetch weights;
	Windows windows;
	uint32_t clipTruncate = 0; /**< CACC: bits that are cut from an integer accumulator */

	std::string guestError;

	/** \return kernels that share one pass over the cube: the channels of a surface */
	uint32_t groupKernels() const { return geometry->atomChannels(precision); }
	/** \return bytes of an atom in memory */
	uint32_t atom() const { return geometry->atomBytes; }
	/** \return entries that a line of \a columns takes */
	uint32_t entriesOf(uint32_t columns) const;
	/** \return surfaces of the output cube */
	uint32_t surfaces() const
	{
		return (windows.out.channels + groupKernels() - 1) / groupKernels();
	}
	/** \return columns of a line in the buffer; those of an image include the padding */
	uint32_t bufferedColumns() const
	{
		return windows.data.width +
		       (mode == ConvMode::Image ? fetch.padLeft + fetch.padRight : 0);
	}
	/** \return entries that CDMA's pointer advances for a line */
	uint32_t fetchedEntries() const;
	/** \return entries that CSC's pointer advances for a line */
	uint32_t bufferedEntries() const;
};

/** \return an element of padding: PAD_VALUE, its low byte in INT8 */
constexpr int16_t padElement(Precision precision, int16_t value)
{
	return precision == Precision::Int8 ? static_cast<int8_t>(value) : value;
}

/**
 * \brief Read an operation from the registers
 *
 * Never fails. Registers of the units that contradict each other, and values that the programming
 * guide ("Limitation") forbids, are described in ConvOp::guestError.
 */
ConvOp decodeConv(const ConvViews &views, const Geometry &geometry = nvFull);

} /* namespace nvdla::sim */

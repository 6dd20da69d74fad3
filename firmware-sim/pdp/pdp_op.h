/* SPDX-License-Identifier: MIT */
/* PDP: an operation, and its decoding from the registers. */
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cube.h"
#include "core/geometry.h"
#include "core/memory.h"
#include "core/register_view.h"
#include "core/stream.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Reduction of a window; values as in D_OPERATION_MODE_CFG.POOLING_METHOD */
enum class PoolingMethod : uint8_t {
	Average = 0,
	Max = 1,
	Min = 2,
};

/** \brief Widths of the parts of a split operation, in columns */
struct PdpPartWidths {
	uint32_t first = 1; /**< 1..1024 */
	uint32_t mid = 1;   /**< 1..1024, of each part between the first and the last */
	uint32_t last = 1;  /**< 1..1024 */
};

/**
 * \brief Columns that are pooled together, from the first line to the last
 *
 * An operation without split is one part. In a split, each further part begins kernel - stride
 * input columns before the end of the previous part, to share them (if the stride is larger:
 * stride - kernel columns after that end).
 */
struct PdpPart {
	int64_t inX;	   /**< first input column; negative only where the programming is wrong */
	uint32_t inWidth;  /**< 0 only where the programming is wrong */
	uint32_t outX;	   /**< first output column */
	uint32_t outWidth; /**< at least 1 */
	uint32_t padLeft;
	uint32_t padRight;
};

/** \brief A whole operation */
struct PdpOp {
	const Geometry *geometry = &nvFull; /**< the core's configuration */
	Precision precision = Precision::Int8;
	PoolingMethod method = PoolingMethod::Average;
	bool flying = false;	/**< input from SDP, else from memory */
	bool nanToZero = false; /**< NaNs read from memory become 0; not for input from SDP */

	uint32_t inWidth = 1;	/**< 1..8192 */
	uint32_t inHeight = 1;	/**< 1..8192 */
	uint32_t channels = 1;	/**< 1..8192 */
	uint32_t outWidth = 1;	/**< 1..8192 */
	uint32_t outHeight = 1; /**< 1..8192 */

	uint32_t kernelWidth = 1;  /**< 1..8 */
	uint32_t kernelHeight = 1; /**< 1..8 */
	uint32_t strideX = 1;	   /**< 1..16 */
	uint32_t strideY = 1;	   /**< 1..16 */
	uint32_t padLeft = 0;	   /**< 0..7 */
	uint32_t padTop = 0;	   /**< 0..7 */
	uint32_t padRight = 0;	   /**< 0..7 */
	uint32_t padBottom = 0;	   /**< 0..7 */

	/**
	 * Sum that n padded elements of one row add to an average; as a signed integer of 19 bits
	 * (INT8, INT16) or as FP17 bits (FP16)
	 */
	std::array<int32_t, 8> padValue = {};
	/** Average: 1 / kernel width and height; in units of 2^-16, or FP17 bits for FP16 */
	uint32_t recipWidth = 0;
	uint32_t recipHeight = 0;

	uint32_t parts = 1; /**< 1..256 parts of the width; 1: no split */
	PdpPartWidths partIn;
	PdpPartWidths partOut;

	FeatureCube source; /**< ignored when flying */
	FeatureCube destination;

	/** Mistake in the programming; empty if there is none. The operation runs nevertheless. */
	std::string guestError;

	/** \return bytes of an atom in memory */
	uint32_t atom() const { return geometry->atomBytes; }
	uint32_t lanes() const { return geometry->atomChannels(precision); }
	uint32_t surfaces() const { return geometry->surfaces(precision, channels); }
};

/**
 * \brief Decode one operation
 *
 * Any register values decode. Violations of the programming guide (section PDP, "Limitation")
 * are described in PdpOp::guestError.
 *
 * \param pdp registers of PDP
 * \param rdma registers of PDP_RDMA; ignored if the input comes from SDP
 */
PdpOp decodePdp(const RegisterView &pdp, const RegisterView &rdma,
		const Geometry &geometry = nvFull);

/** \return the parts from left to right, one if \a op is not split */
std::vector<PdpPart> pdpParts(const PdpOp &op);

/**
 * \return the widest part for which the line buffer has room, in output columns
 *
 * The buffer has 128 atoms. They are shared by the output lines whose windows contain the same
 * input line; the number of these lines counts rounded up to a power of two.
 */
uint32_t pdpMaxOutWidth(uint32_t kernelHeight, uint32_t strideY);

/** \return the work of an operation for the timing model, with the bytes that PDP moves */
PdpWork pdpWork(const PdpOp &op);

} /* namespace nvdla::sim */

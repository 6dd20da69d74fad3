/* SPDX-License-Identifier: MIT */
/*
 * RUBIK: reshaping of cubes.
 */
#pragma once

#include <cstdint>
#include <string>

#include "core/memory.h"
#include "core/operation.h"
#include "core/register_view.h"
#include "core/stream.h"

namespace nvdla::sim
{

/** \brief Mode of RUBIK; values as in D_MISC_CFG.RUBIK_MODE */
enum class RubikMode : uint8_t {
	Contract = 0, /**< moves groups of channels to pixels: the last step of a deconvolution */
	Split = 1,    /**< feature cube to planes */
	Merge = 2,    /**< planes to feature cube */
};

/** \brief One RUBIK operation; sizes in elements, strides in bytes */
struct RubikOp {
	RubikMode mode;
	Precision precision;
	RamType srcType;
	RamType dstType;
	uint32_t width;	      /**< width of the input */
	uint32_t height;      /**< height of the input */
	uint32_t channels;    /**< channels of the input; merge: planes of the input */
	uint32_t outChannels; /**< contract: channels of the output; split: planes */
	uint64_t src;
	uint64_t dst;
	uint32_t srcLineStride;
	uint32_t srcSurfaceStride;
	uint32_t srcPlaneStride;
	uint32_t dstLineStride;
	uint32_t dstSurfaceStride;
	uint32_t dstPlaneStride;
	uint32_t groupStride;	/**< contract: bytes between groups of input surfaces */
	uint32_t blockStride;	/**< contract: bytes between the outputs of two input lines */
	uint32_t strideX;	/**< contract: output columns per input column */
	uint32_t strideY;	/**< contract: output lines per input line */
	std::string guestError; /**< not empty: the operation is undefined and hangs */
};

/** \param rubik registers of the group that the operation runs from */
RubikOp decodeRubik(const RegisterView &rubik);

/** \return the operation's work, for the timing model */
MoveWork rubikWork(const RubikOp &op);

OperationResult run(const RubikOp &op, MemoryPort &port);

} /* namespace nvdla::sim */

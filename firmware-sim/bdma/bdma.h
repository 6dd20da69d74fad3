/* SPDX-License-Identifier: MIT */
/*
 * BDMA: one operation, a copy of a cube between the two memories.
 */
#pragma once

#include <cstdint>

#include "core/memory.h"
#include "core/operation.h"
#include "core/register_view.h"

namespace nvdla::sim
{

/** \brief Relation of an operation to the previous operation of its group, for the timing */
enum class BdmaBefore : uint8_t {
	Nothing,     /**< the first operation of its group */
	SameSource,  /**< reads continue while the previous operation still writes */
	OtherSource, /**< reads wait until all reads from the other memory are done */
};

/**
 * \brief One BDMA operation
 *
 * Copies a cube of surfaces; a surface is a number of lines, a line a run of bytes. Strides are in
 * bytes. Addresses wrap at 64 bits.
 */
struct BdmaOp {
	RamType srcType;
	RamType dstType;
	uint64_t src;
	uint64_t dst;
	uint32_t lineBytes; /**< 32 bytes to 256 KiB, a multiple of 32 */
	uint32_t lines;	    /**< lines per surface, 1 to 2^24 */
	uint32_t surfaces;  /**< 1 to 2^24 */
	uint32_t srcLineStride;
	uint32_t dstLineStride;
	uint32_t srcSurfaceStride;
	uint32_t dstSurfaceStride;
	BdmaBefore before = BdmaBefore::Nothing;

	/** \brief Set the relation to \a other, the previous operation of the group */
	void follow(const BdmaOp &other)
	{
		before =
			other.srcType == srcType ? BdmaBefore::SameSource : BdmaBefore::OtherSource;
	}
};

/** \param bdma BDMA's registers at the write to CFG_OP.EN */
BdmaOp decodeBdma(const RegisterView &bdma);

/** \return the operation's work, for the timing model */
MoveWork bdmaWork(const BdmaOp &op);

OperationResult run(const BdmaOp &op, MemoryPort &port);

} /* namespace nvdla::sim */

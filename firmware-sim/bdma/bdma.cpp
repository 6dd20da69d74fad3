/* SPDX-License-Identifier: MIT */
#include "bdma/bdma.h"

#include <vector>

#include <nvdla/hw/registers.h>

#include "core/fields.h"

namespace nvdla::sim
{

namespace
{

constexpr uint32_t lineUnit = 32; /* unit of CFG_LINE.SIZE, in bytes */

RamType ramType(const RegisterView &bdma, uint32_t mask)
{
	return static_cast<RamType>(bdma.field(NVDLA_BDMA_CFG_CMD, mask));
}

/*
 * Core cycles, fitted to the reference vectors: the pipeline's latency once for each group, most of
 * this latency again for each change of the source memory, 3 cycles for each 2 lines, and 11 cycles
 * for each 8 written words of 64 bytes.
 */
uint64_t duration(const BdmaOp &op)
{
	const uint64_t lines = uint64_t{ op.lines } * op.surfaces;
	const uint64_t words = wordsOfLines(64, op.dst, op.lineBytes, op.lines, op.dstLineStride,
					    op.surfaces, op.dstSurfaceStride);
	const CoreTiming::Move &core = nvFullTiming.move;
	const uint64_t start = op.before == BdmaBefore::Nothing	      ? core.bdmaStart
			       : op.before == BdmaBefore::OtherSource ? core.bdmaOtherSource
								      : 0;

	return start + (12 * lines + 11 * words + 7) / 8;
}

} /* namespace */

BdmaOp decodeBdma(const RegisterView &bdma)
{
	BdmaOp op;
	op.srcType = ramType(bdma, NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE);
	op.dstType = ramType(bdma, NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
	op.src = bdma.address64(NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_SRC_ADDR_LOW);
	op.dst = bdma.address64(NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW);
	op.lineBytes = COUNT(bdma, BDMA_CFG_LINE, SIZE) * lineUnit;
	op.lines = COUNT(bdma, BDMA_CFG_LINE_REPEAT, NUMBER);
	op.surfaces = COUNT(bdma, BDMA_CFG_SURF_REPEAT, NUMBER);
	op.srcLineStride = bdma[NVDLA_BDMA_CFG_SRC_LINE];
	op.dstLineStride = bdma[NVDLA_BDMA_CFG_DST_LINE];
	op.srcSurfaceStride = bdma[NVDLA_BDMA_CFG_SRC_SURF];
	op.dstSurfaceStride = bdma[NVDLA_BDMA_CFG_DST_SURF];
	return op;
}

MoveWork bdmaWork(const BdmaOp &op)
{
	const uint64_t bytes = uint64_t{ op.lineBytes } * op.lines * op.surfaces;
	MoveWork work = { .cycles = duration(op), .bdma = true };

	work.traffic.of(op.srcType).readBytes += bytes;
	work.traffic.of(op.dstType).writeBytes += bytes;
	return work;
}

OperationResult run(const BdmaOp &op, MemoryPort &port)
{
	std::vector<std::byte> line;
	for (uint64_t surface = 0; surface < op.surfaces; surface++) {
		uint64_t src = op.src + surface * op.srcSurfaceStride;
		uint64_t dst = op.dst + surface * op.dstSurfaceStride;
		for (uint32_t y = 0; y < op.lines; y++) {
			if (port.cancelled())
				return {};
			port.write(op.dstType, dst, port.view(op.srcType, src, op.lineBytes, line));
			src += op.srcLineStride;
			dst += op.dstLineStride;
		}
	}
	OperationResult result;
	result.work.move = bdmaWork(op);
	return result;
}

} /* namespace nvdla::sim */

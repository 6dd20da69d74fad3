/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_op.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

uint64_t positions(const SdpOp &op)
{
	return uint64_t{ op.width } * op.height;
}

void addOperands(const SdpOp &op, const SdpStage &stage, uint64_t &bytes, MemoryTraffic &traffic)
{
	if (!stage.readsOperands())
		return;
	const uint64_t atoms =
		op.surfaces() * (stage.read.perElement ? positions(op) * op.batches : 1);
	bytes = atoms * op.lanes() * stage.read.elementBytes();
	traffic.of(stage.read.cube.ram).readBytes += bytes;
}

/* Number of atoms with two operands for each element. Per-channel operands are read only once. */
uint64_t pairedAtoms(const SdpOp &op, const SdpStage &stage)
{
	return stage.readsOperands() && stage.read.perElement && stage.read.alu && stage.read.mul
		       ? op.surfaces() * positions(op) * op.batches
		       : 0;
}

/* An INT16 source has each surface for INT8 processing in two surfaces. */
void addSource(const SdpOp &op, MemoryTraffic &traffic)
{
	const uint64_t parts = op.sourceParts();

	if (!op.flying)
		traffic.of(op.source.ram).readBytes +=
			op.surfaces() * parts * positions(op) * op.atom();
}

void addDestination(const SdpOp &op, SdpWork &work)
{
	const uint64_t surfaces = op.surfaces() * uint64_t{ op.outParts() };
	const FeatureCube &cube = op.destination;

	if (op.toPdp || op.compares())
		return;
	work.traffic.of(cube.ram).writeBytes += surfaces * positions(op) * op.batches * op.atom();
	/* The write DMA treats a cube of one position as one line of atoms. */
	if (positions(op) == 1) {
		work.writeWords = surfaces * op.batches;
		return;
	}
	work.writeLines = surfaces * op.height * op.batches;
	work.writeWords = op.batches * wordsOfLines(work.core->sdp.writeBytes, cube.address,
						    uint64_t{ op.width } * op.atom(), op.height,
						    cube.lineStride, surfaces, cube.surfaceStride);
}

} /* namespace */

SdpWork sdpWork(const SdpOp &op)
{
	SdpWork work = { .core = op.geometry->timing };

	work.flying = op.flying;
	work.y = !op.y.bypass;
	work.stages = work.y || !op.x1.bypass || !op.x2.bypass;
	work.lut = work.y && !op.y.lutBypass;
	work.elements = op.surfaces() * positions(op) * op.batches * op.lanes();
	addSource(op, work.traffic);
	addOperands(op, op.x1, work.operandBytes[0], work.traffic);
	addOperands(op, op.x2, work.operandBytes[1], work.traffic);
	addOperands(op, op.y, work.operandBytes[2], work.traffic);
	for (const SdpStage *stage : { &op.x1, &op.x2 })
		work.pairedAtoms += pairedAtoms(op, *stage);
	work.writes = !op.compares();
	addDestination(op, work);
	return work;
}

} /* namespace nvdla::sim */

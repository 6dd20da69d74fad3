/* SPDX-License-Identifier: MIT */
/*
 * Outputs of one position, as of a fully connected layer: what is around a run takes longer than
 * the stages of its only atom, so that the surfaces are worked on together.
 */
#include <algorithm>

#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/** \return the operands of a surface lie behind those of the one before, as those of kernels do */
bool areBehindEachOther(const SdpOp &op, const SdpStage &stage)
{
	const SdpOperandRead &read = stage.read;

	return (!stage.readsAlu() && !stage.readsMul()) || !read.perElement ||
	       read.cube.surfaceStride == op.lanes() * read.elementBytes();
}

} /* namespace */

/* FP16 has ways of its own for operands of kernels. */
bool SdpStream::isOnePosition(const SdpOp &op)
{
	return op.flying && !op.toPdp && op.width == 1 && op.height == 1 && op.batches == 1 &&
	       op.proc != Precision::Fp16 && op.out == op.proc && op.surfaces() > 1 &&
	       op.destination.surfaceStride == op.atom() && areBehindEachOther(op, op.x1) &&
	       areBehindEachOther(op, op.x2) && areBehindEachOther(op, op.y);
}

/* What is a kernel's becomes an element's: each of them has one. */
SdpOp SdpStream::withOneLine(const SdpOp &op)
{
	SdpOp line = op;

	if (!isOnePosition(op))
		return line;
	line.width = op.surfaces();
	line.channels = op.lanes();
	for (SdpStage *stage : { &line.x1, &line.x2, &line.y })
		stage->read.perElement = true;
	return line;
}

/* Until there are enough of them, or there is one that is not behind the last one. */
void SdpStream::collect(const StreamRun &run)
{
	const uint32_t end = collected_.x + collected_.width;

	if (collected_.width == 0 || collected_.width == kMostAtoms || run.surface != end) {
		processCollected();
		collected_.x = run.surface;
		collected_.largest = 0;
	}
	collectedSums_.insert(collectedSums_.end(), run.data.begin(), run.data.end());
	collected_.largest = std::max(collected_.largest, run.largest);
	collected_.width++;
}

void SdpStream::processCollected()
{
	collected_.data = collectedSums_;
	process(collected_, collected_.width);
	collectedSums_.clear();
	collected_.width = 0;
}

} /* namespace nvdla::sim */

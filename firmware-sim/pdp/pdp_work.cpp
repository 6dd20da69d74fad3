/* SPDX-License-Identifier: MIT */
#include "pdp/pdp_op.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

/* Output lines that remain after the last input line: all that need this line, except one. */
uint64_t linesLeft(const PdpOp &op)
{
	uint64_t left = 0;

	for (uint64_t y = 0; y < op.outHeight; y++)
		left += y * op.strideY + op.kernelHeight >= uint64_t{ op.inHeight } + op.padTop;
	return left ? left - 1 : 0;
}

} /* namespace */

PdpWork pdpWork(const PdpOp &op)
{
	const CoreTiming::Pdp &core = op.geometry->timing->pdp;
	PdpWork work = { .core = op.geometry->timing, .flying = op.flying };

	for (const PdpPart &part : pdpParts(op)) {
		const uint64_t width = std::max(part.inWidth, part.outWidth);
		work.inCycles += op.surfaces() * op.inHeight *
				 std::max(core.atom * width, core.shortestLine);
		work.outCycles += op.surfaces() * linesLeft(op) * core.atom * part.outWidth;
		if (!op.flying)
			work.traffic.of(op.source.ram).readBytes +=
				uint64_t{ op.atom() } * op.surfaces() * op.inHeight * part.inWidth;
		work.traffic.of(op.destination.ram).writeBytes +=
			uint64_t{ op.atom() } * op.surfaces() * op.outHeight * part.outWidth;
	}
	return work;
}

} /* namespace nvdla::sim */

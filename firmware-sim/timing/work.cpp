/* SPDX-License-Identifier: MIT */
#include "timing/work.h"

namespace nvdla::sim
{

namespace
{

uint64_t words(uint32_t word, uint64_t address, uint64_t bytes)
{
	return (address % word + bytes + word - 1) / word;
}

} /* namespace */

MemoryTraffic OperationWork::traffic() const
{
	MemoryTraffic all;

	if (conv) {
		all.of(conv->dataRam).readBytes += conv->dataBytes - conv->ahead.dataBytes;
		all.of(conv->weightRam).readBytes += conv->weightBytes - conv->ahead.weightBytes;
	}
	if (sdp)
		all += sdp->traffic;
	if (pdp)
		all += pdp->traffic;
	if (cdp)
		all += cdp->traffic;
	if (move)
		all += move->traffic;
	return all;
}

const CoreTiming &OperationWork::core() const
{
	return conv  ? *conv->core
	       : sdp ? *sdp->core
	       : pdp ? *pdp->core
	       : cdp ? *cdp->core
		     : nvFullTiming;
}

void OperationWork::merge(const OperationWork &other)
{
	if (other.conv)
		conv = other.conv;
	if (other.sdp)
		sdp = other.sdp;
	if (other.pdp)
		pdp = other.pdp;
	if (other.cdp)
		cdp = other.cdp;
	if (other.move)
		move = other.move;
}

uint64_t wordsOfLines(uint32_t word, uint64_t address, uint64_t lineBytes, uint64_t lines,
		      uint64_t lineStride, uint64_t surfaces, uint64_t surfaceStride)
{
	uint64_t all = 0;

	for (uint64_t surface = 0; surface < surfaces; surface++) {
		const uint64_t first = address + surface * surfaceStride;
		/* A line begins at a word or in its middle, which can alternate with each line. */
		all += (lines + 1) / 2 * words(word, first, lineBytes) +
		       lines / 2 * words(word, first + lineStride, lineBytes);
	}
	return all;
}

} /* namespace nvdla::sim */

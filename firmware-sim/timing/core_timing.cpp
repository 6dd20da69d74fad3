/* SPDX-License-Identifier: MIT */
#include "timing/core_timing.h"

namespace nvdla::sim
{

namespace
{

constexpr CoreTiming kFull = {
	.portBytes = 64,
	.testBench = { .write = 19, .polls = false },
	.conv = { .fixed = 120,
		  .noFetch = -60,
		  .winogradFixed = 99,
		  .stripe = 16,
		  .groupLoad = 16,
		  .shortestLoad = 10,
		  .shortestWinograd = 16,
		  .oneSurfaceAtom = 0.53,
		  .atom = 0.69,
		  .featureLine = 0.97,
		  .imageLine = 2,
		  .imageByte = 0,
		  .weightShare = 0.73 },
	.sdp = { .fixed = 62,
		 .stage = 12,
		 .flyingStage = 21,
		 .lut = 22,
		 .noWrite = -18,
		 .xElements = 16,
		 .yElements = 4,
		 .flyingElements = 32,
		 .pairedAtom = 0.8,
		 .writeLine = 2,
		 .writeBytes = 64 },
	.pdp = { .fixed = 70, .flyingFixed = 10, .atom = 4, .shortestLine = 7 },
	.cdp = { .fixed = 74,
		 .squares = 11,
		 .fp16 = 14,
		 .fp16Squares = 18,
		 .atom = 4,
		 .position = 0 },
	.move = { .bdmaStart = 43,
		  .bdmaOtherSource = 27,
		  .contract = 60,
		  .split = 51,
		  .merge = 57 },
};

constexpr CoreTiming kSmall = {
	.portBytes = 8,
	.testBench = { .write = 2, .polls = true },
	.conv = { .fixed = 110,
		  .noFetch = -60,
		  .winogradFixed = 0,
		  .stripe = 8,
		  .groupLoad = 8,
		  .shortestLoad = 8,
		  .shortestWinograd = 0,
		  .oneSurfaceAtom = 1,
		  .atom = 1,
		  .featureLine = 1,
		  .imageLine = 1,
		  .imageByte = 0.125,
		  .weightShare = 0.5 },
	.sdp = { .fixed = 90,
		 .stage = 12,
		 .flyingStage = 21,
		 .lut = 0,
		 .noWrite = -18,
		 .xElements = 1,
		 .yElements = 1,
		 .flyingElements = 8.0 / 11,
		 .pairedAtom = 0,
		 .writeLine = 2,
		 .writeBytes = 8 },
	.pdp = { .fixed = 95, .flyingFixed = 10, .atom = 8, .shortestLine = 7 },
	.cdp = { .fixed = 104,
		 .squares = 11,
		 .fp16 = 0,
		 .fp16Squares = 0,
		 .atom = 8,
		 .position = 1.2 },
	.move = {},
};

/* Half the memory bandwidth of nv_full; 32 kernels share a pass, as for INT8 in nv_full. */
constexpr CoreTiming large()
{
	CoreTiming timing = kFull;

	timing.portBytes = 32;
	timing.conv.oneSurfaceAtom = timing.conv.atom = 1;
	timing.sdp.writeBytes = 32;
	timing.move = {};
	return timing;
}

/* SDP with two elements a cycle, and with stage Y and its look-up table. */
constexpr CoreTiming small256Full()
{
	CoreTiming timing = kSmall;

	timing.sdp.xElements = 2;
	timing.sdp.lut = kFull.sdp.lut;
	return timing;
}

} /* namespace */

constinit const CoreTiming nvFullTiming = kFull;
constinit const CoreTiming nvLargeTiming = large();
constinit const CoreTiming nvSmallTiming = kSmall;
/* A MAC step has four times the channels of nv_small; all rates are the same. */
constinit const CoreTiming nvSmall256Timing = kSmall;
constinit const CoreTiming nvSmall256FullTiming = small256Full();

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
#include "cdp/cdp_result.h"

#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

CdpWork cdpWork(const CdpOp &op)
{
	CdpWork work = { .core = op.geometry->timing };

	work.positions = uint64_t{ op.height } * op.width;
	work.atoms = work.positions * op.surfaces();
	work.fp16 = op.precision == Precision::Fp16;
	work.squares = !op.squareSumBypass;
	work.traffic.of(op.source.ram).readBytes += work.atoms * op.atom();
	work.traffic.of(op.destination.ram).writeBytes += work.atoms * op.atom();
	return work;
}

OperationResult cdpResult(const CdpOp &op, const CdpCounters &counters)
{
	const LutCounters lut = op.countsLut ? counters.lut : LutCounters{};

	OperationResult result;
	result.updates = {
		/* The RTL does not count special numbers of the input. */
		{ NVDLA_CDP_D_NAN_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_INF_INPUT_NUM, 0 },
		{ NVDLA_CDP_D_NAN_OUTPUT_NUM, counters.nanOutput },
		{ NVDLA_CDP_D_OUT_SATURATION, counters.saturation },
		{ NVDLA_CDP_D_PERF_LUT_UFLOW, lut.underflow },
		{ NVDLA_CDP_D_PERF_LUT_OFLOW, lut.overflow },
		{ NVDLA_CDP_D_PERF_LUT_HYBRID, lut.hybrid },
		{ NVDLA_CDP_D_PERF_LUT_LE_HIT, lut.leHit },
		{ NVDLA_CDP_D_PERF_LUT_LO_HIT, lut.loHit },
	};
	result.work.cdp = cdpWork(op);
	result.guestError = op.guestError;
	return result;
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * What an operation of SDP says at its end.
 */
#include <nvdla/hw/registers.h>

#include "sdp/sdp_stream.h"
#include "sdp/sdp_work.h"

namespace nvdla::sim
{

void SdpStream::reportCounters(OperationResult &result) const
{
	const bool countsLut = op_.countsLut && !op_.y.bypass && !op_.y.lutBypass;
	const LutCounters lut = countsLut ? counters_.lut : LutCounters{};
	/* The flag is in the write path: output to PDP does not raise it. */
	const bool writes = !op_.toPdp || op_.compares();
	const bool countsNan = op_.countsInputNan && op_.in == Precision::Fp16;

	result.updates = {
		{ NVDLA_SDP_D_STATUS, writes && counters_.nonZero },
		{ NVDLA_SDP_D_STATUS_NAN_INPUT_NUM, 0 },
		{ NVDLA_SDP_D_STATUS_INF_INPUT_NUM, 0 },
		{ NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM,
		  op_.countsOutputNan ? counters_.nanOutput : 0 },
		{ NVDLA_SDP_D_PERF_LUT_UFLOW, lut.underflow },
		{ NVDLA_SDP_D_PERF_LUT_OFLOW, lut.overflow },
		{ NVDLA_SDP_D_PERF_LUT_HYBRID, lut.hybrid },
		{ NVDLA_SDP_D_PERF_LUT_LE_HIT, lut.leHit },
		{ NVDLA_SDP_D_PERF_LUT_LO_HIT, lut.loHit },
		{ NVDLA_SDP_D_PERF_OUT_SATURATION,
		  op_.countsSaturation ? counters_.saturation : 0 },
	};
	if (!op_.usesRdma())
		return;
	result.updates.push_back(
		{ NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM, countsNan ? counters_.nanInput : 0 });
	result.updates.push_back(
		{ NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM, countsNan ? counters_.infInput : 0 });
}

OperationResult SdpStream::finish()
{
	OperationResult result;
	const uint64_t expected = uint64_t{ op_.batches } * op_.surfaces() * op_.height * op_.width;

	if (op_.toPdp && !toPdp_ && !op_.compares())
		error("SDP: the output goes to PDP, which does not take it");
	if (atoms_ != expected) {
		error("SDP: the input is not the whole cube");
		result.hangs = true;
	}
	result.hangs |= op_.hangs;
	result.guestError = guestError_;
	reportCounters(result);
	result.work.sdp = sdpWork(op_);
	return result;
}

} /* namespace nvdla::sim */

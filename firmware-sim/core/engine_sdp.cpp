/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

OperationResult runSdpOperation(const OperationInputs &inputs, MemoryPort &port)
{
	const SdpOp op = decodeSdp(inputs[Unit::Sdp], inputs[Unit::SdpRdma]);

	return runSdp(op, inputs.sdpLut, port);
}

} /* namespace nvdla::sim */

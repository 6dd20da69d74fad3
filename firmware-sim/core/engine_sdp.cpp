/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <optional>

#include "pdp/pdp.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

OperationResult runSdpOperation(const OperationInputs &inputs, MemoryPort &port, Workers &workers)
{
	const SdpOp op = decodeSdp(inputs[Unit::Sdp], inputs[Unit::SdpRdma], *inputs.geometry);

	std::optional<PdpStream> pdp;
	if (inputs.has(Unit::Pdp))
		pdp.emplace(decodePdp(inputs[Unit::Pdp], {}, *inputs.geometry), port);

	OperationResult result = runSdp(op, inputs.sdpLut, port, pdp ? &*pdp : nullptr, &workers);
	if (pdp && !result.hangs)
		merge(result, pdp->finish());
	return result;
}

} /* namespace nvdla::sim */

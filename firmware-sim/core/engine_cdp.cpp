/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include "cdp/cdp.h"

namespace nvdla::sim
{

OperationResult runCdpOperation(const OperationInputs &inputs, MemoryPort &port, Workers &workers)
{
	const CdpOp op = decodeCdp(inputs[Unit::Cdp], inputs[Unit::CdpRdma], *inputs.geometry);

	return runCdp(op, inputs.cdpLut, port, &workers);
}

} /* namespace nvdla::sim */

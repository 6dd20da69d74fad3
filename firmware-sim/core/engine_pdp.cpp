/* SPDX-License-Identifier: MIT */
#include "core/engines.h"
#include "pdp/pdp.h"

namespace nvdla::sim
{

OperationResult runPdpOperation(const OperationInputs &inputs, MemoryPort &port, Workers &workers)
{
	return runPdp(decodePdp(inputs[Unit::Pdp], inputs[Unit::PdpRdma], *inputs.geometry), port,
		      &workers);
}

} /* namespace nvdla::sim */

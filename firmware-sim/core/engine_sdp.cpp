/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

namespace nvdla::sim
{

OperationResult runSdpOperation(const OperationInputs &inputs, MemoryPort &port)
{
	return notModelled("SDP");
}

} /* namespace nvdla::sim */

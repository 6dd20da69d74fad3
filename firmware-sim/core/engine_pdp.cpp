/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

namespace nvdla::sim
{

OperationResult runPdpOperation(const OperationInputs &inputs, MemoryPort &port)
{
	return notModelled("PDP");
}

} /* namespace nvdla::sim */

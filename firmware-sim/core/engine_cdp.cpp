/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

namespace nvdla::sim
{

OperationResult runCdpOperation(const OperationInputs &inputs, MemoryPort &port)
{
	return notModelled("CDP");
}

} /* namespace nvdla::sim */

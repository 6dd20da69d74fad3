/* SPDX-License-Identifier: MIT */
#include "core/engines.h"
#include "rubik/rubik.h"

namespace nvdla::sim
{

OperationResult runRubikOperation(const OperationInputs &inputs, MemoryPort &port)
{
	return run(decodeRubik(inputs[Unit::Rbk]), port);
}

} /* namespace nvdla::sim */

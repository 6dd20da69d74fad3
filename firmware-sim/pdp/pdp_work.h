/* SPDX-License-Identifier: MIT */
/*
 * What the timing model is told about an operation of PDP.
 */
#pragma once

#include "pdp/pdp_op.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \return the work of a whole operation, with the bytes that PDP and its read engine move */
PdpWork pdpWork(const PdpOp &op);

} /* namespace nvdla::sim */

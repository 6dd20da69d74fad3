/* SPDX-License-Identifier: MIT */
/* The work of an operation of PDP, for the timing model. */
#pragma once

#include "pdp/pdp_op.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \return the work of a whole operation, with the bytes that PDP and its read engine move */
PdpWork pdpWork(const PdpOp &op);

} /* namespace nvdla::sim */

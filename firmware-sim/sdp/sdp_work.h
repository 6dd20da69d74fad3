/* SPDX-License-Identifier: MIT */
/*
 * What the timing model is told about an operation of SDP.
 */
#pragma once

#include "sdp/sdp_op.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \return the work of a whole operation, with the bytes that SDP and its read engine move */
SdpWork sdpWork(const SdpOp &op);

} /* namespace nvdla::sim */

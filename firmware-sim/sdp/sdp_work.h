/* SPDX-License-Identifier: MIT */
/* The work of an operation of SDP, for the timing model. */
#pragma once

#include "sdp/sdp_op.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \return the work of a whole operation, with the bytes that SDP and its read engine move */
SdpWork sdpWork(const SdpOp &op);

} /* namespace nvdla::sim */

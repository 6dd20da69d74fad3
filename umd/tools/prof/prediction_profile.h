/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/chip/prediction.h"
#include "tools/prof/profile.h"

namespace nvdla::chip
{

/** \return the schedule, and the use of MACs and memories, which timelineSvg() and traceJson() show
 */
prof::Profile predictionProfile(const Prediction &prediction);

} /* namespace nvdla::chip */

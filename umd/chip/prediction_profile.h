/* SPDX-License-Identifier: MIT */
#pragma once

#include "chip/prediction.h"
#include "prof/profile.h"

namespace nvdla::chip
{

/** \return the schedule, and the use of MACs and memories, which timelineSvg() and traceJson() show
 */
prof::Profile predictionProfile(const Prediction &prediction);

} /* namespace nvdla::chip */

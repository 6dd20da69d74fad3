/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/chip/prediction.h"
#include "tools/prof/profile.h"

namespace nvdla::chip
{

/** \return the predicted schedule, and the utilisation of MACs and memories, which timelineSvg()
 * and traceJson() show */
prof::Profile predictionProfile(const Prediction &prediction);

} /* namespace nvdla::chip */

/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/chip/prediction.h"
#include "tools/prof/profile.h"

namespace nvdla::chip
{

/** \return the predicted time of each operation, and the utilisation of MACs and memories over
 * time, for timelineSvg() and traceJson() */
prof::Profile predictionProfile(const Prediction &prediction);

} /* namespace nvdla::chip */

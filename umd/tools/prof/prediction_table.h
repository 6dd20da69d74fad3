/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <string>

#include "graph/chip/prediction.h"
#include "tools/prof/rows.h"

namespace nvdla::chip
{

/** \return a table with a line for each row of the view; predictionSummary() follows */
std::string predictionTable(const Prediction &prediction, const prof::View &view = {});

/** \return a line with the time and the traffic of the whole network; a second line if operations
 * on the CPU are not included */
std::string predictionSummary(const Prediction &prediction);

/** \return a number of bytes in kB (1000 bytes), as "12.3"; "-" for 0 bytes */
std::string kilobytes(uint64_t bytes);

} /* namespace nvdla::chip */

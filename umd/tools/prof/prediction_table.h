/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <string>

#include "graph/chip/prediction.h"
#include "tools/prof/rows.h"

namespace nvdla::chip
{

/** \return a line for each row of the view, and one for the network */
std::string predictionTable(const Prediction &prediction, const prof::View &view = {});

/** \return the line for the network, and one more if there are CPU steps */
std::string predictionSummary(const Prediction &prediction);

/** \return kilobytes as "12.3", or "-" for 0 bytes */
std::string kilobytes(uint64_t bytes);

} /* namespace nvdla::chip */

/* SPDX-License-Identifier: MIT */
/*
 * Integers for the values of a float model.
 */
#pragma once

#include <vector>

#include <nvdla/data_type.h>

#include "compiler/ir/model.h"
#include "ranges.h"

namespace nvdla::compiler
{

/**
 * \brief Ranges as operators need them
 *
 * Values between which an operator only moves elements have one range, that of all of them. Where
 * a function has limits, its result has these.
 */
void settleRanges(const Model &model, std::vector<Range> &ranges);

/**
 * \brief Turn float values into integers, and kernels into integers for each output channel
 *
 * Biases, slopes and the other constants stay real numbers: the lowering makes what it needs of
 * them.
 *
 * \param[in] ranges of each value
 * \param[in] type Int8, with zero points, or Int16, without
 */
void quantizeModel(Model &model, const std::vector<Range> &ranges, DataType type);

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * From a float model and examples of its inputs to a model of integers.
 */
#pragma once

#include <vector>

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Turn the values and kernels of a float model into integers
 *
 * \param[in,out] model as runPasses() leaves it
 * \return how far each operator is off the float model, in their order; InvalidArgument naming
 * what is wrong with the samples; Unsupported if the model has integers already
 */
Result<std::vector<LayerError>> calibrate(Model &model, const Calibration &calibration);

} /* namespace nvdla::compiler */

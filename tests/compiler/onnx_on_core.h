/* SPDX-License-Identifier: MIT */
/*
 * ONNX files on the embedded device, against numbers worked out by hand.
 */
#pragma once

#include "core_run.h"
#include "onnx_builder.h"

namespace nvdla::test
{

/** \brief 2 channels of 2 x 3; flattened they count columns first, then lines, then channels */
inline const Numbers picture = { 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60 };

/** \brief What the core makes of a file whose inputs and outputs are in the file's order */
std::vector<Numbers> onCore(const OnnxBuilder &builder, const std::vector<Numbers> &inputs);

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * Properties of tensors' elements that follow from the operations of a loadable.
 */
#pragma once

#include <nvdla/task.h>

namespace nvdla
{

/**
 * \brief Complete the descriptions of inputs and outputs
 *
 * - isUnsigned is set for an input picture if all convolutions read its pixels as unsigned.
 * - An output without a quantization in the file gets that of the CPU operation that writes the
 *   output last. Operations of the core have no quantization.
 */
void describeElements(NetworkParts &parts);

} /* namespace nvdla */

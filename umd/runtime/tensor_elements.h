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
 * - isUnsigned is set for an input picture whose pixels all convolutions read as unsigned.
 * - An output that a CPU operation writes last has that operation's quantization; a loadable has
 *   no quantization of the core's outputs.
 */
void describeElements(NetworkParts &parts);

} /* namespace nvdla */

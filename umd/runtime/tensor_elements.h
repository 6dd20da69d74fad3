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
 * - An input picture that all convolutions reading it take as unsigned is isUnsigned.
 * - An output that a CPU operation writes last has that operation's quantization; a loadable has
 *   no quantization of the core's outputs.
 */
void describeElements(NetworkParts &parts);

} /* namespace nvdla */

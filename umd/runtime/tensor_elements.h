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
 * - An output that is last written by a CPU operation gets that operation's quantization. For
 * outputs of the core, a loadable does not contain any.
 */
void describeElements(NetworkParts &parts);

} /* namespace nvdla */

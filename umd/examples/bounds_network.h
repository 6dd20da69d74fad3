/* SPDX-License-Identifier: MIT */
/*
 * An example network: each layer is slow for a reason of its own, such as MACs or bandwidth.
 */
#pragma once

#include <nvdla/loadable.h>

namespace nvdla::examples
{

/**
 * \brief Make the network; all its weights are zero
 *
 * The input "picture" has 112x112 pixels (A8B8G8R8). The first layer has 32 kernels of 7x7. It uses
 * few multipliers, because a line of a kernel has 28 channels (7 pixels of 4) and a MAC cell takes
 * 64. Two 3x3 convolutions, max pooling and a fully connected layer follow. The fully connected
 * layer has 3.1 million weights, each of which is used once, so memory bandwidth limits its speed.
 * Its output "classes" has 1000 numbers of INT8.
 *
 * \param[in] postExtension lines of a 7x7 kernel that share a MAC step: 1 or 2
 */
Result<Loadable> boundsNetwork(unsigned int postExtension = 1);

} /* namespace nvdla::examples */

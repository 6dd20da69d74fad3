/* SPDX-License-Identifier: MIT */
/*
 * An example network whose layers are limited by different resources.
 */
#pragma once

#include <nvdla/loadable.h>

namespace nvdla::examples
{

/**
 * \brief Write a network of some layers, with weights that are zero
 *
 * A picture of 112x112 pixels ("picture", A8B8G8R8) gets 32 channels from 7x7 kernels: few channels
 * for MAC cells that take 64. Two 3x3 convolutions follow, the second with 64 channels, max
 * pooling, and a fully connected layer of 3.1 million weights, each of which is used once:
 * "classes", 1000 of INT8.
 *
 * \param[in] postExtension lines of the 7x7 kernels that share a MAC step: 1 or 2
 */
Result<Loadable> boundsNetwork(unsigned int postExtension = 1);

} /* namespace nvdla::examples */

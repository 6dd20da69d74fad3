/* SPDX-License-Identifier: MIT */
/* Finds out whether a network computes in FP16. */
#pragma once

#include <nvdla/loadable.h>

namespace nvdla
{

/**
 * \return InvalidArgument if the loadable of a model computes nothing in FP16. Programs call this
 * if the user asked for FP16, because compilation keeps the integers of an integer model
 */
Result<void> checkComputesHalf(const Loadable &loadable);

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>

namespace nvdla
{

/** The largest width, height or number of channels: the core's registers hold the size less 1 in 13
 * bits. */
inline constexpr uint32_t maxDimension = 8192;

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>

namespace nvdla
{

/** The largest width, height or number of channels: registers hold size - 1 in 13 bits. */
inline constexpr uint32_t maxDimension = 8192;

} /* namespace nvdla */

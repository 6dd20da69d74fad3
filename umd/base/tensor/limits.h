/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>

namespace nvdla
{

/** The largest width, height or number of channels: its registers hold 13 bits, size - 1. */
inline constexpr uint32_t maxDimension = 8192;

} /* namespace nvdla */

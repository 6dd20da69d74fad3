/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <vector>

#include <nvdla/image.h>

namespace nvdla::test
{

/** \return a JPEG file of best quality; the library itself only reads such files */
std::vector<std::byte> encodeJpeg(const Image &image);

} /* namespace nvdla::test */

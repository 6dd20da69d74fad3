/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <vector>

#include <nvdla/image.h>

namespace nvdla::test
{

/** \return a JPEG file of best quality, for tests; the runtime library itself only reads JPEG
 * files. Four channels are those of print, CMYK */
std::vector<std::byte> encodeJpeg(const Image &image);

} /* namespace nvdla::test */

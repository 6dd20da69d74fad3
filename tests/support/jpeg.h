/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <vector>

#include <nvdla/image.h>

namespace nvdla::test
{

/** \brief A JPEG of the best quality, which the library reads but does not write */
std::vector<std::byte> encodeJpeg(const Image &image);

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::fuzz
{

/**
 * \brief Compile \a data as a model of any format
 *
 * Whatever the bytes are: a loadable that can be written, or an error with a place and a reason.
 * Anything else ends the process.
 */
void compileModelFile(const uint8_t *data, size_t size);

} /* namespace nvdla::fuzz */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::fuzz
{

/**
 * \brief Read \a data as each kind of file that a network's input comes from
 *
 * PGM, PPM, PNG, JPEG, .npy and .dimg. Whatever the bytes are: elements for a tensor
 * of the file's shape, or an error with a place and a reason. Anything else ends the process.
 */
void readInputFile(const uint8_t *data, size_t size);

} /* namespace nvdla::fuzz */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::fuzz
{

/**
 * \brief Read \a data as a loadable's text form, and write what it says again
 *
 * Whatever the bytes are: a loadable whose text gives the same one, or an error
 * with a place and a reason. Anything else ends the process.
 */
void readLoadableJson(const uint8_t *data, size_t size);

} /* namespace nvdla::fuzz */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::fuzz
{

/**
 * \brief Read \a data as a loadable and go through all a runtime looks at before it submits
 *
 * Whatever the bytes are: a value or an error with a place and a reason.
 * Anything else ends the process.
 */
void readLoadable(const uint8_t *data, size_t size);

} /* namespace nvdla::fuzz */

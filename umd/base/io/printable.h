/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nvdla
{

/**
 * \brief Text of a file as a terminal may be given it
 * \return \a text with control characters and whatever is not UTF-8 as \xNN, byte by byte
 */
std::string printable(std::string_view text);

/**
 * \brief The end of a long name, which tells it from others of the same model
 *
 * TensorFlow Lite gives a layer the names of all that is in it, with semicolons between them: the
 * first one stands for all.
 *
 * \return \a text, or "..." and its last bytes; at most \a width bytes, which are 8 or more
 */
std::string shortened(std::string_view text, size_t width);

} /* namespace nvdla */

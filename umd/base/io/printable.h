/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nvdla
{

/**
 * \brief Make text from a file safe for a terminal
 * \return \a text with \xNN in place of each byte of a control character, and of each byte that is
 * not UTF-8
 */
std::string printable(std::string_view text);

/**
 * \brief Shorten a layer's long name: the result keeps its end, because names of one model differ
 * most at the end
 *
 * TensorFlow Lite names a layer after all operators in it, separated by semicolons. A long name of
 * this form becomes the first operator's name, shortened, and ";...".
 *
 * \param[in] width largest number of bytes of the result, 8 or more
 * \return \a text if it fits; otherwise "..." and its last bytes, or the form with ";..."
 */
std::string shortened(std::string_view text, size_t width);

/** \brief Longest name of a layer, in bytes, that reports and messages print whole */
inline constexpr size_t longestName = 44;

/** \return 'NAME' for a message, with a long name shortened */
std::string inQuotes(std::string_view name);

} /* namespace nvdla */

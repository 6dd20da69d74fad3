/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <string_view>

namespace nvdla
{

/**
 * \brief Text of a file as a terminal may be given it
 * \return \a text with control characters and whatever is not UTF-8 as \xNN, byte by byte
 */
std::string printable(std::string_view text);

} /* namespace nvdla */

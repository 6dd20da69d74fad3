/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nvdla::top
{

struct ScreenSize {
	size_t rows = 24;
	size_t columns = 80;
};

/** \return the size that a terminal reports, with 24 rows or 80 columns in place of 0 */
ScreenSize screenSize(unsigned int rows, unsigned int columns);

/**
 * \brief Cut a text to the size of a terminal
 * \param[in] footer the last row, empty for none
 * \return the text with control sequences (ECMA-48) that write it over the previous view
 *
 * Control sequences for colours in \a text do not count as columns.
 */
std::string screenText(std::string_view text, std::string_view footer, const ScreenSize &size);

} /* namespace nvdla::top */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <string_view>

#include "load.h"

namespace nvdla::top
{

/** \return a table of engines and one of processes for each device, lines that end in '\\n' */
std::string loadText(const Load &load);

/**
 * \brief Cut a text to the size of a terminal
 * \return what writes it over what the terminal shows, by the control sequences of ECMA-48
 */
std::string screenText(std::string_view text, size_t rows, size_t columns);

} /* namespace nvdla::top */

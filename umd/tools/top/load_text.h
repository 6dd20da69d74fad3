/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <string_view>

#include "load.h"

namespace nvdla::top
{

/** \brief Form of the text that loadText() makes */
struct Look {
	size_t columns = 80; /**< characters of a line: room for bars */
	bool bars = false;   /**< a bar after each engine's share, if the columns suffice */
	bool colour = false; /**< colour the bars, by control sequences of ECMA-48 */
};

/** \return for each device a table of its engines and one of its processes; every line ends in
 * a newline */
std::string loadText(const Load &load, const Look &look = {});

} /* namespace nvdla::top */

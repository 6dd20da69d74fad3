/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "profile.h"
#include "rows.h"

namespace nvdla::prof
{

/**
 * \return a table with a line for each row of the view: time, stalls, saturated values and NaNs. A
 * last line has the busy share of each engine. Rarer counters have a column only if one of their
 * values is not zero
 */
std::string profileTable(const Profile &profile, const View &view = {});

/** \return the rows of the view as CSV: a line of titles, times in ns, all counters */
std::string profileCsv(const Profile &profile, const View &view = {});

/** \return a time in a suitable unit: "1.234 ms" */
std::string timeText(uint64_t ns);

} /* namespace nvdla::prof */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \return a line for each operation (time, stalls, saturation, NaNs) and one for
 * each engine; what is rarer has a column if it is not zero everywhere
 */
std::string profileTable(const Profile &profile);

/** \return a time in the unit that suits it: "1.234 ms" */
std::string timeText(uint64_t ns);

} /* namespace nvdla::prof */

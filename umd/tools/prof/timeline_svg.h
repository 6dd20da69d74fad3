/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "profile.h"

namespace nvdla::prof
{

/** \return the profile as an SVG: one or more rows for each engine, then one for each gauge; time
 * runs from left to right */
std::string timelineSvg(const Profile &profile);

} /* namespace nvdla::prof */

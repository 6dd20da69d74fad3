/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "profile.h"

namespace nvdla::prof
{

/** \return the profile as a picture: a row for each engine, time from left to right */
std::string timelineSvg(const Profile &profile);

} /* namespace nvdla::prof */

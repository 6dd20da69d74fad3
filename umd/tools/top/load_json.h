/* SPDX-License-Identifier: MIT */
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "load.h"

namespace nvdla::top
{

/** \return one object, which the manual page of nvdla-top describes */
nlohmann::ordered_json loadJson(const Load &load);

} /* namespace nvdla::top */

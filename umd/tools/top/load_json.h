/* SPDX-License-Identifier: MIT */
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "load.h"

namespace nvdla::top
{

/** \return one object; the manual page of nvdla-top says what is in it */
nlohmann::ordered_json loadJson(const Load &load);

} /* namespace nvdla::top */

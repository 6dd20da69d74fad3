/* SPDX-License-Identifier: MIT */
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profile.h"

namespace nvdla::prof
{

using Json = nlohmann::ordered_json;

/** \return the counters of an operation, with the names that the driver has for them */
Json countersJson(const OperationReport &result);

/** \return an array with an object for each operation; times in ns, null where there are none */
Json profileJson(const Profile &profile);

} /* namespace nvdla::prof */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profile.h"
#include "rows.h"

namespace nvdla::prof
{

using Json = nlohmann::ordered_json;

/** \return the counters of an operation, named as in the driver's struct
 * drm_nvdla_operation_result */
Json countersJson(const OperationReport &result);

/** \return an array with an object for each operation; times in ns, null for an operation without
 * times */
Json profileJson(const Profile &profile);

/**
 * \return JSON with the name, the duration and the rows of the view. A row's counters are the sums
 * over its operations, or null if nothing was counted
 */
Json rowsJson(const Profile &profile, const View &view = {});

/** \return rowsJson() as text */
std::string rowsJsonText(const Profile &profile, const View &view = {});

} /* namespace nvdla::prof */

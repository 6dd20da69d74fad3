/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/loadable.h>
#include <nvdla/request.h>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \brief Make a profile from the report of a run
 *
 * The loadable describes the operations, and the report has their times and counters. An operation
 * on the CPU has the times of its whole task. An operation on the device has no times if the device
 * does not report results.
 *
 * \param[in] name name of the profile
 */
Result<Profile> runProfile(const Loadable &loadable, const RunReport &report, std::string name);

} /* namespace nvdla::prof */

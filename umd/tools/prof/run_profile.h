/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/loadable.h>
#include <nvdla/request.h>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \brief Make a profile from the report of a run and the description of its operations in the
 * loadable
 *
 * Operations on the CPU have the times of their task. Operations of jobs have no times if the
 * device does not report results.
 *
 * \param[in] name of the profile
 */
Result<Profile> runProfile(const Loadable &loadable, const RunReport &report, std::string name);

} /* namespace nvdla::prof */

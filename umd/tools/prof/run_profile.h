/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/loadable.h>
#include <nvdla/request.h>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \brief Put together what a run reported with what the loadable says
 *
 * Operations on the CPU have the times of their task. On a device that does
 * not report results, those of jobs have none.
 *
 * \param[in] name of the profile
 */
Result<Profile> runProfile(const Loadable &loadable, const RunReport &report, std::string name);

} /* namespace nvdla::prof */

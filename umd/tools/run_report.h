/* SPDX-License-Identifier: MIT */
/*
 * What nvdla-run prints.
 */
#pragma once

#include <vector>

#include <nvdla/network.h>

#include "run_options.h"

namespace nvdla::tools
{

/** \brief Print what ran and what came out, as text */
Result<void> printText(const RunSettings &settings, const Network &network,
		       const std::vector<RunReport> &reports);

/** \brief The same as one JSON object */
Result<void> printJson(const RunSettings &settings, const Network &network,
		       const std::vector<RunReport> &reports);

} /* namespace nvdla::tools */

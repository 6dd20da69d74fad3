/* SPDX-License-Identifier: MIT */
/*
 * What nvdla-run prints.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/network.h>

#include "run_options.h"

namespace nvdla::tools
{

/**
 * \brief Print what ran and what came out, as text
 * \param[in] labels of the elements of an output, in their order; may be fewer
 */
Result<void> printText(const RunSettings &settings, const Network &network,
		       const std::vector<RunReport> &reports,
		       const std::vector<std::string> &labels);

/** \brief The same as one JSON object */
Result<void> printJson(const RunSettings &settings, const Network &network,
		       const std::vector<RunReport> &reports,
		       const std::vector<std::string> &labels);

} /* namespace nvdla::tools */

/* SPDX-License-Identifier: MIT */
/*
 * The output of nvdla-run, as text or JSON.
 */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvdla/network.h>

#include "run_options.h"
#include "surfaces.h"
#include "tools/prof/profile.h"

namespace nvdla::tools
{

/** \brief Results of a network's runs that are printed */
struct RunOutcome {
	const Network &network;
	std::vector<std::string> notes;	      /**< results of setInput(), for inputs with a file */
	std::vector<RunReport> reports;	      /**< reports of the runs, one or more */
	std::vector<std::string> labels;      /**< lines of the file of --labels */
	std::optional<prof::Profile> profile; /**< profile of the last run */
	std::vector<SurfaceSummary> surfaces; /**< only with --dump-surfaces */
};

/** \brief Print \a outcome for people, on standard output */
Result<void> printText(const RunSettings &settings, const RunOutcome &outcome);

/** \brief Print \a outcome as one JSON object, on standard output */
Result<void> printJson(const RunSettings &settings, const RunOutcome &outcome);

} /* namespace nvdla::tools */

/* SPDX-License-Identifier: MIT */
/*
 * Many traces at once.
 */
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/player.h"

namespace nvdla::sim
{

/** \brief One trace and what came out of playing it on a core of its own */
struct SuiteRun {
	std::filesystem::path directory;
	PlayResult result;
	std::vector<std::string> guestErrors;	 /**< one line each */
	std::vector<OperationRecord> operations; /**< as they were done */
};

/** \return a run for every directory at or below \a path that has a trace, sorted by name */
std::vector<SuiteRun> findTraces(const std::filesystem::path &path);

/** \brief Play all of them, \a jobs at a time, and fill in the results */
void playSuite(std::vector<SuiteRun> &runs, unsigned int jobs);

} /* namespace nvdla::sim */

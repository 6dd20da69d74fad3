/* SPDX-License-Identifier: MIT */
/*
 * Many traces at once.
 */
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trace/player.h"

namespace nvdla::sim
{

/** \brief One trace and the result of playing it */
struct SuiteRun {
	std::filesystem::path directory;
	PlayResult result;
	std::vector<std::string> guestErrors;	 /**< one line each */
	std::vector<OperationRecord> operations; /**< in the order of their ends */
};

/** \return a run for every directory at or below \a path that has a trace, sorted by name */
std::vector<SuiteRun> findTraces(const std::filesystem::path &path);

/**
 * \brief Play all traces, each on a core of its own, \a jobs at a time, and fill in the results
 * \param options for the cores; fast FP16 shows how traces fare within their tolerances
 */
void playSuite(std::vector<SuiteRun> &runs, unsigned int jobs, const ConvOptions &options = {});

/** \brief Plays one trace after the other; belongs to one thread, which makes and destroys it */
using RunPlayer = std::function<void(SuiteRun &run)>;

/** \brief Play all traces in \a jobs threads; each thread calls \a makePlayer once */
void playSuite(std::vector<SuiteRun> &runs, unsigned int jobs,
	       const std::function<RunPlayer()> &makePlayer);

} /* namespace nvdla::sim */

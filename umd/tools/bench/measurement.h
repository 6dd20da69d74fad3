/* SPDX-License-Identifier: MIT */
/*
 * Durations of a network's runs: figures as text and JSON, compared with an earlier measurement.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nvdla/error.h>

namespace nvdla::bench
{

/** \brief Figures of a measurement. The members from mean to most are durations of a run, in
 * milliseconds */
struct Measurement {
	std::string network; /**< name of the network's file */
	std::string device;
	unsigned inFlight = 1;
	uint64_t runs = 0;
	double seconds = 0; /**< seconds from the start of the first run to the end of the last */
	double mean = 0;
	double least = 0;
	double p50 = 0;
	double p90 = 0;
	double p99 = 0;
	double most = 0;

	/** \return runs in a second */
	double throughput() const { return seconds > 0 ? static_cast<double>(runs) / seconds : 0; }

	/**
	 * \brief Set \a runs and the members from \a mean to \a most from the durations of the runs
	 *
	 * The N-th percentile is the shortest duration that N percent of the runs did not exceed.
	 *
	 * \param[in] times durations of one or more runs, in milliseconds and any order
	 */
	void take(std::vector<double> times);
};

/** \return the figures as text; with their ratios to the figures of \a before unless it is null */
std::string measurementText(const Measurement &measured, const Measurement *before);

std::string measurementJson(const Measurement &measured);

/**
 * \brief Read an output of measurementJson()
 * \param[in] name name of the file, for errors
 * \return the measurement; InvalidFile naming a field that is missing or has the wrong type
 */
Result<Measurement> measurementFromJson(std::string_view text, const std::string &name);

} /* namespace nvdla::bench */

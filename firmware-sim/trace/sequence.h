/* SPDX-License-Identifier: MIT */
/*
 * Times of a trace's operations, by the timing model and on the hardware.
 */
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timing/schedule.h"
#include "trace/suite.h"

namespace nvdla::sim
{

/** \brief The operations of a trace; times in cycles from the trace's first command */
struct Sequence {
	struct Step {
		OperationRecord operation;
		double enabled = 0; /**< when the operation's last unit was enabled */
		ScheduledTime time;
	};

	std::vector<Step> steps; /**< in the order in which they were enabled */
	double interrupt = 0;	 /**< when the interrupt line rose for the last time */
	bool masked = false;	 /**< the line rises only when interrupts are unmasked */

	/** \return cycles from the last enable to the last interrupt */
	double lastCycles() const;
};

/**
 * \brief Time the operations of a trace that was played, by the trace's commands
 *
 * A command takes as long as in the test bench of the reference vectors; a poll waits for the
 * operations whose interrupts it names.
 *
 * \return nothing if the trace does not enable all of the operations that were recorded
 */
std::optional<Sequence> sequenceOf(const SuiteRun &run, const Trace &trace);

/** \brief Cycles of a trace, from its last enable to its last interrupt */
struct TimingComparison {
	uint64_t model = 0;
	uint64_t hardware = 0;

	double ratio() const { return static_cast<double>(model) / static_cast<double>(hardware); }
};

/** \brief Summary of many comparisons */
struct TimingSummary {
	unsigned int traces = 0;
	double geometricMean = 1; /**< geometric mean of the ratios */
	double worst = 1;	  /**< largest factor between model and hardware, 1 or more */
};

/**
 * \return the cycles of a trace that was played, if it has operations and its meta.json has the
 * hardware's cycles (rtl_cycles); nothing if the trace masks interrupts, which delays them
 */
std::optional<TimingComparison> compareTiming(const SuiteRun &run);

/** \return the comparisons by the name of the folder that the traces are in */
std::map<std::string, TimingSummary> summarizeTiming(const std::vector<SuiteRun> &runs);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/* Times at which the operations of a trace run, by the timing model. */
#pragma once

#include <optional>
#include <vector>

#include "timing/schedule.h"
#include "trace/suite.h"

namespace nvdla::sim
{

/** \brief The operations of a trace, in cycles from its first command on */
struct Sequence {
	struct Step {
		OperationRecord operation;
		double enabled = 0; /**< when its last unit was */
		ScheduledTime time;
	};

	std::vector<Step> steps; /**< in the order in which they were enabled */
	double interrupt = 0;	 /**< when the interrupt line rose for the last time */
	bool masked = false;	 /**< it rises when interrupts are unmasked */

	/** \return cycles from the last enable to the last interrupt */
	double lastCycles() const;
};

/**
 * \brief Put the operations of a trace that was played in the order of its commands
 *
 * A command takes as long as where the reference vectors were recorded; a poll waits for the
 * operations whose interrupts it names.
 *
 * \return nothing if the trace does not enable all of the operations that were recorded
 */
std::optional<Sequence> sequenceOf(const SuiteRun &run, const Trace &trace);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Schedule of a network's operations, which share engines and memories.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timing/operation_timing.h"

namespace nvdla::sim
{

/** \brief An operation with those to which it passes data on the fly */
struct ScheduledWork {
	OperationWork work;
	/** \brief Operations whose interrupts this one waits for; smaller indices
	 */
	std::vector<size_t> after;
	double notBefore = 0; /**< earliest start, in cycles */
};

/** \brief Times of an operation, in core cycles from the start of the first one */
struct ScheduledTime {
	double start = 0;
	double end = 0;
};

/**
 * \brief Run operations in order, as early as engines and dependencies allow
 *
 * Engines work at the same time; an engine runs one operation at a time, in the order of the
 * list. CDMA fetches the next convolution while one computes (roomAhead()). Operations that run at
 * the same time share the bandwidth of each memory max-min fairly: if they need more than there is,
 * all get the same share, except that an operation that needs less gets only what it needs.
 */
std::vector<ScheduledTime> schedule(const std::vector<ScheduledWork> &operations,
				    const TimingParameters &parameters);

} /* namespace nvdla::sim */

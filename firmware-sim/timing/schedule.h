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

/** \brief One operation, with all engines that are fused in it */
struct ScheduledWork {
	OperationWork work;
	/** \brief Indices of earlier operations whose interrupts this one waits for
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
 * Engines work at the same time; each one runs its operations one after the other, in the order of
 * the list. CDMA fetches for the next convolution while one computes (roomAhead()). Operations that
 * run at the same time share the bandwidth of each memory max-min fairly: one that needs less than
 * an equal share gets what it needs, and the others share the rest equally.
 */
std::vector<ScheduledTime> schedule(const std::vector<ScheduledWork> &operations,
				    const TimingParameters &parameters);

} /* namespace nvdla::sim */

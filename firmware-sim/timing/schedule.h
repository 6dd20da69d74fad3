/* SPDX-License-Identifier: MIT */
/*
 * When the operations of a network run that share engines and memories.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timing/operation_timing.h"

namespace nvdla::sim
{

/** \brief One operation, with those that it passes data to on the fly */
struct ScheduledWork {
	OperationWork work;
	/** \brief Operations that have to be done, whose interrupt starts this one; smaller indices
	 */
	std::vector<size_t> after;
	double notBefore = 0; /**< when it is enabled, in cycles */
};

/** \brief When an operation runs, in cycles of the core from the first one's start on */
struct ScheduledTime {
	double start = 0;
	double end = 0;
};

/**
 * \brief Run operations in their order, as far as engines and dependencies allow
 *
 * Engines work side by side; one engine does one operation at a time, in the order of the
 * list. CDMA fetches the next convolution while one computes (roomAhead()). What runs at the same
 * time shares the memories: if together they ask for more than one gives, each gets as much, or
 * what it asks for if that is less.
 */
std::vector<ScheduledTime> schedule(const std::vector<ScheduledWork> &operations,
				    const TimingParameters &parameters);

} /* namespace nvdla::sim */

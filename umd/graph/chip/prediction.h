/* SPDX-License-Identifier: MIT */
/* Predicts the run time of a network on a chip, without running it. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/loadable.h>

#include "loadable/inspect/operation_text.h"
#include "timing/chip.h"
#include "timing/operation_timing.h"

namespace nvdla::chip
{

/** \brief An operation of a network, or several that pass data on the fly */
struct PredictedOperation {
	struct Member {
		size_t index = 0; /**< index in its task */
		inspect::OperationText text;
	};

	uint16_t task = 0;	     /**< id of the task */
	std::vector<Member> members; /**< in the order of the data flow */
	sim::OperationWork work;
	sim::OperationTiming timing; /**< timing if no other operation uses the memories */
	uint64_t startNs = 0;	     /**< time since the run began */
	uint64_t endNs = 0;

	/** \return share of the multipliers that do something useful, 0 to 1 */
	double macUse(const sim::TimingParameters &parameters) const;
	/** \return multiplications; 0 for operations other than convolutions */
	uint64_t macs() const { return work.conv ? work.conv->macs() : 0; }
	/** \return core cycles from start to end */
	uint64_t cycles(const sim::TimingParameters &parameters) const;
	/** \return names of the engines, such as "CONV+SDP" */
	std::string engines() const;
	/** \return shapes of the first input and the last output: "64x56x56 -> 64x56x56" */
	std::string shape() const;
};

/** \brief One run of a network on a chip */
struct Prediction {
	std::string name;
	sim::Chip chip;
	std::vector<PredictedOperation> operations; /**< in the order in which they start */
	uint64_t durationNs = 0;		    /**< run time without CPU operations */
	size_t cpuOperations = 0;		    /**< number of CPU operations, whose time is
						     * unknown */

	/** \return bytes that all operations read and write, for each memory */
	sim::MemoryTraffic traffic() const;
	/** \return share of the multipliers that do something useful over the whole run, 0 to 1 */
	double macUse() const;
};

/** \return the prediction, or InvalidArgument if the driver would refuse a task */
Result<Prediction> predict(const Loadable &loadable, const sim::Chip &chip, std::string name);

} /* namespace nvdla::chip */

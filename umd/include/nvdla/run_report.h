/* SPDX-License-Identifier: MIT */
/*
 * Operations of a run of a network, with times and counters.
 */
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief One operation of a job
 *
 * Times are CLOCK_MONOTONIC. Counters are in cycles of the core or in elements; counters that an
 * engine does not have are 0.
 */
struct OperationReport {
	uint32_t engine = 0;	/**< 0 BDMA, 1 convolution, 2 SDP, 3 PDP, 4 CDP, 5 Rubik */
	bool started = false;	/**< startNs is set */
	bool completed = false; /**< endNs is set */
	bool counted = false;	/**< the members after the times are set */
	uint64_t startNs = 0;	/**< when the operation was enabled */
	uint64_t endNs = 0;	/**< when the driver saw the operation's interrupt */

	uint64_t readStall = 0;		/**< cycles in which reading the source stalled */
	uint64_t writeStall = 0;	/**< cycles in which writing the output stalled */
	uint64_t weightReadStall = 0;	/**< convolution: cycles in which reading weights stalled */
	uint64_t readLatency = 0;	/**< convolution: cycles with data reads in flight */
	uint64_t weightReadLatency = 0; /**< convolution: cycles with weight reads in flight */
	/** \brief SDP: cycles in which reading the operands of X1, X2 and Y stalled */
	std::array<uint64_t, 3> operandReadStall{};
	uint32_t saturation = 0; /**< elements of the output that were saturated */
	uint32_t nanInput = 0;	 /**< FP16: NaNs in the source; SDP: only if in memory */
	uint32_t infInput = 0;	 /**< FP16: infinities in the source; SDP: only if in memory */
	uint32_t nanOutput = 0;	 /**< FP16: NaNs in the output */
	uint32_t nanWeight = 0;	 /**< FP16: NaNs in the weights */
	uint32_t infWeight = 0;	 /**< FP16: infinities in the weights */
	uint32_t unequal = 0;	 /**< SDP: 1 if a comparison found a difference */

	/**
	 * \brief Counts of values that were looked up in the two tables LE and LO
	 *
	 * CDP counts each value in one member. SDP counts underflow, overflow and
	 * hybrid for the table that gave the result, and hits of both tables.
	 */
	struct Lut {
		/** \brief CDP: below both tables; SDP: below the table that gave the result */
		uint32_t underflow = 0;
		/** \brief CDP: above both tables; SDP: above the table that gave the result */
		uint32_t overflow = 0;
		/** \brief CDP: inside table LE alone; SDP: inside LE */
		uint32_t leHit = 0;
		/** \brief CDP: inside table LO alone; SDP: inside LO */
		uint32_t loHit = 0;
		/** \brief CDP: inside both tables, or below one and above the other; SDP: inside
		 * the table that gave the result */
		uint32_t hybrid = 0;
		bool operator==(const Lut &) const = default;
	} lut;

	bool operator==(const OperationReport &) const = default;
};

/** \brief One job; times are CLOCK_MONOTONIC */
struct JobReport {
	uint32_t numOperations = 0; /**< number of operations of all tasks */
	uint32_t numCompleted = 0;
	uint32_t numRuns = 0;  /**< number of times that the job was put on the hardware; 0: no
				  report */
	uint64_t submitNs = 0; /**< when the job was submitted */
	uint64_t startNs = 0;  /**< when the job was last put on the hardware, or 0 */
	uint64_t endNs = 0;    /**< when the job ended */
};

/** \brief Report of a run */
struct RunReport {
	struct Step {
		bool cpu = false;   /**< true: a CPU task; false: tasks of one job */
		unsigned tasks = 0; /**< number of the loadable's tasks in this step */
		unsigned operations = 0;
		std::chrono::nanoseconds duration{ 0 }; /**< time from submission to completion */
		/** \brief All zero for CPU tasks and without Feature::Results */
		JobReport job = {};
		/** \brief Report of each operation, in the order of the tasks; empty if \a job is
		 * zero */
		std::vector<OperationReport> results;
	};

	std::vector<Step> steps;
	std::chrono::nanoseconds queued{ 0 };	/**< time from submit() to the first step */
	std::chrono::nanoseconds duration{ 0 }; /**< time from the first step to the end of the
						 * last step */
};

} /* namespace nvdla */

#pragma GCC visibility pop

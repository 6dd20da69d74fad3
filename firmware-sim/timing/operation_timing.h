/* SPDX-License-Identifier: MIT */
/*
 * Duration of an operation in core cycles.
 */
#pragma once

#include <array>
#include <cstdint>

#include "timing/parameters.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Resource that takes most of an operation's time */
enum class Bound : uint8_t {
	Mac,
	Sdp,
	Pdp,
	Cdp,
	Rubik,
	Bdma,
	Dram,
	Sram,
	Latency, /**< filling and draining: no resource is busy for half of the time */
};

/** \return "MAC", "DRAM", ... */
const char *boundName(Bound bound);

/** \brief Duration of an operation in core cycles, and its bound */
struct OperationTiming {
	uint64_t cycles = 0;	  /**< from the last enable to done */
	uint64_t readStall = 0;	  /**< cycles of waiting for data, because memory is slow */
	uint64_t weightStall = 0; /**< cycles of MACs waiting for weights, because memory is slow */
	std::array<uint64_t, 3> operandStall{}; /**< stalls for operands of SDP's X1, X2, Y */
	uint64_t writeStall = 0;		/**< cycles of waiting for writes to be accepted */
	uint32_t latency = 0;			/**< latency of the slowest memory that is read */
	uint64_t macCycles = 0;			/**< cycles with MAC steps */
	uint64_t dataCycles = 0;   /**< cycles of a convolution's fetch before its first MAC step */
	uint64_t weightCycles = 0; /**< cycles until a convolution has all of its weights */
	Bound bound = Bound::Latency;
};

/**
 * \brief Time one operation that has the memories for itself
 *
 * Rates and fixed costs are those of the core (CoreTiming).
 *
 * - CDMA fetches the cube and the weights at the same time; MAC steps begin when all lines of the
 *   cube and the first kernel group are in the buffer, the steps of each further group when that
 *   group is. The buffer holds as many groups as fit its weight banks.
 * - A MAC step takes a cycle for each position of a stripe, and no less than loading the next
 *   weights of the group takes.
 * - Engines that pass data on the fly work at the same time; the slowest one sets the pace, the
 *   others add their times for the first and the last stripe.
 * - No operation is faster than the memories move its bytes.
 * - Readers and writers that wait for the same memory share the stall in proportion to their bytes.
 */
OperationTiming timeOperation(const OperationWork &work, const TimingParameters &chip);

} /* namespace nvdla::sim */

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

/** \brief Resource that determines an operation's duration */
enum class Bound : uint8_t {
	Mac,
	Sdp,
	Pdp,
	Cdp,
	Rubik,
	Bdma,
	Dram,
	Sram,
	Latency, /**< filling and draining the pipeline: no resource is busy half of the time */
};

/** \return "MAC", "DRAM", ... */
const char *boundName(Bound bound);

/** \brief Duration of an operation in core cycles, and its bound */
struct OperationTiming {
	uint64_t cycles = 0;	  /**< from the last enable to done */
	uint64_t readStall = 0;	  /**< cycles in which reads wait for a slow memory */
	uint64_t weightStall = 0; /**< cycles in which MACs wait for weights from a slow memory */
	std::array<uint64_t, 3> operandStall{}; /**< cycles of X1, X2, Y waiting for operands */
	uint64_t writeStall = 0;		/**< cycles of writes waiting for a slow memory */
	uint32_t latency = 0;			/**< cycles until the slowest memory answers */
	uint64_t macCycles = 0;			/**< cycles of a convolution's MAC steps */
	uint64_t dataCycles = 0;   /**< cycles of a convolution's fetch before the first MAC step */
	uint64_t weightCycles = 0; /**< cycles until a convolution has all of its weights */
	Bound bound = Bound::Latency;
};

/**
 * \brief Predict the duration of one operation that shares the memories with no other
 *
 * Rates and fixed costs are those of the core (CoreTiming).
 *
 * - CDMA fetches the cube and the weights at the same time. MAC steps of the first kernel group
 *   begin when the buffer has all lines of the cube and this group; the steps of a further group
 *   begin when the buffer has it. The buffer holds as many groups as fit into its weight banks.
 * - A stripe takes a cycle for each of its positions, but at least the cycles of loading the next
 *   set of weights.
 * - Fused engines work at the same time. The slowest one determines the duration; the others only
 *   add their times for the first and the last stripe.
 * - No operation is faster than the memories move its bytes.
 * - Readers and writers that wait for the same memory share the stall in proportion to their bytes.
 */
OperationTiming timeOperation(const OperationWork &work, const TimingParameters &chip);

} /* namespace nvdla::sim */

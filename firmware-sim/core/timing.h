/* SPDX-License-Identifier: MIT */
/*
 * The timing model: how long operations take on the core's clock.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/engines.h"
#include "core/memory.h"
#include "core/operation.h"

namespace nvdla::sim
{

/** \brief What a memory interface of the core is like */
struct MemoryTiming {
	uint32_t bytesPerCycle = 64; /**< in each direction; not 0 */
	uint32_t latency = 16;	     /**< cycles from a request to its answer */
};

/** \brief Parameters of the timing model; the defaults are the memory of the reference vectors */
struct TimingParameters {
	MemoryTiming mc;
	MemoryTiming cv;
};

/** \brief How long an operation takes, in core cycles */
struct OperationTiming {
	uint64_t cycles = 0;	 /**< from the last enable to done */
	uint64_t readStall = 0;	 /**< that it waits for data */
	uint64_t writeStall = 0; /**< that it waits for its writes to be taken */
};

/**
 * \brief Time one operation
 *
 * An engine says how long it takes with the default memory. Reads, writes and
 * the engine overlap, so that the slowest of them sets the pace; what a memory
 * adds to the engine's own time is stall, and its additional latency is added
 * once, because requests are pipelined.
 *
 * \param engineCycles OperationResult::cycles
 */
OperationTiming timeOperation(uint64_t engineCycles, const MemoryPort &port,
			      const TimingParameters &parameters);

/**
 * \return values of the stall and latency registers of the units that take part
 *
 * Only where the group's D_PERF_ENABLE asks for them. Reads of the convolution
 * pipeline are divided into weights and data by the size of the weights.
 *
 * \param latency of the slower memory that was read
 */
std::vector<RegisterUpdate> performanceRegisters(const OperationInputs &inputs,
						 const OperationTiming &timing, uint32_t latency);

/** \return latency of the slowest memory that \a port has read from */
uint32_t readLatency(const MemoryPort &port, const TimingParameters &parameters);

} /* namespace nvdla::sim */

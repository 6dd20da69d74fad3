/* SPDX-License-Identifier: MIT */
/*
 * Results of the timing model as values of the performance registers.
 */
#pragma once

#include <vector>

#include "core/engines.h"
#include "core/operation.h"
#include "timing/operation_timing.h"

namespace nvdla::sim
{

/** \return true if a unit's D_PERF_ENABLE is set: its registers need the operation's timing */
bool asksForTiming(const OperationInputs &inputs);

/** \return \a count saturated to a 32-bit register */
uint32_t registerValue(uint64_t count);

/**
 * \return values of the stall and latency registers of the operation's units
 *
 * Only registers of units whose D_PERF_ENABLE is set in the operation's group. If units are
 * fused, the read stall is that of the first unit, and the write stall that of the last one.
 */
std::vector<RegisterUpdate> performanceRegisters(const OperationInputs &inputs,
						 const OperationTiming &timing);

} /* namespace nvdla::sim */

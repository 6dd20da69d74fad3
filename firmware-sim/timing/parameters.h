/* SPDX-License-Identifier: MIT */
/*
 * Parameters of a chip: memories and clock, for the timing model.
 */
#pragma once

#include <algorithm>
#include <cstdint>

#include "timing/core_timing.h"
#include "timing/traffic.h"

namespace nvdla::sim
{

/** \brief Speed of a memory as the core sees it; only the latency may be 0 */
struct MemoryTiming {
	double bytesPerCycle = 64;	  /**< bandwidth in each direction */
	double sharedBytesPerCycle = 128; /**< bandwidth of reads and writes together */
	uint32_t latency = 16;		  /**< cycles from a request to its answer; may be 0 */

	/** \return bytes a cycle of reads if nothing is written */
	double readRate() const { return std::min(bytesPerCycle, sharedBytesPerCycle); }
	/** \return this memory behind a port of \a portBytes bytes a cycle in each direction */
	MemoryTiming through(double portBytes) const
	{
		return { .bytesPerCycle = std::min(bytesPerCycle, portBytes),
			 .sharedBytesPerCycle = std::min(sharedBytesPerCycle, 2 * portBytes),
			 .latency = latency };
	}
	/** \return least number of cycles to move \a traffic */
	double cycles(const Traffic &traffic) const
	{
		return std::max({ static_cast<double>(traffic.readBytes) / bytesPerCycle,
				  static_cast<double>(traffic.writeBytes) / bytesPerCycle,
				  static_cast<double>(traffic.total()) / sharedBytesPerCycle });
	}
};

/**
 * \brief Parameters of the timing model
 *
 * The defaults are the memories of the reference vectors: as wide as the core's ports, with a
 * fixed latency.
 */
struct TimingParameters {
	MemoryTiming mc;      /**< system memory */
	MemoryTiming cv;      /**< on-chip memory */
	double clockHz = 1e9; /**< clock of the core */
	uint64_t interruptCycles =
		0; /**< cycles from an operation's end to the start of another that waits for it */

	/** \return these parameters, with bandwidths limited by a core's ports */
	TimingParameters seenBy(const CoreTiming &core) const
	{
		TimingParameters seen = *this;

		seen.mc = mc.through(core.portBytes);
		seen.cv = cv.through(core.portBytes);
		return seen;
	}
	const MemoryTiming &of(RamType type) const { return type == RamType::Mc ? mc : cv; }
};

} /* namespace nvdla::sim */

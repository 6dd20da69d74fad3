/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_IO_H
#define NVDLA_IO_H

#include "nvdla_types.h"

/**
 * struct nvdla_io - access to the registers of one core
 * @context: passed to every function
 * @read: returns register @reg, NVDLA_<UNIT>_<REGISTER>; nvdla_variant_register() gives its offset
 * @write: writes register @reg, named in the same way
 * @delay: waits about @us microseconds between two reads of a status register; may be NULL: then
 *         there is no wait between the reads
 * @now: returns CLOCK_MONOTONIC in nanoseconds; may be NULL: then operations start and end at 0
 *
 * The functions are called in the context in which the sequencer is called, and must not sleep if
 * that context must not.
 */
struct nvdla_io {
	void *context;
	u32 (*read)(void *context, u32 reg);
	void (*write)(void *context, u32 reg, u32 value);
	void (*delay)(void *context, u32 us);
	u64 (*now)(void *context);
};

/**
 * struct nvdla_operation_times - when an operation ran, by &nvdla_io.now
 * @start_ns: just before the operation was enabled (BDMA: launched)
 * @end_ns: when the driver saw the operation's interrupt
 */
struct nvdla_operation_times {
	u64 start_ns;
	u64 end_ns;
};

#endif /* NVDLA_IO_H */

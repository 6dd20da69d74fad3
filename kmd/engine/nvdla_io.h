/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_IO_H
#define NVDLA_IO_H

#include "nvdla_types.h"

/**
 * struct nvdla_io - access to the registers of one core
 * @context: passed to every function
 * @read: returns register @reg, NVDLA_<UNIT>_<REGISTER>, for nvdla_variant_register()
 * @write: writes register @reg, named in the same way
 * @delay: waits about @us microseconds between two reads of a status register;
 *         may be NULL, then the reads follow each other at once
 * @now: returns CLOCK_MONOTONIC in nanoseconds; may be NULL, then operations
 *       start and end at 0
 *
 * The functions may be called in whatever context the sequencer is called in
 * and must not sleep there if the caller must not.
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
 * @start_ns: just before it was enabled (BDMA: launched)
 * @end_ns: when its interrupt was seen
 */
struct nvdla_operation_times {
	u64 start_ns;
	u64 end_ns;
};

#endif /* NVDLA_IO_H */

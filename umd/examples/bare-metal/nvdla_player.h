/* SPDX-License-Identifier: MIT */
/*
 * Repeats a run on a board without an operating system: plays the trace (register writes, memory
 * and expected results) that nvdla-run --trace-format c has written.
 */
#ifndef NVDLA_PLAYER_H
#define NVDLA_PLAYER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nvdla_step_kind {
	NVDLA_LOAD, /* copy bytes to the memory at address; mask is their number */
	NVDLA_WRITE, /* write value to the register at address */
	NVDLA_POLL, /* wait until (register at address & mask) == value */
	NVDLA_EXPECT, /* fail unless the memory at address has bytes; mask is their number */
};

struct nvdla_step {
	enum nvdla_step_kind kind;
	uint64_t address; /* address of memory, as the core uses it; or byte offset of a register */
	uint32_t mask;
	uint32_t value;
	const uint8_t *bytes;
};

/* Steps of the trace; trace.c, which nvdla-run has written, defines them. */
extern const struct nvdla_step nvdla_steps[];
extern const size_t nvdla_step_count;

/* Functions that the program for the board provides; each is called with context. */
struct nvdla_board {
	void *context;
	uint32_t (*read)(void *context, uint32_t offset);
	void (*write)(void *context, uint32_t offset, uint32_t value);
	/* Returns a pointer to the memory at an address of the core; NULL: there is none. */
	uint8_t *(*memory)(void *context, uint64_t address, uint32_t size);
	/*
	 * Called after the processor has written memory (is_read 0) and before it reads memory, to
	 * clean or invalidate caches. NULL: caches are coherent.
	 */
	void (*sync)(void *context, uint64_t address, uint32_t size, int is_read);
	uint32_t polls; /* largest number of repeated reads of a polled register; 0: no limit */
};

/*
 * Plays the steps. Returns -1 on success, otherwise the index of the failed step: a register never
 * had the polled value, there is no memory at the address, or the memory has unexpected bytes.
 */
long nvdla_play(const struct nvdla_board *board, const struct nvdla_step *steps, size_t count);

#ifdef __cplusplus
}
#endif

#endif

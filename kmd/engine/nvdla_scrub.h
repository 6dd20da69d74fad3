/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_SCRUB_H
#define NVDLA_SCRUB_H

#include "nvdla_sequencer.h"
#include "nvdla_task.h"

/**
 * struct nvdla_scrub - tasks that bring the convolution buffer into a known state
 *
 * The next convolution sees the bytes and pointers that the previous one left in the buffer. User
 * space can make them inconsistent: CSC reads as many sparse weights as the mask has ones, and user
 * space can write the mask at any time.
 */
struct nvdla_scrub;

/**
 * nvdla_scrub_memory_size() - memory that the tasks need
 * @variant: the core
 *
 * Return: bytes.
 */
u64 nvdla_scrub_memory_size(const struct nvdla_variant *variant);

/**
 * nvdla_scrub_create() - make the tasks
 * @variant: the core
 * @zeroes: system memory of nvdla_scrub_memory_size() bytes, all zero, that only the tasks access:
 *	they read it and write zeroes to it
 * @scrub: filled on success, to be freed with nvdla_scrub_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int nvdla_scrub_create(const struct nvdla_variant *variant,
		       const struct nvdla_task_extent *zeroes, struct nvdla_scrub **scrub);

/**
 * nvdla_scrub_destroy() - free the tasks
 * @scrub: tasks that no sequencer runs, or NULL
 */
void nvdla_scrub_destroy(struct nvdla_scrub *scrub);

/**
 * nvdla_scrub_task() - get the task to run before another client's convolution
 * @scrub: tasks
 * @sequencer: an idle sequencer
 *
 * After the task, all bytes of the buffer are zero and its pointers are as after a reset.
 *
 * Return: a task, owned by @scrub, or NULL if no convolution was started since the
 * core was reset: the hardware cleared the buffer then.
 */
struct nvdla_task *nvdla_scrub_task(struct nvdla_scrub *scrub,
				    const struct nvdla_sequencer *sequencer);

#endif /* NVDLA_SCRUB_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_ARGS_H
#define NVDLA_ARGS_H

#include <drm/nvdla_accel.h>

#include "nvdla_types.h"

struct nvdla_refusal;
struct nvdla_task_extent;

/** NVDLA_MAX_TASKS - tasks in one submit, at most */
#define NVDLA_MAX_TASKS 64
/** NVDLA_MAX_SYNCS - fences to wait for, or to signal, in one submit, at most */
#define NVDLA_MAX_SYNCS 1024
/** NVDLA_DEFAULT_TIMEOUT_MS - time without progress after which a job times out by default */
#define NVDLA_DEFAULT_TIMEOUT_MS 5000
/** NVDLA_MAX_TIMEOUT_MS - longest timeout that a submit may ask for */
#define NVDLA_MAX_TIMEOUT_MS 600000
/** NVDLA_TIMEOUT_FACTOR - limit of a job's total time, in multiples of its timeout */
#define NVDLA_TIMEOUT_FACTOR 10

/** NVDLA_MAX_JOBS - most jobs of a client that have not ended */
#define NVDLA_MAX_JOBS 1024
/** NVDLA_MAX_TASK_BYTES - memory for all prepared tasks of a client, in bytes, at most */
#define NVDLA_MAX_TASK_BYTES (64ULL << 20)

/** NVDLA_DESCRIPTOR_MULTIPLE - descriptors consist of units of this many bytes */
#define NVDLA_DESCRIPTOR_MULTIPLE 4
/**
 * NVDLA_MAX_ELEMENT_SIZE - largest size that user space may give for an array's elements, in bytes
 */
#define NVDLA_MAX_ELEMENT_SIZE 4096

/**
 * NVDLA_MIN_TASK_SIZE - bytes of struct drm_nvdla_task up to lut_size, which every version of user
 * space knows
 */
#define NVDLA_MIN_TASK_SIZE 72

int nvdla_args_check_submit(const struct drm_nvdla_submit *args, struct nvdla_refusal *why);
int nvdla_args_check_counts(const struct drm_nvdla_task *args, struct nvdla_refusal *why);
int nvdla_args_check_task(const struct drm_nvdla_task *args, struct nvdla_refusal *why);
int nvdla_args_check_template(const struct drm_nvdla_task *args, struct nvdla_refusal *why);
int nvdla_args_check_prepared(const struct drm_nvdla_task *args, u32 expected,
			      struct nvdla_refusal *why);
int nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
		      const struct nvdla_task_extent *buffer, struct nvdla_task_extent *extent,
		      struct nvdla_refusal *why);

#endif /* NVDLA_ARGS_H */

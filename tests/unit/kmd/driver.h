/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The driver's job code - nvdla_run.c, nvdla_reset.c, nvdla_recover.c, nvdla_cbuf.c - on a core
 * that a test plays, with as much around it as it needs. The scheduler is the test.
 */
#pragma once

#ifdef __cplusplus
#include <user/nvdla_engine.h>

extern "C" {
#else
#include <nvdla_io.h>
#include <nvdla_task.h>
#endif

/** \brief Two clients are enough for everything */
#define DRIVER_NUM_CLIENTS 2

struct driver;
struct nvdla_job;

struct driver *driver_create(const struct nvdla_io *io);
void driver_destroy(struct driver *driver);

/**
 * \brief A job of a client, with a buffer in on-chip memory
 *
 * \a tasks stay the caller's.
 */
struct nvdla_job *driver_job(struct driver *driver, unsigned int client, struct nvdla_task **tasks,
			     u32 num_tasks, bool restartable, u32 timeout_ms);
void driver_job_free(struct nvdla_job *job);

/** \brief The scheduler gives it out */
void driver_put_on(struct driver *driver, struct nvdla_job *job);
/** \brief All that is enabled completes */
void driver_complete(struct driver *driver);
/** \brief What a reset does to jobs, before and behind the bus' part in it */
void driver_stop(struct driver *driver);
void driver_start(struct driver *driver);
/** \brief The system goes to sleep, with whatever is on the core, and wakes */
void driver_sleep(struct driver *driver);
void driver_wake(struct driver *driver);
/** \brief The time of the job on the core is over, and it is taken off it. \return there was one */
bool driver_time_out(struct driver *driver);

/** \brief Something that keeps jobs from running, or does not any more */
void driver_kill(struct driver *driver);
void driver_unplug(struct driver *driver);
/** \brief The job that was to clear the buffer of \a job has failed */
void driver_undefine(struct nvdla_job *job);
/** \brief The job is the driver's own */
void driver_own(struct nvdla_job *job);

/** \brief -EINPROGRESS, or how it ended */
int driver_status(const struct nvdla_job *job);
u32 driver_num_runs(const struct nvdla_job *job);
/** \brief The core clears the convolution buffer for it */
bool driver_scrubs(const struct nvdla_job *job);
/** \brief Dumps that were made of the job */
unsigned int driver_dumps(const struct nvdla_job *job);
u64 driver_guilty(const struct driver *driver, unsigned int client);
/** \brief Resets of the core */
unsigned int driver_resets(const struct driver *driver);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "driver.h"

#include <stdlib.h>

#include <nvdla/hw/registers.h>

#include <nvdla_context.h>
#include <nvdla_device.h>
#include <nvdla_dump.h>
#include <nvdla_file.h>
#include <nvdla_gem.h>
#include <nvdla_job.h>
#include <nvdla_run.h>
#include <nvdla_user_task.h>

unsigned long jiffies = 1000;

struct driver {
	struct nvdla_device ndev;
	struct nvdla_file files[DRIVER_NUM_CLIENTS];
	struct nvdla_context contexts[DRIVER_NUM_CLIENTS];
	struct nvdla_bo zeroes;
	struct device dev;
	u32 registers[1 << 16];
	unsigned int resets;
};

struct driver_job {
	struct nvdla_job job;
	struct drm_sched_fence s_fence;
	struct dma_fence fence, clear;
	struct nvdla_bo bo;
	struct nvdla_job_bo bos[1];
	unsigned int dumps;
};

static struct driver *driver_of(struct nvdla_device *ndev)
{
	return container_of(ndev, struct driver, ndev);
}

static struct driver_job *driver_job_of(const struct nvdla_job *job)
{
	return container_of(job, struct driver_job, job);
}

/* The rest of the driver, as far as it is called */

struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, size_t size, u32 flags)
{
	struct nvdla_bo *zeroes = &driver_of(ndev)->zeroes;

	zeroes->base.size = size;
	return zeroes;
}

bool nvdla_bo_is_undefined(const struct nvdla_bo *bo)
{
	return bo->defined && bo->defined->error;
}

void nvdla_bo_begin_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size)
{
}

void nvdla_bo_end_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size)
{
}

void nvdla_coredump_capture(struct nvdla_job *job)
{
	driver_job_of(job)->dumps++;
}

void nvdla_counters_op_enabled(struct nvdla_counters *counters, struct nvdla_usage *usage,
			       u32 op_type)
{
}

void nvdla_counters_op_completed(struct nvdla_counters *counters, const struct nvdla_task *task,
				 u32 operation)
{
}

void nvdla_counters_stop(struct nvdla_counters *counters)
{
}

const char *nvdla_engine_name(u32 op_type)
{
	return "";
}

void nvdla_job_record_fill(struct nvdla_job_record *record, const struct nvdla_job *job, int error)
{
}

bool nvdla_registers_are_idle(struct nvdla_hw *hw)
{
	return true;
}

/* Set the interrupt status: the register is plain memory here, and reading clears nothing. */
static void driver_set_status(struct driver *driver, u32 status)
{
	nvdla_hw_write(&driver->ndev.hw, NVDLA_GLB_S_INTR_STATUS, status);
}

/* The bus: a core whose interrupt mask is zero was reset. */
static int driver_reset(struct device *dev)
{
	struct driver *driver = container_of(dev, struct driver, dev);

	nvdla_hw_write(&driver->ndev.hw, NVDLA_GLB_S_INTR_MASK, 0);
	driver->resets++;
	return 0;
}

static const struct nvdla_bus_ops driver_bus_ops = {
	.reset = driver_reset,
};

/* The interface for the tests */

struct driver *driver_create(const struct nvdla_io *io)
{
	struct driver *driver = calloc(1, sizeof(*driver));
	unsigned int i;

	driver->ndev.hw.variant = nvdla_variant_nv_full();
	for (i = 0; i < DRIVER_NUM_CLIENTS; i++) {
		driver->contexts[i].file = &driver->files[i];
		driver->files[i].usage.client_id = 1 + i;
	}
	driver->ndev.drm.dev = &driver->dev;
	driver->ndev.hw.drm = &driver->ndev.drm;
	driver->ndev.hw.bus_ops = &driver_bus_ops;
	driver->ndev.hw.regs = driver->registers;
	driver->ndev.hw.hw_version = driver->ndev.hw.variant->hw_version;
	nvdla_hw_write(&driver->ndev.hw, NVDLA_GLB_S_NVDLA_HW_VERSION,
		       driver->ndev.hw.hw_version);
	nvdla_recovery_init();
	nvdla_cbuf_init(&driver->ndev.hw);
	nvdla_sequencer_create(driver->ndev.hw.variant, io, &nvdla_job_sequencer_ops,
			       &driver->ndev.hw, &driver->ndev.hw.seq);
	return driver;
}

void driver_destroy(struct driver *driver)
{
	driver->ndev.drm.release(&driver->ndev.drm, driver->ndev.drm.release_data);
	nvdla_sequencer_destroy(driver->ndev.hw.seq);
	nvdla_recovery_fini();
	free(driver);
}

struct nvdla_job *driver_job(struct driver *driver, unsigned int client, struct nvdla_task **tasks,
			     u32 num_tasks, bool restartable, u32 timeout_ms)
{
	struct driver_job *created = calloc(1, sizeof(*created));
	struct nvdla_job *job = &created->job;

	created->bo.defined = &created->clear;
	created->bos[0].obj = &created->bo.base;
	job->base.s_fence = &created->s_fence;
	job->fence = &created->fence;
	job->hw = &driver->ndev.hw;
	job->context = &driver->contexts[client];
	job->tasks = tasks;
	job->num_tasks = num_tasks;
	job->bos = created->bos;
	job->num_bos = 1;
	job->restartable = restartable;
	job->timeout_ns = timeout_ms * NSEC_PER_MSEC;
	return job;
}

void driver_job_free(struct nvdla_job *job)
{
	free(driver_job_of(job));
}

void driver_put_on(struct driver *driver, struct nvdla_job *job)
{
	nvdla_job_put_on(job);
}

void driver_complete(struct driver *driver)
{
	driver_set_status(driver, driver->ndev.hw.variant->intr_mask);
	nvdla_hw_attend(&driver->ndev.hw);
}

void driver_stop(struct driver *driver)
{
	nvdla_hw_reset_prepare(&driver->ndev.hw);
}

void driver_start(struct driver *driver)
{
	driver_reset(&driver->dev);
	nvdla_hw_reset_done(&driver->ndev.hw, 0);
}

void driver_sleep(struct driver *driver)
{
	driver_set_status(driver, 0);
	driver->ndev.hw.sleeping = true;
	nvdla_job_drain(&driver->ndev.hw);
	nvdla_hw_stop(&driver->ndev.hw);
}

void driver_wake(struct driver *driver)
{
	driver->ndev.hw.sleeping = false;
	/* It lost its power. */
	nvdla_hw_write(&driver->ndev.hw, NVDLA_GLB_S_INTR_MASK, 0);
	nvdla_hw_start(&driver->ndev.hw);
}

bool driver_time_out(struct driver *driver)
{
	struct work_struct *work = &driver->ndev.hw.recover_work;

	driver_set_status(driver, 0);
	if (driver->ndev.hw.active)
		jiffies = nsecs_to_jiffies64(driver->ndev.hw.active->deadline_ns) + 1;
	if (!nvdla_jobs_recover(&driver->ndev.hw))
		return false;
	work->queued = false;
	nvdla_jobs_recover_work(work);
	return true;
}

void driver_kill(struct driver *driver)
{
	driver->ndev.hw.dead = true;
}

void driver_unplug(struct driver *driver)
{
	driver->ndev.drm.unplugged = true;
}

void driver_undefine(struct nvdla_job *job)
{
	driver_job_of(job)->clear.error = -EIO;
}

void driver_own(struct nvdla_job *job)
{
	job->own = true;
}

int driver_status(const struct nvdla_job *job)
{
	return job->fence->signalled ? job->fence->error : -EINPROGRESS;
}

u32 driver_num_runs(const struct nvdla_job *job)
{
	return job->num_runs;
}

bool driver_scrubs(const struct nvdla_job *job)
{
	return job->scrubbing;
}

unsigned int driver_dumps(const struct nvdla_job *job)
{
	return driver_job_of(job)->dumps;
}

u64 driver_guilty(const struct driver *driver, unsigned int client)
{
	return driver->files[client].guilty_jobs.counter;
}

unsigned int driver_resets(const struct driver *driver)
{
	return driver->resets;
}

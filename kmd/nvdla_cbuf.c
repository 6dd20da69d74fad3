// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The convolution buffer keeps what a convolution left there, bytes and pointers, for
 * the next one. Before the convolutions of another client's job it is cleared by a task
 * of the driver's own, which runs as the first one of that job and in its time.
 */
#include <drm/drm_gem.h>

#include <drm/nvdla_descriptors.h>

#include "engine/nvdla_scrub.h"
#include "nvdla_cbuf.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"

/* Is there an operation of that engine in the job? */
static bool nvdla_job_uses(const struct nvdla_job *job, u32 engine)
{
	u32 i;

	for (i = 0; i < job->num_tasks; i++)
		if (nvdla_task_uses(job->tasks[i], engine))
			return true;
	return false;
}

static int nvdla_cbuf_create_scrub(struct nvdla_device *ndev)
{
	struct nvdla_cbuf *cbuf = &ndev->cbuf;
	struct nvdla_task_extent extent = {
		.size = nvdla_scrub_memory_size(ndev->variant),
		.mem_type = NVDLA_MEM_MC,
		.present = true,
	};
	struct nvdla_bo *zeroes;
	int ret;

	zeroes = nvdla_bo_create(ndev, extent.size, 0);
	if (IS_ERR(zeroes))
		return PTR_ERR(zeroes);

	extent.dma_addr = zeroes->dma_addr;
	ret = nvdla_scrub_create(ndev->variant, &extent, &cbuf->scrub);
	if (ret) {
		drm_gem_object_put(&zeroes->base);
		return ret;
	}
	cbuf->zeroes = zeroes;
	return 0;
}

/**
 * nvdla_cbuf_prepare() - have what is needed to run a job after another client's
 * @job: job with all its tasks; the caller is between drm_dev_enter() and
 *	drm_dev_exit()
 *
 * Here, because nothing may be allocated once others wait for the job.
 *
 * Return: 0 or -errno.
 */
int nvdla_cbuf_prepare(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	struct nvdla_cbuf *cbuf = &ndev->cbuf;
	int ret = 0;

	job->convolves = nvdla_job_uses(job, NVDLA_OP_CONV);
	if (!job->convolves)
		return 0;

	mutex_lock(&cbuf->lock);
	if (!cbuf->scrub)
		ret = nvdla_cbuf_create_scrub(ndev);
	mutex_unlock(&cbuf->lock);
	return ret;
}

/**
 * nvdla_cbuf_claim() - give the buffer to the job that is about to begin
 * @job: job; the device is locked
 *
 * Return: the task to run first, or NULL if there is nothing of another client's.
 */
struct nvdla_task *nvdla_cbuf_claim(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	u64 client_id = job->context->file->usage.client_id;
	struct nvdla_cbuf *cbuf = &ndev->cbuf;
	struct nvdla_task *task;

	lockdep_assert_held(&ndev->lock);

	if (!job->convolves || cbuf->owner == client_id)
		return NULL;

	cbuf->owner = client_id;
	task = nvdla_scrub_task(cbuf->scrub, ndev->seq);
	cbuf->scrubs += !!task;
	return task;
}

/**
 * nvdla_cbuf_fini() - drop what the driver itself holds
 * @ndev: device that is unplugged and has no jobs
 */
void nvdla_cbuf_fini(struct nvdla_device *ndev)
{
	struct nvdla_cbuf *cbuf = &ndev->cbuf;

	mutex_lock(&cbuf->lock);
	nvdla_scrub_destroy(cbuf->scrub);
	cbuf->scrub = NULL;
	if (cbuf->zeroes)
		drm_gem_object_put(&cbuf->zeroes->base);
	cbuf->zeroes = NULL;
	mutex_unlock(&cbuf->lock);
}

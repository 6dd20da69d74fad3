/* SPDX-License-Identifier: MIT */
/*
 * DRM_IOCTL_NVDLA_SUBMIT on the embedded device.
 */
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <drm/nvdla_accel.h>

#include "device/embedded/executor.h"
#include "device/embedded/syncobj_table.h"
#include "device/embedded/task_table.h"
#include "user/nvdla_engine.h"

namespace nvdla
{

/** \brief Checks a submission in the same way as the kernel driver, and makes a job of it */
class SubmitReader
{
public:
	SubmitReader(const drm_nvdla_submit &args, const nvdla_variant &variant,
		     const BufferTable &buffers, const SyncobjTable &syncobjs,
		     const TaskTable &tasks, const JobQueue &queue)
		: args_(args), variant_(variant), buffers_(buffers), syncobjs_(syncobjs),
		  tasks_(tasks), queue_(queue)
	{
	}

	/** \return 0 or a negative errno; the caller must hold the device's lock */
	int read();

	/** \return the job, after read(). The caller has to add the job's fence to the job's
	 * buffers */
	std::unique_ptr<EmbeddedJob> takeJob() { return std::move(job_); }

	/** \brief A syncobj that gets the job's fence: at a point of its timeline, or if the point
	 * is 0, as a binary fence */
	struct OutSync {
		std::shared_ptr<Syncobj> syncobj;
		uint64_t point;
	};
	/** \return the syncobjs that get the job's fence; valid after read() */
	const std::vector<OutSync> &outSyncs() const { return outSyncs_; }

private:
	int readSync(uint64_t array, uint32_t index, drm_nvdla_sync &sync) const;
	int readArguments();
	int readInSyncs();
	int readOutSyncs();
	int readResult();
	int readTask(uint32_t index);
	int readAddress(uint32_t task, uint32_t index, const drm_nvdla_address &address,
			nvdla_task_extent &extent);
	int createTask(uint32_t index, const drm_nvdla_task &args, EnginePrepared prepared,
		       const std::vector<nvdla_task_extent> &extents);
	void use(const std::shared_ptr<EmbeddedBuffer> &buffer, bool write);

	int refuse(uint32_t task, nvdla_refusal &why);

	const drm_nvdla_submit &args_;
	const nvdla_variant &variant_;
	const BufferTable &buffers_;
	const SyncobjTable &syncobjs_;
	const TaskTable &tasks_;
	const JobQueue &queue_;
	std::unique_ptr<EmbeddedJob> job_;
	std::vector<OutSync> outSyncs_;
	std::vector<std::shared_ptr<EmbeddedBuffer>> extentBuffers_;
};

} /* namespace nvdla */

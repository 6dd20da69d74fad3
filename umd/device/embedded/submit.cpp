/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include <cerrno>

#include "device/clock.h"
#include "device/embedded/task_reader.h"

namespace nvdla
{

int SubmitReader::refuse(uint32_t task, nvdla_refusal &why)
{
	return refuseTask(args_.error, args_.error_size, task, why);
}

/* Checks the ioctl's own arguments, in the order of the kernel driver's checks. */
int SubmitReader::readArguments()
{
	nvdla_refusal why;

	if (nvdla_args_check_submit(&args_, &why))
		return refuse(0, why);
	return queue_.contains(args_.context) ? 0 : -ENOENT;
}

int SubmitReader::read()
{
	if (const int error = readArguments())
		return error;

	job_ = std::make_unique<EmbeddedJob>();
	job_->statistics = args_.flags & DRM_NVDLA_SUBMIT_STATISTICS;
	job_->timeout = std::chrono::milliseconds(args_.timeout_ms ? args_.timeout_ms
								   : NVDLA_DEFAULT_TIMEOUT_MS);
	if (const int error = readOutSyncs())
		return error;
	for (uint32_t i = 0; i < args_.num_tasks; i++) {
		if (const int error = readTask(i))
			return error;
	}
	if (const int error = readResult())
		return error;
	return readInSyncs();
}

/* Reads the place of the job's result, and sets the result's members that are known by now. */
int SubmitReader::readResult()
{
	if (!args_.result_handle)
		return 0;

	const auto buffer = buffers_.find(args_.result_handle);
	if (!buffer)
		return -ENOENT;
	job_->resultTasks = job_->taskPointers();
	const auto &tasks = job_->resultTasks;
	const uint64_t bytes = nvdla_result_size(tasks.data(), static_cast<u32>(tasks.size()));
	if (buffer->isOnChip() || args_.result_offset % alignof(drm_nvdla_job_result) ||
	    args_.result_offset > buffer->size() || bytes > buffer->size() - args_.result_offset)
		return -EINVAL;
	use(buffer, true);
	job_->resultBuffer = buffer;
	job_->resultOffset = args_.result_offset;
	job_->result.submit_ns = nowNs();
	return 0;
}

int SubmitReader::readSync(uint64_t array, uint32_t index, drm_nvdla_sync &sync) const
{
	if (const int error = copyElement(array, index, args_.sync_size, sync))
		return error;
	return sync.reserved ? -EINVAL : 0;
}

int SubmitReader::readInSyncs()
{
	for (uint32_t i = 0; i < args_.num_in_syncs; i++) {
		drm_nvdla_sync sync;
		if (const int error = readSync(args_.in_syncs, i, sync))
			return error;
		const auto syncobj = syncobjs_.find(sync.handle);
		if (!syncobj)
			return -ENOENT;
		const auto fences = syncobj->find(sync.point);
		if (!fences)
			return -EINVAL;
		job_->dependencies.insert(job_->dependencies.end(), fences->begin(), fences->end());
	}
	return 0;
}

int SubmitReader::readOutSyncs()
{
	for (uint32_t i = 0; i < args_.num_out_syncs; i++) {
		drm_nvdla_sync sync;
		if (const int error = readSync(args_.out_syncs, i, sync))
			return error;
		outSyncs_.push_back({ syncobjs_.find(sync.handle), sync.point });
		if (!outSyncs_.back().syncobj)
			return -ENOENT;
	}
	return 0;
}

int SubmitReader::readTask(uint32_t index)
{
	drm_nvdla_task task;

	if (const int error = copyElement(args_.tasks, index, args_.task_size, task))
		return error;

	nvdla_refusal why;
	if (nvdla_args_check_task(&task, &why))
		return refuse(index, why);

	EnginePrepared prepared;
	if (task.handle) {
		prepared = tasks_.find(task.handle);
		if (!prepared)
			return -ENOENT;
		if (nvdla_args_check_prepared(&task, nvdla_prepared_num_addresses(prepared.get()),
					      &why))
			return refuse(index, why);
	}

	UserArray<drm_nvdla_address> addresses;
	if (const int error = addresses.read(task.addresses, task.num_addresses, task.address_size))
		return error;
	std::vector<nvdla_task_extent> extents(task.num_addresses);
	extentBuffers_.assign(task.num_addresses, nullptr);
	for (uint32_t i = 0; i < task.num_addresses; i++) {
		if (const int error = readAddress(index, i, addresses.data()[i], extents[i]))
			return error;
	}
	return createTask(index, task, std::move(prepared), extents);
}

int SubmitReader::readAddress(uint32_t task, uint32_t index, const drm_nvdla_address &address,
			      nvdla_task_extent &extent)
{
	const auto buffer = address.handle ? buffers_.find(address.handle) : nullptr;
	nvdla_task_extent whole = {};
	nvdla_refusal why;

	if (buffer) {
		whole.dma_addr = buffer->dmaAddress;
		whole.size = buffer->size();
		whole.mem_type = buffer->isOnChip() ? NVDLA_MEM_CV : NVDLA_MEM_MC;
		whole.present = true;
	}
	if (nvdla_args_extent(&address, index, buffer ? &whole : nullptr, &extent, &why))
		return refuse(task, why);
	extentBuffers_[index] = buffer;
	return 0;
}

int SubmitReader::createTask(uint32_t index, const drm_nvdla_task &args, EnginePrepared prepared,
			     const std::vector<nvdla_task_extent> &extents)
{
	const u32 flags = job_->statistics ? NVDLA_TASK_STATISTICS : 0;
	nvdla_refusal why = {};
	nvdla_task *task = nullptr;
	int error;

	if (prepared) {
		error = nvdla_task_bind(prepared.get(), extents.data(), flags, &why, &task);
	} else {
		TaskReader reader;
		error = reader.read(args);
		if (error)
			return error;
		nvdla_task_source source = reader.source();
		source.extents = extents.data();
		source.flags = flags;
		error = nvdla_task_create(&variant_, &source, &why, &task);
	}
	if (error == -EINVAL)
		return refuse(index, why);
	if (error)
		return error;
	job_->prepared.push_back(std::move(prepared));
	job_->tasks.emplace_back(task);

	for (uint32_t i = 0; i < args.num_addresses; i++) {
		if (extentBuffers_[i])
			use(extentBuffers_[i], nvdla_task_access(task, i) & NVDLA_ACCESS_WRITE);
	}
	return 0;
}

void SubmitReader::use(const std::shared_ptr<EmbeddedBuffer> &buffer, bool write)
{
	for (EmbeddedJob::Use &known : job_->buffers) {
		if (known.buffer == buffer) {
			known.write = known.write || write;
			return;
		}
	}
	job_->buffers.push_back({ buffer, write });
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/clock.h"

namespace nvdla
{

namespace
{

/*
 * Element \a index of an array whose elements have \a size bytes in the
 * caller's eyes. As the kernel does: members that the caller does not know are
 * zero, those that are not known here have to be.
 */
template<typename T>
int copyElement(uint64_t array, uint32_t index, uint32_t size, T &to)
{
	const auto *from =
		reinterpret_cast<const unsigned char *>(array) + uint64_t{ index } * size;
	const size_t known = std::min<size_t>(size, sizeof(T));

	if (std::any_of(from + known, from + size, [](unsigned char byte) { return byte; }))
		return -E2BIG;
	to = {};
	std::memcpy(&to, from, known);
	return 0;
}

/* An array as the engine knows it: the caller's own, or a copy if sizes differ. */
template<typename T>
class Elements
{
public:
	/** \return 0 or a negative errno */
	int read(uint64_t array, uint32_t count, uint32_t size)
	{
		if (!count)
			return 0;
		if (!array)
			return -EFAULT;
		/* Nobody else writes to it before the caller has its answer. */
		data_ = reinterpret_cast<const T *>(array);
		if (size == sizeof(T))
			return 0;

		copy_.resize(count);
		data_ = copy_.data();
		for (uint32_t i = 0; i < count; i++) {
			if (const int error = copyElement(array, i, size, copy_[i]))
				return error;
		}
		return 0;
	}

	const T *data() const { return data_; }

private:
	const T *data_ = nullptr;
	std::vector<T> copy_;
};

} /* namespace */

int SubmitReader::refuse(uint32_t task, drm_nvdla_error &error)
{
	error.task = task;
	if (args_.error)
		std::memcpy(reinterpret_cast<void *>(args_.error), &error,
			    std::min<size_t>(args_.error_size, sizeof(error)));
	return -EINVAL;
}

/* The ioctl's own arguments, in the order in which the driver looks at them. */
int SubmitReader::readArguments()
{
	drm_nvdla_error error;

	if (nvdla_args_check_submit(&args_, &error))
		return refuse(0, error);
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

/* Where the result goes, and what of it is known before the job runs. */
int SubmitReader::readResult()
{
	if (!args_.result_handle)
		return 0;

	const auto buffer = buffers_.find(args_.result_handle);
	if (!buffer)
		return -ENOENT;
	const auto tasks = job_->taskPointers();
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

	drm_nvdla_error why;
	if (nvdla_args_check_task(&task, &why))
		return refuse(index, why);

	std::vector<nvdla_task_extent> extents(task.num_addresses);
	extentBuffers_.assign(task.num_addresses, nullptr);
	for (uint32_t i = 0; i < task.num_addresses; i++) {
		drm_nvdla_address address;
		int error = copyElement(task.addresses, i, task.address_size, address);
		if (!error)
			error = readAddress(index, i, address, extents[i]);
		if (error)
			return error;
	}
	return createTask(index, task, extents);
}

int SubmitReader::readAddress(uint32_t task, uint32_t index, const drm_nvdla_address &address,
			      nvdla_task_extent &extent)
{
	const auto buffer = address.handle ? buffers_.find(address.handle) : nullptr;
	nvdla_task_extent whole = {};
	drm_nvdla_error why;

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

int SubmitReader::createTask(uint32_t index, const drm_nvdla_task &args,
			     const std::vector<nvdla_task_extent> &extents)
{
	Elements<nvdla_graph_node> graph;
	Elements<nvdla_operation_desc> operations;
	Elements<nvdla_surface_desc> surfaces;
	Elements<nvdla_lut_desc> luts;
	nvdla_task_source source = {};
	drm_nvdla_error why = {};
	nvdla_task *task = nullptr;

	int error = graph.read(args.graph, args.num_operations, args.node_size);
	if (!error)
		error = operations.read(args.operations, args.num_operations, args.operation_size);
	if (!error)
		error = surfaces.read(args.surfaces, args.num_operations, args.surface_size);
	if (!error)
		error = luts.read(args.luts, args.num_luts, args.lut_size);
	if (error)
		return error;

	source.graph = graph.data();
	source.operations = operations.data();
	source.surfaces = surfaces.data();
	source.luts = luts.data();
	source.extents = extents.data();
	source.num_operations = args.num_operations;
	source.num_luts = args.num_luts;
	source.num_extents = args.num_addresses;
	source.flags = job_->statistics ? NVDLA_TASK_STATISTICS : 0;

	error = nvdla_task_create(&variant_, &source, &why, &task);
	if (error == -EINVAL)
		return refuse(index, why);
	if (error)
		return error;
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

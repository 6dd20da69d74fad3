/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "device/clock.h"

namespace nvdla
{

namespace
{

/* What user space may think a structure's size is. */
constexpr uint32_t maxStructSize = 4096;

/*
 * Element \a index of an array whose elements have \a size bytes in the
 * caller's eyes. As the kernel does: members it does not know have to be zero.
 */
template<typename T>
int copyElement(uint64_t array, uint32_t index, uint32_t size, T &to)
{
	const auto *from =
		reinterpret_cast<const unsigned char *>(array) + uint64_t{ index } * size;

	if (std::any_of(from + sizeof(T), from + size, [](unsigned char byte) { return byte; }))
		return -E2BIG;
	std::memcpy(&to, from, sizeof(T));
	return 0;
}

template<typename T>
bool sizeIsFine(uint32_t size)
{
	return size >= sizeof(T) && size <= maxStructSize;
}

void copyText(char *to, size_t size, const char *from)
{
	const size_t length = strnlen(from, size - 1);

	std::memcpy(to, from, length);
	to[length] = '\0';
}

} /* namespace */

void SubmitReader::report(uint32_t task, const nvdla_task_error &why)
{
	drm_nvdla_error error = {};

	error.task = task;
	error.operation = why.operation;
	error.op_type = why.op_type;
	error.value = why.value;
	error.limit = why.limit;
	copyText(error.field, sizeof(error.field), why.field);
	copyText(error.reason, sizeof(error.reason), why.reason);
	if (args_.error)
		std::memcpy(reinterpret_cast<void *>(args_.error), &error,
			    std::min<size_t>(args_.error_size, sizeof(error)));
}

int SubmitReader::badMember(uint32_t task, const std::string &field, uint64_t value, uint64_t limit,
			    const char *reason)
{
	nvdla_task_error why = {};

	why.operation = NVDLA_TASK_NO_OPERATION;
	why.op_type = ~0u;
	why.value = value;
	why.limit = limit;
	copyText(why.field, sizeof(why.field), field.c_str());
	copyText(why.reason, sizeof(why.reason), reason);
	report(task, why);
	return -EINVAL;
}

int SubmitReader::checkCounts(uint32_t task, std::span<const Count> counts)
{
	for (const Count &count : counts) {
		if (count.value < count.least || count.value > count.most)
			return badMember(task, count.member, count.value, count.most,
					 "not in the accepted range");
	}
	return 0;
}

/* The ioctl's own arguments, in the order in which the driver looks at them. */
int SubmitReader::readArguments()
{
	constexpr uint32_t knownFlags = DRM_NVDLA_SUBMIT_STATISTICS | DRM_NVDLA_SUBMIT_RESTARTABLE;

	if (args_.flags & ~knownFlags || args_.timeout_ms > embeddedMaxTimeoutMs)
		return -EINVAL;
	if (!args_.result_handle &&
	    (args_.result_offset || args_.flags & DRM_NVDLA_SUBMIT_STATISTICS))
		return -EINVAL;
	if (!sizeIsFine<drm_nvdla_task>(args_.task_size))
		return -EINVAL;
	if ((args_.num_in_syncs || args_.num_out_syncs) &&
	    !sizeIsFine<drm_nvdla_sync>(args_.sync_size))
		return -EINVAL;

	const Count counts[] = {
		{ "num_tasks", args_.num_tasks, 1, embeddedMaxTasks },
		{ "num_in_syncs", args_.num_in_syncs, 0, embeddedMaxSyncs },
		{ "num_out_syncs", args_.num_out_syncs, 0, embeddedMaxSyncs },
	};
	if (const int error = checkCounts(0, counts))
		return error;
	return queue_.contains(args_.context) ? 0 : -ENOENT;
}

int SubmitReader::read()
{
	if (const int error = readArguments())
		return error;

	job_ = std::make_unique<EmbeddedJob>();
	job_->statistics = args_.flags & DRM_NVDLA_SUBMIT_STATISTICS;
	job_->timeout = std::chrono::milliseconds(args_.timeout_ms ? args_.timeout_ms
								   : embeddedDefaultTimeoutMs);
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

	const Count counts[] = {
		{ "num_operations", task.num_operations, 1, NVDLA_TASK_MAX_OPERATIONS },
		{ "num_luts", task.num_luts, 0, NVDLA_TASK_MAX_LUTS },
		{ "num_addresses", task.num_addresses, 1, NVDLA_TASK_MAX_ADDRESSES },
		{ "address_size", task.address_size, sizeof(drm_nvdla_address), maxStructSize },
	};
	if (const int error = checkCounts(index, counts))
		return error;

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
	auto bad = [&](const char *member, uint64_t value, uint64_t limit, const char *reason) {
		return badMember(task, fmt::format("addresses[{}].{}", index, member), value, limit,
				 reason);
	};

	if (address.reserved)
		return bad("reserved", address.reserved, 0, "must be zero");
	if (!address.handle)
		return 0;
	const auto buffer = buffers_.find(address.handle);
	if (!buffer)
		return bad("handle", address.handle, 0, "no such buffer");

	const uint64_t bytes = buffer->size();
	if (address.offset > bytes)
		return bad("offset", address.offset, bytes, "behind the end of the buffer");
	const uint64_t rest = bytes - address.offset;
	if (address.size > rest)
		return bad("size", address.size, rest, "behind the end of the buffer");

	extent.dma_addr = buffer->dmaAddress + address.offset;
	extent.size = address.size ? address.size : rest;
	extent.mem_type = buffer->isOnChip() ? NVDLA_MEM_CV : NVDLA_MEM_MC;
	extent.present = true;
	extentBuffers_[index] = buffer;
	return 0;
}

int SubmitReader::createTask(uint32_t index, const drm_nvdla_task &args,
			     const std::vector<nvdla_task_extent> &extents)
{
	nvdla_task_source source = {};
	nvdla_task_error why = {};
	nvdla_task *task = nullptr;

	/* Nobody else writes to the arrays before the caller has its answer. */
	source.graph = reinterpret_cast<const nvdla_graph_node *>(args.graph);
	source.operations = reinterpret_cast<const nvdla_operation_desc *>(args.operations);
	source.surfaces = reinterpret_cast<const nvdla_surface_desc *>(args.surfaces);
	source.luts = args.num_luts ? reinterpret_cast<const nvdla_lut_desc *>(args.luts) : nullptr;
	source.extents = extents.data();
	source.num_operations = args.num_operations;
	source.num_luts = args.num_luts;
	source.num_extents = args.num_addresses;
	source.flags = job_->statistics ? NVDLA_TASK_STATISTICS : 0;
	if (!source.graph || !source.operations || !source.surfaces ||
	    (args.num_luts && !source.luts))
		return -EFAULT;

	const int error = nvdla_task_create(&variant_, &source, &why, &task);
	if (error == -EINVAL)
		report(index, why);
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

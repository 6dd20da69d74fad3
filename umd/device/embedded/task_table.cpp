/* SPDX-License-Identifier: MIT */
#include "task_table.h"

#include <cerrno>

#include "device/embedded/task_reader.h"
#include "user/nvdla_engine.h"

namespace nvdla
{

int TaskTable::create(const nvdla_variant &variant, drm_nvdla_task_create &args)
{
	drm_nvdla_task task;
	nvdla_refusal why;

	if (args.flags || args.task_size < NVDLA_MIN_TASK_SIZE ||
	    args.task_size > NVDLA_MAX_ELEMENT_SIZE)
		return -EINVAL;
	if (const int error = copyElement(args.task, 0, args.task_size, task))
		return error;
	if (nvdla_args_check_template(&task, &why))
		return refuseTask(args.error, args.error_size, 0, why);

	TaskReader reader;
	if (const int error = reader.read(task))
		return error;
	nvdla_prepared *created = nullptr;
	const int error = nvdla_prepared_create(&variant, &reader.source(), &why, &created);
	if (error == -EINVAL)
		return refuseTask(args.error, args.error_size, 0, why);
	if (error)
		return error;
	EnginePrepared prepared(created, nvdla_prepared_destroy);

	const uint64_t bytes = nvdla_prepared_bytes(created);
	if (bytes > NVDLA_MAX_TASK_BYTES - bytes_)
		return -ENOSPC;
	bytes_ += bytes;
	args.handle = nextHandle_++;
	tasks_.emplace(args.handle, std::move(prepared));
	return 0;
}

int TaskTable::destroy(const drm_nvdla_task_destroy &args)
{
	const auto entry = tasks_.find(args.handle);

	if (args.reserved)
		return -EINVAL;
	if (entry == tasks_.end())
		return -ENOENT;
	bytes_ -= nvdla_prepared_bytes(entry->second.get());
	tasks_.erase(entry);
	return 0;
}

EnginePrepared TaskTable::find(uint32_t handle) const
{
	const auto entry = tasks_.find(handle);
	return entry == tasks_.end() ? nullptr : entry->second;
}

} /* namespace nvdla */

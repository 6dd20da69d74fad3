/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <nvdla/device.h>

#include "drm_calls.h"
#include "drm_device.h"
#include "embedded/embedded_device.h"

namespace nvdla
{

namespace
{

ErrorCode codeOf(int error)
{
	switch (error) {
	case -ENOMEM:
	case -ENOSPC:
		return ErrorCode::NoMemory;
	case -ENODEV:
		return ErrorCode::DeviceFailed;
	case -EINVAL:
		return ErrorCode::InvalidArgument;
	default:
		return ErrorCode::Io;
	}
}

template<typename T>
uint64_t pointer(const T *data)
{
	return reinterpret_cast<uintptr_t>(data);
}

/* What the driver found wrong, in words. */
Error refusal(const DeviceBackend &backend, const drm_nvdla_error &error)
{
	static constexpr const char *engines[] = { "BDMA", "CONV", "SDP", "PDP", "CDP", "RUBIK" };
	std::string where = fmt::format("{}: task {}", backend.path(), error.task);

	if (error.operation != ~0u) {
		where += fmt::format(" operation {}", error.operation);
		if (error.op_type < std::size(engines))
			where += fmt::format(" ({})", engines[error.op_type]);
	}
	const std::string field(error.field, strnlen(error.field, sizeof(error.field)));
	const std::string reason(error.reason, strnlen(error.reason, sizeof(error.reason)));
	return { ErrorCode::DeviceRefused, "submit job", where + " " + field,
		 fmt::format("{} (is {}, limit {})", reason, static_cast<int64_t>(error.value),
			     static_cast<int64_t>(error.limit)) };
}

} /* namespace */

std::vector<std::string> Device::enumerate()
{
	return DrmDevice::enumerate();
}

Result<Device> Device::open(const std::string &path)
{
	if (path == embeddedPath) {
		auto embedded = EmbeddedDevice::open();
		if (!embedded)
			return forward(embedded);
		return open(std::shared_ptr<DeviceBackend>(std::move(*embedded)));
	}
	auto drm = DrmDevice::open(path);
	if (!drm)
		return forward(drm);
	return open(std::shared_ptr<DeviceBackend>(std::move(*drm)));
}

Result<Device> Device::open(std::shared_ptr<DeviceBackend> backend)
{
	drm_nvdla_device_info info = {};
	drm_nvdla_dev_query query = {};

	query.type = DRM_NVDLA_QUERY_DEVICE;
	query.size = sizeof(info);
	query.pointer = pointer(&info);
	if (const int error = backend->ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query))
		return fail(codeOf(error), "query device", backend->path(), std::strerror(-error));
	return Device(std::move(backend), info);
}

const std::string &Device::path() const
{
	return backend_->path();
}

Result<Buffer> Device::allocate(uint64_t size) const
{
	constexpr const char *what = "allocate device memory";
	drm_nvdla_bo_create create = {};

	create.size = size;
	if (const int error = backend_->ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create))
		return fail(codeOf(error), what, path(),
			    fmt::format("{} bytes: {}", size, std::strerror(-error)));

	/* From here on the handle is the buffer's to close. */
	Buffer buffer(backend_, create.handle, size, nullptr, 0);
	drm_nvdla_bo_mmap_offset place = {};
	place.handle = create.handle;
	if (const int error = backend_->ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &place))
		return fail(codeOf(error), what, path(), std::strerror(-error));
	auto mapping = backend_->map(place.offset, create.size);
	if (!mapping)
		return fail(codeOf(mapping.error()), what, path(),
			    fmt::format("map {} bytes: {}", size, std::strerror(-mapping.error())));
	buffer.mapping_ = *mapping;
	buffer.mappingSize_ = create.size;
	return buffer;
}

Result<Job> Device::submit(std::span<const JobTask> tasks, std::chrono::milliseconds timeout) const
{
	constexpr const char *what = "submit job";
	std::vector<std::vector<drm_nvdla_address>> addresses;
	std::vector<drm_nvdla_task> args;

	for (const JobTask &task : tasks) {
		if (task.operations.size() != task.graph.size() ||
		    task.surfaces.size() != task.graph.size())
			return fail(ErrorCode::InvalidArgument, what, path(),
				    fmt::format("{} graph nodes, {} operations and {} surfaces",
						task.graph.size(), task.operations.size(),
						task.surfaces.size()));
		auto &table = addresses.emplace_back();
		for (const BufferRange &range : task.addresses)
			table.push_back({ range.handle, 0, range.offset, range.size });

		drm_nvdla_task arg = {};
		arg.graph = pointer(task.graph.data());
		arg.operations = pointer(task.operations.data());
		arg.surfaces = pointer(task.surfaces.data());
		arg.luts = pointer(task.luts.data());
		arg.addresses = pointer(table.data());
		arg.num_operations = static_cast<__u32>(task.graph.size());
		arg.num_luts = static_cast<__u32>(task.luts.size());
		arg.num_addresses = static_cast<__u32>(table.size());
		arg.address_size = sizeof(drm_nvdla_address);
		args.push_back(arg);
	}

	auto syncobj = createSyncobj(*backend_);
	if (!syncobj)
		return fail(codeOf(syncobj.error()), what, path(), std::strerror(-syncobj.error()));
	Job job(backend_, *syncobj);

	drm_nvdla_sync out = {};
	out.handle = *syncobj;
	drm_nvdla_error error = {};
	drm_nvdla_submit submit = {};
	submit.tasks = pointer(args.data());
	submit.out_syncs = pointer(&out);
	submit.error = pointer(&error);
	submit.num_tasks = static_cast<__u32>(args.size());
	submit.task_size = sizeof(drm_nvdla_task);
	submit.num_out_syncs = 1;
	submit.sync_size = sizeof(drm_nvdla_sync);
	submit.error_size = sizeof(error);
	submit.timeout_ms =
		static_cast<__u32>(std::clamp<int64_t>(timeout.count(), 0, info_.max_timeout_ms));

	const int result = backend_->ioctl(DRM_IOCTL_NVDLA_SUBMIT, &submit);
	if (result == -EINVAL && error.reason[0])
		return tl::unexpected(refusal(*backend_, error));
	if (result)
		return fail(result == -EINVAL ? ErrorCode::DeviceRefused : codeOf(result), what,
			    path(), std::strerror(-result));
	return job;
}

} /* namespace nvdla */

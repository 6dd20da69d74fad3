/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace nvdla::test
{

namespace
{

uint64_t userPointer(const void *pointer)
{
	return reinterpret_cast<uintptr_t>(pointer);
}

int64_t deadline(int64_t timeoutNs)
{
	const auto nowNs = static_cast<int64_t>(now());
	return timeoutNs > INT64_MAX - nowNs ? INT64_MAX : nowNs + timeoutNs;
}

} /* namespace */

std::string Device::path()
{
	const char *path = std::getenv("NVDLA_DEVICE");
	return path ? path : "/dev/accel/accel0";
}

int Device::ioctl(unsigned long request, void *argument) const
{
	return node_ ? node_->ioctl(request, argument) : -EBADF;
}

drm_nvdla_device_info Device::info() const
{
	drm_nvdla_device_info info = {};
	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
				      .size = sizeof(info),
				      .pointer = userPointer(&info) };
	return ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query) ? drm_nvdla_device_info{} : info;
}

int Device::closeHandle(uint32_t handle) const
{
	drm_gem_close close = { .handle = handle, .pad = 0 };
	return ioctl(DRM_IOCTL_GEM_CLOSE, &close);
}

int Device::createContext(drm_nvdla_priority priority) const
{
	drm_nvdla_context_create create = {};
	create.priority = priority;
	const int ret = ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create);
	return ret ? ret : static_cast<int>(create.context);
}

int Device::destroyContext(uint32_t context) const
{
	drm_nvdla_context_destroy destroy = { .context = context, .reserved = 0 };
	return ioctl(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy);
}

int64_t Device::prepareTask(drm_nvdla_task task, drm_nvdla_error &error) const
{
	drm_nvdla_task_create create = {};

	task.addresses = 0;
	task.address_size = 0;
	create.task = userPointer(&task);
	create.task_size = sizeof(task);
	create.error = userPointer(&error);
	create.error_size = sizeof(error);
	const int ret = ioctl(DRM_IOCTL_NVDLA_TASK_CREATE, &create);
	return ret ? ret : int64_t{ create.handle };
}

int Device::destroyTask(uint32_t handle) const
{
	drm_nvdla_task_destroy destroy = { .handle = handle, .reserved = 0 };
	return ioctl(DRM_IOCTL_NVDLA_TASK_DESTROY, &destroy);
}

uint32_t Device::createSyncobj() const
{
	drm_syncobj_create create = {};
	return ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

int Device::destroySyncobj(uint32_t handle) const
{
	drm_syncobj_destroy destroy = { .handle = handle, .pad = 0 };
	return ioctl(DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

int Device::waitSyncobj(uint32_t handle, uint64_t point, int64_t timeoutNs, uint32_t flags) const
{
	if (!point) {
		drm_syncobj_wait wait = {};
		wait.handles = userPointer(&handle);
		wait.timeout_nsec = deadline(timeoutNs);
		wait.count_handles = 1;
		wait.flags = flags;
		return ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	}
	drm_syncobj_timeline_wait wait = {};
	wait.handles = userPointer(&handle);
	wait.points = userPointer(&point);
	wait.timeout_nsec = deadline(timeoutNs);
	wait.count_handles = 1;
	wait.flags = flags;
	return ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

int64_t Device::querySyncobj(uint32_t handle) const
{
	uint64_t point = 0;
	drm_syncobj_timeline_array query = {};
	query.handles = userPointer(&handle);
	query.points = userPointer(&point);
	query.count_handles = 1;
	const int ret = ioctl(DRM_IOCTL_SYNCOBJ_QUERY, &query);
	return ret ? ret : static_cast<int64_t>(point);
}

int Device::fenceStatus(uint32_t handle) const
{
	return node_->fenceStatus(handle);
}

Buffer::Buffer(const Device &device, uint64_t size, uint32_t flags) : device_(device), size_(size)
{
	drm_nvdla_bo_create create = { .size = size, .flags = flags, .handle = 0 };
	if (device.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create))
		return;
	handle_ = create.handle;

	drm_nvdla_bo_mmap_offset offset = { .handle = handle_, .flags = 0, .offset = 0 };
	if (device.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset))
		return;
	map_ = static_cast<uint8_t *>(device.node().map(offset.offset, size));
}

Buffer::~Buffer()
{
	if (map_)
		device_.node().unmap(map_, size_);
	if (handle_)
		device_.closeHandle(handle_);
}

int Buffer::prepare(uint32_t flags, int64_t timeoutNs) const
{
	drm_nvdla_bo_prep prep = { .handle = handle_, .flags = flags, .timeout_ns = timeoutNs };
	return device_.ioctl(DRM_IOCTL_NVDLA_BO_PREP, &prep);
}

int Buffer::finish() const
{
	drm_nvdla_bo_fini fini = { .handle = handle_, .flags = 0 };
	return device_.ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini);
}

uint16_t CopyTask::addAddress(uint32_t handle, uint64_t offset, uint64_t size)
{
	addresses.push_back({ .handle = handle, .reserved = 0, .offset = offset, .size = size });
	return static_cast<uint16_t>(addresses.size() - 1);
}

void CopyTask::addCopy(int16_t source, int16_t destination, uint32_t lineBytes, uint32_t lines)
{
	nvdla_graph_node node = {};
	node.index = static_cast<int16_t>(graph.size());
	node.op_type = NVDLA_OP_BDMA;
	for (nvdla_consumer &consumer : node.consumers)
		consumer.index = -1;
	node.fused_parent.index = -1;
	if (!graph.empty()) {
		graph.back().consumers[NVDLA_OP_BDMA].index = node.index;
		graph.back().consumers[NVDLA_OP_BDMA].event = NVDLA_EVENT_OP_COMPLETED;
		node.dependency_count = 1;
	}
	graph.push_back(node);

	nvdla_operation_desc operation = {};
	operation.bdma.num_transfers = 1;
	operations.push_back(operation);

	nvdla_surface_desc surface = {};
	surface.bdma.src_type = NVDLA_MEM_MC;
	surface.bdma.dst_type = NVDLA_MEM_MC;
	surface.bdma.num_transfers = 1;
	nvdla_bdma_transfer &transfer = surface.bdma.transfers[0];
	transfer.src_address = source;
	transfer.dst_address = destination;
	transfer.line_size = lineBytes;
	transfer.line_repeat = lines;
	transfer.src_line = lineBytes;
	transfer.dst_line = lineBytes;
	transfer.surf_repeat = 1;
	transfer.src_surf = lineBytes * lines;
	transfer.dst_surf = lineBytes * lines;
	surfaces.push_back(surface);
}

void CopyTask::addLines(const Buffer &source, const Buffer &destination, uint32_t lineBytes)
{
	for (uint64_t offset = 0; offset < source.bytes().size(); offset += lineBytes) {
		const auto from = addAddress(source.handle(), offset, lineBytes);
		const auto to = addAddress(destination.handle(), offset, lineBytes);
		addCopy(static_cast<int16_t>(from), static_cast<int16_t>(to), lineBytes, 1);
	}
}

drm_nvdla_task CopyTask::task() const
{
	drm_nvdla_task task = {};
	task.graph = userPointer(graph.data());
	task.operations = userPointer(operations.data());
	task.surfaces = userPointer(surfaces.data());
	task.addresses = userPointer(addresses.data());
	task.num_operations = static_cast<uint32_t>(graph.size());
	task.num_addresses = static_cast<uint32_t>(addresses.size());
	task.address_size = sizeof(drm_nvdla_address);
	task.node_size = sizeof(nvdla_graph_node);
	task.operation_size = sizeof(nvdla_operation_desc);
	task.surface_size = sizeof(nvdla_surface_desc);
	task.lut_size = sizeof(nvdla_lut_desc);
	return task;
}

drm_nvdla_task CopyTask::prepared(uint32_t handle) const
{
	drm_nvdla_task task = {};
	task.addresses = userPointer(addresses.data());
	task.num_addresses = static_cast<uint32_t>(addresses.size());
	task.address_size = sizeof(drm_nvdla_address);
	task.handle = handle;
	return task;
}

int Submit::run(const Device &device)
{
	drm_nvdla_submit submit = {};
	submit.tasks = userPointer(tasks.data());
	submit.in_syncs = userPointer(inSyncs.data());
	submit.out_syncs = userPointer(outSyncs.data());
	submit.error = userPointer(&error);
	submit.num_tasks = static_cast<uint32_t>(tasks.size());
	submit.task_size = sizeof(drm_nvdla_task);
	submit.num_in_syncs = static_cast<uint32_t>(inSyncs.size());
	submit.num_out_syncs = static_cast<uint32_t>(outSyncs.size());
	submit.sync_size = sizeof(drm_nvdla_sync);
	submit.error_size = sizeof(error);
	submit.timeout_ms = timeoutMs;
	submit.flags = flags;
	submit.context = context;
	submit.result_handle = resultHandle;
	submit.result_offset = resultOffset;
	return device.ioctl(DRM_IOCTL_NVDLA_SUBMIT, &submit);
}

int Submit::runToTheEnd(const Device &device)
{
	const uint32_t syncobj = device.createSyncobj();

	outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
	int ret = run(device);
	if (!ret)
		ret = device.waitSyncobj(syncobj);
	if (!ret && device.fenceStatus(syncobj) != 1)
		ret = device.fenceStatus(syncobj);
	device.destroySyncobj(syncobj);
	return ret;
}

drm_nvdla_job_result JobResult::job() const
{
	drm_nvdla_job_result job;
	std::memcpy(&job, buffer_.bytes().data(), sizeof(job));
	return job;
}

drm_nvdla_operation_result JobResult::operation(uint32_t index) const
{
	const drm_nvdla_job_result result = job();
	drm_nvdla_operation_result operation;
	std::memcpy(&operation,
		    buffer_.bytes().data() + result.header_size + index * result.operation_size,
		    sizeof(operation));
	return operation;
}

uint64_t now()
{
	timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
	       static_cast<uint64_t>(time.tv_nsec);
}

} /* namespace nvdla::test */

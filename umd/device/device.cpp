/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>

#include <unistd.h>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>
#include <nvdla/device.h>
#include <nvdla/task.h>

#include "base/io/guarded.h"
#include "buffer_memory.h"
#include "device/embedded/embedded_device.h"
#include "device/embedded/embedded_options.h"
#include "drm_calls.h"
#include "drm_device.h"
#include "errno_code.h"
#include "explain.h"
#include "refusal.h"

namespace nvdla
{

namespace
{

template<typename Enum>
constexpr bool is(Enum value, uint64_t bit)
{
	return static_cast<uint64_t>(value) == bit;
}

static_assert(is(Feature::Contexts, DRM_NVDLA_FEATURE_CONTEXTS));
static_assert(is(Feature::Results, DRM_NVDLA_FEATURE_RESULTS));
static_assert(is(Feature::Statistics, DRM_NVDLA_FEATURE_STATISTICS));
static_assert(is(Feature::OnChipMemory, DRM_NVDLA_FEATURE_SRAM));
static_assert(is(Feature::DmaBuf, DRM_NVDLA_FEATURE_PRIME));
static_assert(is(Feature::Timeline, DRM_NVDLA_FEATURE_TIMELINE));
static_assert(is(Feature::WriteCombine, DRM_NVDLA_FEATURE_WRITE_COMBINE));
static_assert(is(Feature::PreparedTasks, DRM_NVDLA_FEATURE_PREPARED_TASKS));
static_assert(is(Capability::Winograd, DRM_NVDLA_CAPABILITY_WINOGRAD));
static_assert(is(Capability::Compression, DRM_NVDLA_CAPABILITY_COMPRESSION));
static_assert(is(Capability::SdpY, DRM_NVDLA_CAPABILITY_SDP_Y));
static_assert(static_cast<uint32_t>(Priority::Low) == DRM_NVDLA_PRIORITY_LOW);
static_assert(static_cast<uint32_t>(Priority::Normal) == DRM_NVDLA_PRIORITY_NORMAL);
static_assert(static_cast<uint32_t>(Priority::High) == DRM_NVDLA_PRIORITY_HIGH);

/* Converts the driver's answer. Members that an older driver does not know are 0. */
DeviceInfo infoOf(const drm_nvdla_device_info &said)
{
	return { .variant = said.variant,
		 .hwVersion = said.hw_version,
		 .engines = said.engines,
		 .precisions = said.precisions,
		 .atomBytes = said.atom_bytes,
		 .maxOperations = said.max_operations,
		 .maxLuts = said.max_luts,
		 .maxAddresses = said.max_addresses,
		 .maxTasks = said.max_tasks,
		 .defaultTimeoutMs = said.default_timeout_ms,
		 .maxTimeoutMs = said.max_timeout_ms,
		 .onChipBytes = said.cvsram_bytes,
		 .maxBufferBytes = said.max_bo_bytes,
		 .features = said.features,
		 .coreClockHz = said.core_clock_hz,
		 .priorities = said.priorities,
		 .maxContexts = said.max_contexts,
		 .maxOnChipBytes = said.max_sram_bytes,
		 .maxTaskBytes = said.max_task_bytes,
		 .capabilities = said.capabilities,
		 .maxBatch = said.max_batch,
		 .weightAlignment = said.weight_alignment,
		 .weightSizeAlignment = said.weight_size_alignment,
		 .macChannels = said.mac_channels,
		 .int8Kernels = said.int8_kernels,
		 .bufferBanks = said.cbuf_banks,
		 .bankEntries = said.cbuf_bank_entries,
		 .entryBytes = said.cbuf_entry_bytes };
}

template<typename T>
uint64_t pointer(const T *data)
{
	return reinterpret_cast<uintptr_t>(data);
}

/* Returns the driver's refusal in words. \a said: the driver's answer. \a known: the answer of this
 * library's copy of the driver's checks, which may differ if the driver has another version. */
Error refusal(const DeviceBackend &backend, const char *what, const drm_nvdla_error &said,
	      const std::optional<nvdla_refusal> &known)
{
	static constexpr const char *engines[] = { "BDMA", "CONV", "SDP", "PDP", "CDP", "RUBIK" };
	const bool isKnown = known && known->error.operation == said.operation &&
			     known->error.member_of == said.member_of &&
			     known->error.offset == said.offset;
	const uint32_t engine = isKnown ? known->op_type : ~0u;
	std::string where = fmt::format("{}: task {}", backend.path(), said.task);

	if (said.operation != ~0u) {
		where += fmt::format(" operation {}", said.operation);
		if (engine < std::size(engines))
			where += fmt::format(" ({})", engines[engine]);
	}
	return { ErrorCode::DeviceRefused, what, where + " " + refusedField(said, engine),
		 isKnown ? refusalReason(*known) :
			   "the driver asks for something that this version does not know" };
}

/* Describes a task for the driver, without the address table. */
drm_nvdla_task describe(const TaskGraph &graph)
{
	drm_nvdla_task task = {};

	task.graph = pointer(graph.graph.data());
	task.operations = pointer(graph.operations.data());
	task.surfaces = pointer(graph.surfaces.data());
	task.luts = pointer(graph.luts.data());
	task.num_operations = static_cast<__u32>(graph.graph.size());
	task.num_luts = static_cast<__u32>(graph.luts.size());
	task.node_size = sizeof(nvdla_graph_node);
	task.operation_size = sizeof(nvdla_operation_desc);
	task.surface_size = sizeof(nvdla_surface_desc);
	task.lut_size = sizeof(nvdla_lut_desc);
	return task;
}

Result<void> checkSizes(const char *what, const std::string &path, const TaskGraph &graph)
{
	if (graph.operations.size() == graph.graph.size() &&
	    graph.surfaces.size() == graph.graph.size())
		return {};
	return fail(ErrorCode::InvalidArgument, what, path,
		    fmt::format("{} graph nodes, {} operations and {} surfaces", graph.graph.size(),
				graph.operations.size(), graph.surfaces.size()));
}

} /* namespace */

std::vector<std::string> Device::enumerate()
{
	return DrmDevice::enumerate();
}

std::string Device::defaultPath()
{
	const std::vector<std::string> found = enumerate();

	if (!found.empty())
		return found.front();
	/* open() then says who may use it. */
	const std::string closed = DrmDevice::closed();
	return closed.empty() ? embeddedPath : closed;
}

Result<Device> Device::open(const std::string &path, Log log)
{
	return guarded("open device", [&]() -> Result<Device> {
		if (isEmbeddedPath(path)) {
			auto embedded = EmbeddedDevice::open(path);
			if (!embedded)
				return forward(embedded);
			return open(std::shared_ptr<DeviceBackend>(std::move(*embedded)),
				    std::move(log));
		}
		auto drm = DrmDevice::open(path);
		if (!drm)
			return forward(drm);
		return open(std::shared_ptr<DeviceBackend>(std::move(*drm)), std::move(log));
	});
}

Result<Device> Device::open(std::shared_ptr<DeviceBackend> backend, Log log)
{
	return guarded("open device", [&]() -> Result<Device> {
		drm_nvdla_device_info info = {};
		drm_nvdla_dev_query query = {};

		query.type = DRM_NVDLA_QUERY_DEVICE;
		query.size = sizeof(info);
		query.pointer = pointer(&info);
		if (const int error = backend->call(DRM_IOCTL_NVDLA_DEV_QUERY, &query))
			return fail(codeOf(error), "query device", backend->path(),
				    reasonOf(error));
		backend->log = std::move(log);
		const Device device(std::move(backend), infoOf(info));
		device.log(LogLevel::Info,
			   fmt::format("open device: {}: core {:#x}, features {:#x}", device.path(),
				       info.hw_version, info.features));
		return device;
	});
}

void Device::log(LogLevel level, const std::string &message) const
{
	/* The device of a destroyed network has no backend. */
	if (backend_ && backend_->log)
		backend_->log(level, message);
}

const std::string &Device::path() const
{
	return backend_->path();
}

Result<Buffer> Device::allocate(uint64_t size) const
{
	return guarded("allocate device memory", [&]() -> Result<Buffer> {
		auto buffer = allocate(size, 0);
		if (!buffer)
			return buffer;
		/* Map last: the buffer owns the handle now, and closes it if mapping
		 * fails. */
		if (const int error = buffer->memory_->map())
			return fail(codeOf(error), "allocate device memory", path(),
				    fmt::format("map {} bytes: {}", size, reasonOf(error)));
		return buffer;
	});
}

Result<Buffer> Device::allocateOnChip(uint64_t size) const
{
	return guarded("allocate on-chip memory", [&]() -> Result<Buffer> {
		if (!has(Feature::OnChipMemory))
			return fail(ErrorCode::Unsupported, "allocate on-chip memory", path(),
				    "the device hands out none");
		return allocate(size, DRM_NVDLA_BO_SRAM);
	});
}

Result<Buffer> Device::allocate(uint64_t size, uint32_t flags) const
{
	return guarded("allocate device memory", [&]() -> Result<Buffer> {
		drm_nvdla_bo_create create = {};

		const char *what = flags ? "allocate on-chip memory" : "allocate device memory";
		if (!size || size > info().maxBufferBytes)
			return fail(ErrorCode::InvalidArgument, what, path(),
				    fmt::format("{} bytes, a buffer has 1 to {}", size,
						info().maxBufferBytes));
		create.size = size;
		create.flags = flags;
		if (const int error = backend_->call(DRM_IOCTL_NVDLA_BO_CREATE, &create))
			return fail(codeOf(error), what, path(),
				    fmt::format("{} bytes: {}", size, reasonOf(error)));
		backend_->handles().add(create.handle,
					{ create.size, (flags & DRM_NVDLA_BO_SRAM) != 0 });
		return Buffer(
			std::make_shared<BufferMemory>(backend_, create.handle, size, create.size));
	});
}

Result<Buffer> Device::importDmaBuf(int fd) const
{
	constexpr const char *what = "import dma-buf";
	return guarded(what, [&]() -> Result<Buffer> {
		const std::string where = fmt::format("{}: file descriptor {}", path(), fd);

		if (!has(Feature::DmaBuf))
			return fail(ErrorCode::Unsupported, what, where, "the device takes none");
		/* Seeking gives the size of a dma-buf (driver-api/dma-buf, "Userspace Interface
		 * Notes"). */
		const off_t size = lseek(fd, 0, SEEK_END);
		if (size < 0)
			return fail(ErrorCode::InvalidArgument, what, where, std::strerror(errno));
		auto handle = backend_->handles().import(*backend_, fd,
							   static_cast<uint64_t>(size));
		if (!handle && handle.error() == -EINVAL)
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("{} bytes: not a dma-buf, or not one range of "
						"whole pages for "
						"the device; with an IOMMU any memory is one",
						size));
		if (!handle)
			return fail(codeOf(handle.error()), what, where, reasonOf(handle.error()));
		const auto bytes = static_cast<uint64_t>(size);
		Buffer buffer(std::make_shared<BufferMemory>(backend_, *handle, bytes, bytes));
		/* Not all exporters of dma-bufs let the CPU map them. An error is ignored here;
		 * access() returns one later. */
		buffer.memory_->map();
		return buffer;
	});
}

bool Device::owns(const Buffer &buffer) const
{
	return buffer.memory_->backend == backend_;
}

Result<Context> Device::createContext(Priority priority) const
{
	constexpr const char *what = "create context";
	return guarded(what, [&]() -> Result<Context> {
		drm_nvdla_context_create create = {};

		if (!has(Feature::Contexts))
			return fail(ErrorCode::Unsupported, what, path(),
				    "the device has no priorities");
		create.priority = static_cast<__u32>(priority);
		if (const int error = backend_->call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create))
			return fail(
				codeOf(error), what, path(),
				fmt::format("priority {}: {}", create.priority, reasonOf(error)));
		return Context(backend_, create.context);
	});
}

Result<PreparedTask> Device::prepare(const TaskGraph &graph, size_t addresses, uint32_t index) const
{
	constexpr const char *what = "prepare task";
	return guarded(what, [&]() -> Result<PreparedTask> {
		drm_nvdla_task_create create = {};
		drm_nvdla_error error = {};

		if (!has(Feature::PreparedTasks))
			return fail(ErrorCode::Unsupported, what, path(),
				    "the driver prepares none");
		if (auto fits = checkSizes(what, path(), graph); !fits)
			return forward(fits);
		drm_nvdla_task task = describe(graph);
		task.num_addresses = static_cast<__u32>(addresses);
		auto copy = std::make_shared<const PreparedGraph>(graph, task.num_addresses);
		create.task = pointer(&task);
		create.task_size = sizeof(task);
		create.error = pointer(&error);
		create.error_size = sizeof(error);

		const int result = backend_->call(DRM_IOCTL_NVDLA_TASK_CREATE, &create);
		if (result == -EINVAL && error.member_of) {
			error.task = index;
			return tl::unexpected(
				refusal(*backend_, what, error, explain(info_.variant, task)));
		}
		if (result)
			return fail(result == -EINVAL ? ErrorCode::DeviceRefused : codeOf(result),
				    what, path(), reasonOf(result));
		PreparedTask prepared(backend_, create.handle);
		backend_->graphs().add(create.handle, std::move(copy));
		return prepared;
	});
}

Result<Job> Device::createJob() const
{
	return guarded("create job", [&]() -> Result<Job> {
		auto syncobj = createSyncobj(*backend_);
		if (!syncobj)
			return fail(codeOf(syncobj.error()), "create job", path(),
				    reasonOf(syncobj.error()));
		return Job(backend_, *syncobj);
	});
}

Result<Job> Device::submit(std::span<const JobTask> tasks, const SubmitOptions &options) const
{
	return guarded("submit", [&]() -> Result<Job> {
		auto job = createJob();
		if (!job)
			return job;
		if (auto submitted = submit(tasks, options, *job); !submitted)
			return forward(submitted);
		return job;
	});
}

Result<void> Device::submit(std::span<const JobTask> tasks, const SubmitOptions &options,
			    Job &job) const
{
	constexpr const char *what = "submit job";
	return guarded(what, [&]() -> Result<void> {
		std::vector<std::vector<drm_nvdla_address>> addresses;
		std::vector<drm_nvdla_task> args;

		for (const JobTask &task : tasks) {
			drm_nvdla_task arg = {};
			if (task.prepared) {
				arg.handle = task.prepared;
			} else {
				if (auto fits = checkSizes(what, path(), task); !fits)
					return fits;
				arg = describe(task);
			}
			auto &table = addresses.emplace_back();
			for (const BufferRange &range : task.addresses)
				table.push_back({ range.handle, 0, range.offset, range.size });
			arg.addresses = pointer(table.data());
			arg.num_addresses = static_cast<__u32>(table.size());
			arg.address_size = sizeof(drm_nvdla_address);
			args.push_back(arg);
		}

		drm_nvdla_sync out = {};
		out.handle = job.syncobj_;
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
		submit.timeout_ms = static_cast<__u32>(
			std::clamp<int64_t>(options.timeout.count(), 0, info_.maxTimeoutMs));
		submit.flags = (options.statistics ? DRM_NVDLA_SUBMIT_STATISTICS : 0) |
			       (options.restartable ? DRM_NVDLA_SUBMIT_RESTARTABLE : 0);
		submit.context = options.context;
		submit.result_handle = options.results;

		auto thread = options.waits ? backend_->lendThread() : nullptr;
		const int result = backend_->call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
		if (result == -EINVAL && error.member_of)
			return tl::unexpected(refusal(*backend_, what, error,
						      explain(info_.variant, *backend_, submit)));
		if (result == -EIO)
			return fail(codeOf(result), what, path(),
				    "too many jobs of this open device failed: none is run any "
				    "more until it "
				    "is opened again");
		if (result)
			return fail(result == -EINVAL ? ErrorCode::DeviceRefused : codeOf(result),
				    what, path(), reasonOf(result));
		job.thread_ = std::move(thread);
		return {};
	});
}

} /* namespace nvdla */

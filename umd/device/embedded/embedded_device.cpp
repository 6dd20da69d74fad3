/* SPDX-License-Identifier: MIT */
#include "embedded_device.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>
#include <nvdla/device.h>

#include "base/io/guarded.h"
#include "device/block_signals.h"
#include "device/clock.h"
#include "device/embedded/embedded_options.h"
#include "device/embedded/executor.h"
#include "device/embedded/submit.h"
#include "device/embedded/task_reader.h"
#include "device/errno_code.h"

namespace nvdla
{

namespace
{

/*
 * Returns the result of \a work, or -ENOMEM if \a work throws. Like the kernel's ioctls, those of
 * this device return errors and throw nothing.
 */
template<typename Work>
int errnoOf(Work work) noexcept
{
	const Result<int> result = guarded("", [&]() -> Result<int> { return work(); });

	return result ? *result : -ENOMEM;
}

} /* namespace */

class EmbeddedDevice::State
{
public:
	State(const std::string &name, const EmbeddedOptions &options)
		: path(name), memory_(Executor::variantOf(*options.core).address_bits,
				      options.recorder ? options.recorder->memory()
						       : EmbeddedMemory::usualStart),
		  onChip_(Executor::onChipBase(options),
			  nvdla_variant_sram_bytes(&Executor::variantOf(*options.core),
						   options.core->cvsramSize)),
		  executor_(options, memory_, lock_, changed_)
	{
	}

	int start() { return executor_.start(); }
	int ioctl(unsigned long request, void *argument);

	tl::expected<std::byte *, int> map(uint64_t offset, size_t size)
	{
		const std::lock_guard guard(lock_);
		return buffers_.map(offset, size);
	}

	void unmap(std::byte *address)
	{
		const std::lock_guard guard(lock_);
		buffers_.unmap(address);
	}

	int fenceStatus(uint32_t syncobj);
	auto lendThread() { return executor_.lendThread(); }

	const std::string path;

private:
	int query(drm_nvdla_dev_query &args);
	int createBuffer(drm_nvdla_bo_create &args);
	int mmapOffset(drm_nvdla_bo_mmap_offset &args);
	int prepare(const drm_nvdla_bo_prep &args);
	int finish(const drm_nvdla_bo_fini &args);
	int closeBuffer(const drm_gem_close &args);
	int exportBuffer(drm_prime_handle &args);
	int importBuffer(drm_prime_handle &args);
	int submit(const drm_nvdla_submit &args);
	int createContext(drm_nvdla_context_create &args);
	int destroyContext(const drm_nvdla_context_destroy &args);
	int createTask(drm_nvdla_task_create &args);
	int destroyTask(const drm_nvdla_task_destroy &args);

	std::mutex lock_;
	std::condition_variable changed_; /* notified when a job is done or a syncobj gets a
					     fence */
	EmbeddedMemory memory_;
	OnChipMemory onChip_;
	BufferTable buffers_{ memory_, onChip_ };
	SyncobjTable syncobjs_{ changed_ };
	TaskTable tasks_;
	Executor executor_;
};

int EmbeddedDevice::State::query(drm_nvdla_dev_query &args)
{
	const uint32_t userSize = args.size;
	drm_nvdla_device_info info = {};

	if (args.type != DRM_NVDLA_QUERY_DEVICE)
		return -EINVAL;
	nvdla_variant_tell(&executor_.variant(), &info);
	info.hw_version = executor_.hardwareVersion();
	info.max_operations = NVDLA_TASK_MAX_OPERATIONS;
	info.max_luts = NVDLA_TASK_MAX_LUTS;
	info.max_addresses = NVDLA_TASK_MAX_ADDRESSES;
	info.max_tasks = NVDLA_MAX_TASKS;
	info.default_timeout_ms = NVDLA_DEFAULT_TIMEOUT_MS;
	info.max_timeout_ms = NVDLA_MAX_TIMEOUT_MS;
	info.max_jobs = NVDLA_MAX_JOBS;
	info.cvsram_bytes = onChip_.size();
	info.max_sram_bytes = onChip_.size(); /* all users of the device are this process */
	info.max_bo_bytes = EmbeddedBuffer::maxBytes;
	info.features = DRM_NVDLA_FEATURE_CONTEXTS | DRM_NVDLA_FEATURE_RESULTS |
			DRM_NVDLA_FEATURE_STATISTICS | DRM_NVDLA_FEATURE_PRIME |
			DRM_NVDLA_FEATURE_TIMELINE | DRM_NVDLA_FEATURE_PREPARED_TASKS |
			(onChip_.size() ? DRM_NVDLA_FEATURE_SRAM : 0);
	info.priorities = 1u << DRM_NVDLA_PRIORITY_LOW | 1u << DRM_NVDLA_PRIORITY_NORMAL |
			  1u << DRM_NVDLA_PRIORITY_HIGH;
	info.max_contexts = JobQueue::maxContexts;
	info.max_task_bytes = NVDLA_MAX_TASK_BYTES;
	args.size = sizeof(info);
	if (args.pointer)
		writeStruct(args.pointer, userSize, info);
	return 0;
}

int EmbeddedDevice::State::createBuffer(drm_nvdla_bo_create &args)
{
	const bool onChip = args.flags & DRM_NVDLA_BO_SRAM;

	if (args.flags & ~DRM_NVDLA_BO_SRAM || !args.size || args.size > EmbeddedBuffer::maxBytes)
		return -EINVAL;
	args.size = (args.size + EmbeddedBuffer::pageSize - 1) / EmbeddedBuffer::pageSize *
		    EmbeddedBuffer::pageSize;

	const std::lock_guard guard(lock_);
	auto handle = onChip ? buffers_.createOnChip(args.size) : buffers_.create(args.size);
	if (!handle)
		return handle.error();
	if (onChip)
		executor_.clearOnChip(buffers_.find(*handle)->dmaAddress, args.size);
	args.handle = *handle;
	return 0;
}

int EmbeddedDevice::State::mmapOffset(drm_nvdla_bo_mmap_offset &args)
{
	const std::lock_guard guard(lock_);

	if (args.flags)
		return -EINVAL;
	const auto buffer = buffers_.find(args.handle);
	if (!buffer)
		return -ENOENT;
	if (buffer->isOnChip())
		return -EOPNOTSUPP;
	args.offset = BufferTable::mapOffset(args.handle);
	return 0;
}

int EmbeddedDevice::State::prepare(const drm_nvdla_bo_prep &args)
{
	constexpr uint32_t known = DRM_NVDLA_BO_READ | DRM_NVDLA_BO_WRITE;
	std::unique_lock guard(lock_);

	if (!args.flags || args.flags & ~known)
		return -EINVAL;
	const auto buffer = buffers_.find(args.handle);
	if (!buffer)
		return -ENOENT;
	if (buffer->isOnChip())
		return -EOPNOTSUPP;
	const bool ready = changed_.wait_until(guard, timePoint(args.timeout_ns), [&] {
		return buffer->idle(args.flags & DRM_NVDLA_BO_WRITE);
	});
	return ready ? 0 : -ETIMEDOUT;
}

int EmbeddedDevice::State::finish(const drm_nvdla_bo_fini &args)
{
	const std::lock_guard guard(lock_);

	if (args.flags)
		return -EINVAL;
	const auto buffer = buffers_.find(args.handle);
	if (!buffer)
		return -ENOENT;
	return buffer->isOnChip() ? -EOPNOTSUPP : 0;
}

int EmbeddedDevice::State::closeBuffer(const drm_gem_close &args)
{
	const std::lock_guard guard(lock_);
	return buffers_.close(args.handle);
}

int EmbeddedDevice::State::exportBuffer(drm_prime_handle &args)
{
	const std::lock_guard guard(lock_);

	if (args.flags & ~static_cast<uint32_t>(DRM_CLOEXEC | DRM_RDWR))
		return -EINVAL;
	auto fd = buffers_.exportMemfd(args.handle);
	if (!fd)
		return fd.error();
	args.fd = *fd;
	return 0;
}

int EmbeddedDevice::State::importBuffer(drm_prime_handle &args)
{
	const std::lock_guard guard(lock_);
	auto handle = buffers_.import(args.fd);

	if (!handle)
		return handle.error();
	args.handle = *handle;
	return 0;
}

int EmbeddedDevice::State::submit(const drm_nvdla_submit &args)
{
	std::unique_lock guard(lock_);
	if (executor_.queue().size() >= NVDLA_MAX_JOBS)
		return -EBUSY;
	SubmitReader reader(args, executor_.variant(), buffers_, syncobjs_, tasks_,
			    executor_.queue());

	if (const int error = reader.read())
		return error;
	auto job = reader.takeJob();
	const auto fence = job->fence;
	const int error = errnoOf([&] {
		for (const EmbeddedJob::Use &use : job->buffers)
			use.buffer->use(fence, use.write, job->dependencies);
		for (const SubmitReader::OutSync &sync : reader.outSyncs())
			syncobjs_.put(*sync.syncobj, sync.point, fence);
		executor_.queue().push(args.context, std::move(job));
		return 0;
	});
	/* Signal the fence on an error, too, because a thread may already wait for it. */
	const FenceEvents events = error ? fence->signal(error) : FenceEvents();
	guard.unlock();
	if (!error)
		executor_.attend();
	else
		changed_.notify_all();
	for (const auto &event : events)
		event->write();
	return error;
}

int EmbeddedDevice::State::createContext(drm_nvdla_context_create &args)
{
	const std::lock_guard guard(lock_);

	if (args.flags || args.reserved)
		return -EINVAL;
	auto context = executor_.queue().createContext(args.priority);
	if (!context)
		return context.error();
	args.context = *context;
	return 0;
}

int EmbeddedDevice::State::destroyContext(const drm_nvdla_context_destroy &args)
{
	const std::lock_guard guard(lock_);
	return args.reserved ? -EINVAL : executor_.queue().destroyContext(args.context);
}

int EmbeddedDevice::State::createTask(drm_nvdla_task_create &args)
{
	const std::lock_guard guard(lock_);
	return tasks_.create(executor_.variant(), args);
}

int EmbeddedDevice::State::destroyTask(const drm_nvdla_task_destroy &args)
{
	const std::lock_guard guard(lock_);
	return tasks_.destroy(args);
}

int EmbeddedDevice::State::fenceStatus(uint32_t syncobj)
{
	const std::lock_guard guard(lock_);

	const auto found = syncobjs_.find(syncobj);
	return found ? found->status() : -ENOENT;
}

int EmbeddedDevice::State::ioctl(unsigned long request, void *argument)
{
	switch (request) {
	case DRM_IOCTL_NVDLA_DEV_QUERY:
		return query(*static_cast<drm_nvdla_dev_query *>(argument));
	case DRM_IOCTL_NVDLA_BO_CREATE:
		return createBuffer(*static_cast<drm_nvdla_bo_create *>(argument));
	case DRM_IOCTL_NVDLA_BO_MMAP_OFFSET:
		return mmapOffset(*static_cast<drm_nvdla_bo_mmap_offset *>(argument));
	case DRM_IOCTL_NVDLA_BO_PREP:
		return prepare(*static_cast<drm_nvdla_bo_prep *>(argument));
	case DRM_IOCTL_NVDLA_BO_FINI:
		return finish(*static_cast<drm_nvdla_bo_fini *>(argument));
	case DRM_IOCTL_NVDLA_SUBMIT:
		return submit(*static_cast<drm_nvdla_submit *>(argument));
	case DRM_IOCTL_GEM_CLOSE:
		return closeBuffer(*static_cast<drm_gem_close *>(argument));
	case DRM_IOCTL_PRIME_HANDLE_TO_FD:
		return exportBuffer(*static_cast<drm_prime_handle *>(argument));
	case DRM_IOCTL_PRIME_FD_TO_HANDLE:
		return importBuffer(*static_cast<drm_prime_handle *>(argument));
	case DRM_IOCTL_NVDLA_CONTEXT_CREATE:
		return createContext(*static_cast<drm_nvdla_context_create *>(argument));
	case DRM_IOCTL_NVDLA_CONTEXT_DESTROY:
		return destroyContext(*static_cast<drm_nvdla_context_destroy *>(argument));
	case DRM_IOCTL_NVDLA_TASK_CREATE:
		return createTask(*static_cast<drm_nvdla_task_create *>(argument));
	case DRM_IOCTL_NVDLA_TASK_DESTROY:
		return destroyTask(*static_cast<drm_nvdla_task_destroy *>(argument));
	}

	std::unique_lock guard(lock_);
	switch (request) {
	case DRM_IOCTL_SYNCOBJ_WAIT:
		return syncobjs_.wait(*static_cast<drm_syncobj_wait *>(argument), guard);
	case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
		return syncobjs_.wait(*static_cast<drm_syncobj_timeline_wait *>(argument), guard);
	case DRM_IOCTL_SYNCOBJ_CREATE:
		return syncobjs_.create(*static_cast<drm_syncobj_create *>(argument));
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		return syncobjs_.destroy(*static_cast<drm_syncobj_destroy *>(argument));
	case syncobjEventfdRequest:
		return syncobjs_.notify(*static_cast<SyncobjEventfd *>(argument));
	case DRM_IOCTL_SYNCOBJ_RESET:
		return syncobjs_.reset(*static_cast<drm_syncobj_array *>(argument));
	case DRM_IOCTL_SYNCOBJ_SIGNAL:
		return syncobjs_.signal(*static_cast<drm_syncobj_array *>(argument));
	case DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL:
		return syncobjs_.signal(*static_cast<drm_syncobj_timeline_array *>(argument));
	case DRM_IOCTL_SYNCOBJ_QUERY:
		return syncobjs_.query(*static_cast<drm_syncobj_timeline_array *>(argument));
	default:
		return -ENOTTY;
	}
}

class EmbeddedDevice::Waiter : public LentThread
{
public:
	Waiter(State &state, const OwnProcess &process)
		: state_(state), process_(process), thread_(state.lendThread())
	{
	}

	/* Do nothing in a child of fork(), because only its parent has lent the thread. */
	~Waiter() override
	{
		if (!process_.isHere())
			static_cast<void>(thread_.release());
	}

	/*
	 * If this thread cannot work for lack of memory, it only waits, and the core's own threads
	 * do the work.
	 */
	void work(uint32_t syncobj) override
	{
		errnoOf([&] {
			thread_->work([&] { return state_.fenceStatus(syncobj) != 0; });
			return 0;
		});
	}

private:
	State &state_;
	const OwnProcess &process_;
	std::unique_ptr<sim::Core::LentThread> thread_;
};

EmbeddedDevice::EmbeddedDevice(std::unique_ptr<State> state) : state_(std::move(state))
{
}

/* Does nothing in a child of fork(), which does not have the threads that the state's destructor
 * joins. */
EmbeddedDevice::~EmbeddedDevice()
{
	if (!process_.isHere())
		static_cast<void>(state_.release());
}

Result<std::unique_ptr<EmbeddedDevice>> EmbeddedDevice::open(const std::string &path)
{
	auto options = parseEmbeddedPath(path);
	if (!options)
		return forward(options);
	return open(path, *options);
}

Result<std::unique_ptr<EmbeddedDevice>> EmbeddedDevice::open(const std::string &path,
							     const EmbeddedOptions &options)
{
	const BlockSignals quiet;
	auto state = std::make_unique<State>(path, options);

	if (const int error = state->start())
		return fail(codeOf(error), "open device", path, reasonOf(error));
	return std::unique_ptr<EmbeddedDevice>(new EmbeddedDevice(std::move(state)));
}

const std::string &EmbeddedDevice::path() const
{
	return state_->path;
}

int EmbeddedDevice::ioctl(unsigned long request, void *argument)
{
	return errnoOf([&] { return state_->ioctl(request, argument); });
}

tl::expected<std::byte *, int> EmbeddedDevice::map(uint64_t offset, size_t size)
{
	tl::expected<std::byte *, int> mapped = nullptr;
	const int error = errnoOf([&] {
		mapped = state_->map(offset, size);
		return 0;
	});

	if (error)
		return tl::unexpected(error);
	return mapped;
}

void EmbeddedDevice::unmap(std::byte *address, [[maybe_unused]] size_t size)
{
	state_->unmap(address);
}

std::unique_ptr<LentThread> EmbeddedDevice::lend()
{
	if (!sim::Core::LentThread::canWork())
		return nullptr;
	return std::make_unique<Waiter>(*state_, process_);
}

int EmbeddedDevice::fenceStatus(uint32_t syncobj)
{
	return errnoOf([&] { return state_->fenceStatus(syncobj); });
}

} /* namespace nvdla */

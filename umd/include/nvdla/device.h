/* SPDX-License-Identifier: MIT */
/* Devices, their memory, and jobs on them. */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nvdla/device_info.h>
#include <nvdla/error.h>
#include <nvdla/log.h>

#pragma GCC visibility push(default)

namespace nvdla
{

class BufferMemory;
class DeviceBackend;
class LentThread;

/** \brief Kind of access of the CPU to a buffer */
enum class CpuAccess : uint32_t {
	Read = 1,
	Write = 2,
	ReadWrite = 3,
};

/**
 * \brief Memory that a device can reach
 *
 * Copies share the same memory, which is freed with the last copy.
 */
class Buffer
{
public:
	/**
	 * \brief The CPU's access to a buffer: lasts until this object is destroyed, which makes
	 * the CPU's writes visible to the device
	 */
	class Access
	{
	public:
		Access(Access &&other) noexcept;
		Access &operator=(Access &&) = delete;
		~Access();

		/** \return all bytes of the buffer */
		std::span<std::byte> bytes() const;

	private:
		friend class Buffer;
		explicit Access(std::shared_ptr<BufferMemory> memory) : memory_(std::move(memory))
		{
		}

		std::shared_ptr<BufferMemory> memory_;
	};

	/** \return GEM handle, valid on the open device from which the buffer was allocated */
	uint32_t handle() const;
	/** \return bytes requested or imported; the device may have allocated more */
	uint64_t size() const;

	/**
	 * \brief Begin an access of the CPU to the buffer's bytes
	 *
	 * Waits at most \a timeout for jobs that write to the buffer, or, if the CPU is going to
	 * write, for all jobs that use the buffer.
	 *
	 * \return Timeout if a job still uses the buffer, Unsupported if the CPU cannot access its
	 * memory
	 */
	Result<Access> access(CpuAccess access, std::chrono::milliseconds timeout) const;

	/**
	 * \brief Export the buffer as a dma-buf for other devices, drivers and processes
	 * \return a file descriptor that the caller closes; the memory stays allocated until then.
	 * Unsupported without Feature::DmaBuf and for on-chip memory
	 */
	Result<int> exportDmaBuf() const;

private:
	friend class Device;
	explicit Buffer(std::shared_ptr<BufferMemory> memory) : memory_(std::move(memory)) {}

	std::shared_ptr<BufferMemory> memory_;
};

struct TaskGraph;
struct JobTask;

/**
 * \brief A task graph that the driver has checked and keeps; only its addresses are checked at each
 * run
 *
 * Submitting a prepared task takes a fraction of the time of submitting its descriptors, which the
 * driver would copy and check again. The object may be destroyed while submitted jobs run.
 */
class PreparedTask
{
public:
	PreparedTask(PreparedTask &&other) noexcept;
	PreparedTask &operator=(PreparedTask &&other) noexcept;
	~PreparedTask();

	uint32_t handle() const { return handle_; }

private:
	friend class Device;
	PreparedTask(std::shared_ptr<DeviceBackend> backend, uint32_t handle)
		: backend_(std::move(backend)), handle_(handle)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	uint32_t handle_ = 0;
};

/** \brief Priority of a job: jobs that are ready run in the order of their priorities, the highest
 * first */
enum class Priority : uint32_t {
	Low = 0, /**< for work that may wait for all other jobs */
	Normal = 1,
	High = 2, /**< may need a privilege, see DeviceInfo::priorities */
};

/**
 * \brief A queue of jobs: they run in the order of their submission
 *
 * Jobs of different contexts run in any order, except that a job which writes a buffer and other
 * jobs that use the buffer keep the order of their submission. Destroying a context does not stop
 * jobs that were submitted to it.
 */
class Context
{
public:
	Context(Context &&other) noexcept;
	Context &operator=(Context &&other) noexcept;
	~Context();

	uint32_t id() const { return id_; }

private:
	friend class Device;
	Context(std::shared_ptr<DeviceBackend> backend, uint32_t id)
		: backend_(std::move(backend)), id_(id)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	uint32_t id_ = 0;
};

/** \brief Options of a job */
struct SubmitOptions {
	/**
	 * \brief Longest time on the hardware in which no operation begins or ends; the whole job
	 * may take ten times as long. 0 for the driver's default; at most info().maxTimeoutMs
	 */
	std::chrono::milliseconds timeout{ 0 };
	/** \brief Id of a Context; 0: the context of normal priority that each open device has */
	uint32_t context = 0;
	/**
	 * \brief True if the job may run again from its first task after a reset of the core,
	 * because it overwrites no data that it reads, except data that it wrote itself before
	 */
	bool restartable = false;
	/** \brief Enable the core's counters; needs \a results and Feature::Statistics */
	bool statistics = false;
	/**
	 * \brief Handle of a Buffer that gets times and counters, as the driver writes them; 0 for
	 * none
	 *
	 * It has room for Device::resultBytes(). Needs Feature::Results.
	 */
	uint32_t results = 0;
	/**
	 * \brief True if the thread that submits calls Job::wait() next, without a time limit
	 *
	 * The embedded device then computes the job in this thread, inside of wait(), if the
	 * thread's stack has room for that (512 KiB). Other devices ignore this.
	 */
	bool waits = false;
};

/**
 * \brief A submitted job, which completes later
 *
 * It may be submitted again when it is done.
 */
class Job
{
public:
	Job(Job &&other) noexcept;
	Job &operator=(Job &&other) noexcept;
	~Job();

	/** \brief Add 1 to an eventfd when the job is done, or immediately if the job is done
	 * already */
	Result<void> notify(int eventfd);

	/**
	 * \brief Get the result of the job without waiting: what wait() would return, or Timeout
	 * if the job is not done
	 */
	Result<void> status();

	/**
	 * \brief Wait until the job is done
	 * \return Timeout if \a timeout passed first (the job continues); DeviceFailed if the job
	 * failed, Timeout if it hung
	 */
	Result<void> wait(std::chrono::milliseconds timeout);

private:
	friend class Device;
	Job(std::shared_ptr<DeviceBackend> backend, uint32_t syncobj);

	std::shared_ptr<DeviceBackend> backend_;
	uint32_t syncobj_ = 0;
	std::unique_ptr<LentThread> thread_; /* with SubmitOptions::waits: the submitting thread,
						lent to the device until it has called wait() */
};

/**
 * \brief An open device
 *
 * Copies share the same open file. Buffers and jobs keep the file open. All
 * functions may be called from several threads at once.
 */
class Device
{
public:
	/** \brief Path of the device model in this process, for open() */
	static constexpr const char *embeddedPath = "embedded";

	/** \return paths of all NVDLA devices that the kernel drives, sorted */
	static std::vector<std::string> enumerate();

	/**
	 * \return path of the device to use if the user names none: the first of enumerate(), else
	 * one that this user may not open, or embeddedPath if the kernel drives none
	 */
	static std::string defaultPath();

	/**
	 * \brief Open a device
	 * \param[in] path "/dev/accel/accelN" or embeddedPath, behind which options may follow:
	 * "embedded:nv_small,fp16=fast" emulates nv_small, one of nv_full, nv_large, nv_small,
	 * nv_small_256 and nv_small_256_full, and computes FP16 convolutions in f32, which is many
	 * times faster, but not bit-exact; nvdla-run(1) has all options
	 *
	 * \param[in] log gets messages about the device, its networks and pools; may be empty
	 *
	 * \return InvalidArgument naming an unknown option; NoDevice, Io or Unsupported naming the
	 * path
	 */
	static Result<Device> open(const std::string &path, Log log = {});

	/** \brief Use a backend that is already open */
	static Result<Device> open(std::shared_ptr<DeviceBackend> backend, Log log = {});

	const std::string &path() const;
	const DeviceInfo &info() const { return info_; }

	/** \brief Write to the log that open() was given, if there is one */
	void log(LogLevel level, const std::string &message) const;

	bool has(Feature feature) const { return info_.features & static_cast<uint64_t>(feature); }

	/**
	 * \brief Allocate memory, zeroed
	 * \param[in] size bytes, 1 to info().maxBufferBytes
	 */
	Result<Buffer> allocate(uint64_t size) const;

	/**
	 * \brief Allocate on-chip memory (CVSRAM), zeroed
	 *
	 * Only the device's engines reach it; access() fails.
	 *
	 * \param[in] size bytes, 1 to info().onChipBytes
	 * \return NoMemory if less than \a size is left; Unsupported without on-chip memory
	 */
	Result<Buffer> allocateOnChip(uint64_t size) const;

	/**
	 * \brief Use the memory behind a dma-buf of another device, driver or process
	 *
	 * The driver obeys the dma-buf's fences and adds those of its jobs. The embedded
	 * device imports and exports memfds that are sealed against shrinking, and has only its
	 * own fences.
	 *
	 * \param[in] fd descriptor of the dma-buf; the caller keeps it
	 * \return a buffer of all its bytes; InvalidArgument if the file is no dma-buf, does not
	 * consist of whole pages, or is not one range for the device; Unsupported without
	 * Feature::DmaBuf
	 */
	Result<Buffer> importDmaBuf(int fd) const;

	/** \return true if the buffer's handle() is valid on this open device */
	bool owns(const Buffer &buffer) const;

	/** \return InvalidArgument for a priority that info().priorities denies; Unsupported
	 * without Feature::Contexts */
	Result<Context> createContext(Priority priority) const;

	/**
	 * \brief Let the driver check a task graph that is going to be run often
	 *
	 * \param[in] graph not needed afterwards
	 * \param[in] addresses number of entries in the address table of each run
	 * \param[in] index of the task in its job, for messages
	 * \return DeviceRefused with the driver's reason, naming operation and field; NoMemory if
	 * prepared tasks take info().maxTaskBytes already; Unsupported without
	 * Feature::PreparedTasks
	 */
	Result<PreparedTask> prepare(const TaskGraph &graph, size_t addresses,
				     uint32_t index = 0) const;

	/** \return bytes of the results of a job with \a operations operations in all its tasks */
	static uint64_t resultBytes(uint64_t operations)
	{
		/* 256 bytes are more than the driver's structures need, because those of a newer
		 * driver may be larger. */
		return 256 + operations * 256;
	}

	/** \return a job for submit(), not yet submitted */
	Result<Job> createJob() const;

	/**
	 * \brief Run task graphs one after the other
	 *
	 * Returns when the driver has accepted the job; \a tasks is not needed afterwards. A job
	 * that writes a buffer and other jobs that use the buffer run in the order of their
	 * submission.
	 *
	 * \param[in] tasks 1 to info().maxTasks graphs
	 * \return DeviceRefused with the driver's reason, naming operation and field
	 */
	Result<Job> submit(std::span<const JobTask> tasks, const SubmitOptions &options = {}) const;

	/** \brief Submit with a job of createJob() that is not in flight */
	Result<void> submit(std::span<const JobTask> tasks, const SubmitOptions &options,
			    Job &job) const;

private:
	Result<Buffer> allocate(uint64_t size, uint32_t flags) const;

	Device(std::shared_ptr<DeviceBackend> backend, const DeviceInfo &info)
		: backend_(std::move(backend)), info_(info)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	DeviceInfo info_;
};

} /* namespace nvdla */

#pragma GCC visibility pop

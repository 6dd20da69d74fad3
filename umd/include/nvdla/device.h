/* SPDX-License-Identifier: MIT */
/*
 * Devices, their memory, and jobs on them.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <drm/nvdla_accel.h>

#include <nvdla/error.h>
#include <nvdla/hw/descriptors.h>

namespace nvdla
{

class DeviceBackend;

/** \brief Memory that a device can reach */
class Buffer
{
public:
	/** \brief The CPU's access to a buffer; others wait until it ends */
	class Access
	{
	public:
		Access(Access &&other) noexcept;
		Access &operator=(Access &&) = delete;
		~Access();

		/** \return all bytes of the buffer */
		std::span<std::byte> bytes() const { return bytes_; }

	private:
		friend class Buffer;
		Access(DeviceBackend *backend, uint32_t handle, std::span<std::byte> bytes)
			: backend_(backend), handle_(handle), bytes_(bytes)
		{
		}

		DeviceBackend *backend_;
		uint32_t handle_;
		std::span<std::byte> bytes_;
	};

	Buffer(Buffer &&other) noexcept;
	Buffer &operator=(Buffer &&other) noexcept;
	~Buffer();

	/** \return GEM handle on the device it was allocated from */
	uint32_t handle() const { return handle_; }
	/** \return bytes that were asked for; the device may have more behind them */
	uint64_t size() const { return size_; }

	/**
	 * \brief Begin to read (or write) the buffer's bytes
	 *
	 * Waits for jobs that write to it (or use it at all), at most \a timeout.
	 *
	 * \param[in] flags DRM_NVDLA_BO_READ, DRM_NVDLA_BO_WRITE or both
	 * \return Timeout if the device is still busy with it
	 */
	Result<Access> access(uint32_t flags, std::chrono::milliseconds timeout);

private:
	friend class Device;
	Buffer(std::shared_ptr<DeviceBackend> backend, uint32_t handle, uint64_t size,
	       std::byte *mapping, size_t mappingSize)
		: backend_(std::move(backend)), handle_(handle), size_(size), mapping_(mapping),
		  mappingSize_(mappingSize)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	uint32_t handle_ = 0;
	uint64_t size_ = 0;
	std::byte *mapping_ = nullptr;
	size_t mappingSize_ = 0;
};

/** \brief Entry of a job's address table: a range of a buffer */
struct BufferRange {
	uint32_t handle = 0; /**< 0 if no operation uses the entry */
	uint64_t offset = 0;
	uint64_t size = 0; /**< 0 for all up to the buffer's end */
};

/** \brief One task graph of a job; borrows everything */
struct JobTask {
	std::span<const nvdla_graph_node> graph;
	std::span<const nvdla_operation_desc> operations;
	std::span<const nvdla_surface_desc> surfaces;
	std::span<const nvdla_lut_desc> luts;
	std::span<const BufferRange> addresses;
};

/** \brief Something submitted that completes later */
class Job
{
public:
	Job(Job &&other) noexcept;
	Job &operator=(Job &&other) noexcept;
	~Job();

	/**
	 * \brief Wait until the job is done
	 * \return Timeout if \a timeout passed first (the job goes on);
	 * DeviceFailed, or Timeout for one that hung, if it failed
	 */
	Result<void> wait(std::chrono::milliseconds timeout);

private:
	friend class Device;
	Job(std::shared_ptr<DeviceBackend> backend, uint32_t syncobj)
		: backend_(std::move(backend)), syncobj_(syncobj)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	uint32_t syncobj_ = 0;
};

/**
 * \brief An open device
 *
 * Copies share the same open file. Buffers and jobs keep it open. All
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
	 * \brief Open a device
	 * \param[in] path "/dev/accel/accelN", or embeddedPath for a device model
	 * of its own in this process
	 * \return NoDevice or Io naming the path, Unsupported if another driver has it
	 */
	static Result<Device> open(const std::string &path);

	/** \brief Use a device file that is open already */
	static Result<Device> open(std::shared_ptr<DeviceBackend> backend);

	const std::string &path() const;
	const drm_nvdla_device_info &info() const { return info_; }

	/**
	 * \brief Allocate memory, zeroed
	 * \param[in] size bytes, 1 to info().max_bo_bytes
	 */
	Result<Buffer> allocate(uint64_t size) const;

	/**
	 * \brief Run task graphs one after the other
	 *
	 * Returns when the driver has accepted the job; everything in \a tasks may
	 * go then. Jobs that write a buffer and those that use it run in the order
	 * of their submission.
	 *
	 * \param[in] tasks 1 to info().max_tasks graphs
	 * \param[in] timeout time on the hardware, 0 for the driver's default; what is
	 * longer than info().max_timeout_ms is cut to that
	 * \return DeviceRefused with the driver's reason, naming operation and field
	 */
	Result<Job> submit(std::span<const JobTask> tasks,
			   std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;

private:
	Device(std::shared_ptr<DeviceBackend> backend, const drm_nvdla_device_info &info)
		: backend_(std::move(backend)), info_(info)
	{
	}

	std::shared_ptr<DeviceBackend> backend_;
	drm_nvdla_device_info info_;
};

} /* namespace nvdla */

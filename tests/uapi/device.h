/* SPDX-License-Identifier: MIT */
/*
 * The least that a test needs to speak to the driver: nothing here knows the
 * runtime, so that the tests see the ioctls and nothing else. Only the words for
 * a refusal are the runtime's.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <drm.h>
#include <drm/nvdla_accel.h>

namespace nvdla::test
{

/** \brief The system calls of an open device file, which is closed with the object */
class Node
{
public:
	/**
	 * \return nullptr if it cannot be opened
	 *
	 * Of the driver, or of the embedded device in a test program that has the same tests for
	 * both.
	 */
	static std::unique_ptr<Node> open(const std::string &path);
	virtual ~Node() = default;

	/** \return the file descriptor; the embedded device has none, -1 */
	virtual int fd() const = 0;
	/** \return 0 or -errno */
	virtual int ioctl(unsigned long request, void *argument) = 0;
	/** \return nullptr on failure */
	virtual void *map(uint64_t offset, size_t size) = 0;
	virtual void unmap(void *address, size_t size) = 0;
	/** \return as Device::fenceStatus() */
	virtual int fenceStatus(uint32_t syncobj) = 0;
};

/** \brief An open accel node; closed with the object */
class Device
{
public:
	/** \brief Opens NVDLA_DEVICE, or /dev/accel/accel0, or the node given */
	explicit Device(const std::string &node = path()) : node_(Node::open(node)) {}

	bool valid() const { return node_ != nullptr; }
	int fd() const { return node_ ? node_->fd() : -1; }
	Node &node() const { return *node_; }

	/** \return 0 or -errno */
	int ioctl(unsigned long request, void *argument) const;

	/** \return what the device is and can do; all zero if it does not say */
	drm_nvdla_device_info info() const;

	/** \return 0 or -errno */
	int closeHandle(uint32_t handle) const;

	/** \return number of a new context, or -errno */
	int createContext(drm_nvdla_priority priority) const;
	int destroyContext(uint32_t context) const;

	/** \return handle of a prepared task, or -errno; \a task has no addresses then */
	int64_t prepareTask(drm_nvdla_task task, drm_nvdla_error &error) const;
	int destroyTask(uint32_t handle) const;

	/** \return handle of a new syncobj, 0 on failure */
	uint32_t createSyncobj() const;
	int destroySyncobj(uint32_t handle) const;
	/** \return 0 or -errno; -ETIME if the timeout is over first */
	int waitSyncobj(uint32_t handle, uint64_t point = 0, int64_t timeoutNs = defaultTimeoutNs,
			uint32_t flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) const;
	/** \return the last point of a timeline that is reached, or -errno */
	int64_t querySyncobj(uint32_t handle) const;
	/** \return status of the fence in a syncobj: 1 signalled, 0 active, or the error of the
	 * fence */
	int fenceStatus(uint32_t handle) const;

	static std::string path();

	/** \brief Longer than any job may take, so that a test ends even if the driver hangs */
	static constexpr int64_t defaultTimeoutNs = 60'000'000'000;

private:
	std::unique_ptr<Node> node_;
};

/** \brief A buffer object that is mapped; its handle is closed with the object */
class Buffer
{
public:
	/** \param flags of DRM_IOCTL_NVDLA_BO_CREATE */
	Buffer(const Device &device, uint64_t size, uint32_t flags = 0);
	~Buffer();
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;

	bool valid() const { return map_ != nullptr; }
	uint32_t handle() const { return handle_; }
	std::span<uint8_t> bytes() const { return { map_, static_cast<size_t>(size_) }; }

	/** \brief Waits for the device. \return 0 or -errno */
	int prepare(uint32_t flags, int64_t timeoutNs = INT64_MAX) const;
	int finish() const;

private:
	const Device &device_;
	uint64_t size_;
	uint32_t handle_ = 0;
	uint8_t *map_ = nullptr;
};

/** \brief Whether two buffers have the same bytes */
inline bool equal(const Buffer &a, const Buffer &b)
{
	return std::ranges::equal(a.bytes(), b.bytes());
}

/** \brief A task of BDMA copies, one operation after the other */
class CopyTask
{
public:
	/** \brief Adds a buffer to the address table. \return its index */
	uint16_t addAddress(uint32_t handle, uint64_t offset = 0, uint64_t size = 0);

	/**
	 * \brief Adds an operation that copies \a lines lines of \a lineBytes bytes
	 *
	 * It waits for the one before it.
	 */
	void addCopy(int16_t source, int16_t destination, uint32_t lineBytes, uint32_t lines);

	/**
	 * \brief Adds a copy of the whole of one buffer to another, line by line
	 *
	 * An operation for each line, so that it takes its time: some 100 us a line.
	 */
	void addLines(const class Buffer &source, const class Buffer &destination,
		      uint32_t lineBytes);

	/** \return the ioctl's view; valid until this object changes */
	drm_nvdla_task task() const;
	/** \return the same of a prepared task: with the addresses alone */
	drm_nvdla_task prepared(uint32_t handle) const;

	std::vector<nvdla_graph_node> graph;
	std::vector<nvdla_operation_desc> operations;
	std::vector<nvdla_surface_desc> surfaces;
	std::vector<drm_nvdla_address> addresses;
};

/** \brief Arguments of a submit with everything that user space has to fill in */
struct Submit {
	Submit() = default;
	explicit Submit(const CopyTask &task) { tasks.push_back(task.task()); }

	/** \return 0 or -errno; \a error is filled if the kernel refuses a task */
	int run(const Device &device);

	/** \return 0 once the job has ended well, or the first error on the way there */
	int runToTheEnd(const Device &device);

	std::vector<drm_nvdla_task> tasks;
	std::vector<drm_nvdla_sync> inSyncs;
	std::vector<drm_nvdla_sync> outSyncs;
	uint32_t timeoutMs = 0;
	uint32_t flags = 0;
	uint32_t context = 0;
	uint32_t resultHandle = 0;
	uint64_t resultOffset = 0;
	drm_nvdla_error error = {};
};

/** \brief Where a job says how it went: the beginning of a buffer */
class JobResult
{
public:
	/** \param bytes room; enough for 100 operations unless told */
	explicit JobResult(const Device &device, uint64_t bytes = 16384) : buffer_(device, bytes) {}

	bool valid() const { return buffer_.valid(); }
	const Buffer &buffer() const { return buffer_; }

	/** \brief Waits for the job. \return 0 or -errno */
	int wait() const { return buffer_.prepare(DRM_NVDLA_BO_READ); }
	drm_nvdla_job_result job() const;
	drm_nvdla_operation_result operation(uint32_t index) const;

private:
	Buffer buffer_;
};

/** \return status of the fence in a sync file: 1 signalled, 0 active, or its error */
int syncFileStatus(int syncFile);

/** \return "DRIVER TIMELINE", the names that the fence in a sync file tells; empty if none */
std::string syncFileNames(int syncFile);

/** \return CLOCK_MONOTONIC in nanoseconds */
uint64_t now();

} /* namespace nvdla::test */

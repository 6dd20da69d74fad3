/* SPDX-License-Identifier: MIT */
/* The interface between the runtime and a device: a device file's system calls. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <nvdla/log.h>
#include <tl/expected.hpp>

#include "errno_code.h"
#include "gem_handles.h"
#include "prepared_graphs.h"
#include "base/io/own_process.h"

namespace nvdla
{

/**
 * \brief A thread of the application that computes operations of the embedded device's jobs instead
 * of sleeping until its own job ends
 */
class LentThread
{
public:
	virtual ~LentThread() = default;

	/**
	 * \brief Compute operations until the fence of a syncobj is signalled or no work is left
	 *
	 * This includes operations of other jobs that run before the job of the syncobj.
	 */
	virtual void work(uint32_t syncobj) = 0;
};

/**
 * \brief An open device file
 *
 * All requests of the runtime to a device use the structures of include/uapi/drm/nvdla_accel.h and
 * DRM's own (GEM_CLOSE, SYNCOBJ_*), so the runtime works in the same way with a kernel and with the
 * embedded device. All functions may be called from several threads at once.
 */
class DeviceBackend
{
public:
	virtual ~DeviceBackend() = default;

	/** \return the path given to Device::open() */
	virtual const std::string &path() const = 0;

	/**
	 * \brief ioctl() on the device file
	 * \param[in] request DRM_IOCTL_*
	 * \param[in,out] argument the structure that the request takes
	 * \return 0 or a negative errno; interrupted calls are repeated
	 */
	virtual int ioctl(unsigned long request, void *argument) = 0;

	/**
	 * \brief ioctl() by the process that opened the file
	 *
	 * In a child of fork() the call fails with foreignProcess, because the file's handles
	 * belong to the parent.
	 */
	int call(unsigned long request, void *argument)
	{
		return process_.isHere() ? ioctl(request, argument) : foreignProcess;
	}

	/** \brief Do mmap() on the device file (shared, readable and writable) \return the address,
	 * or a negative errno */
	virtual tl::expected<std::byte *, int> map(uint64_t offset, size_t size) = 0;
	virtual void unmap(std::byte *address, size_t size) = 0;

	/**
	 * \brief State of the fence that a syncobj holds
	 * \return 1 signalled, 0 not yet, or the negative errno that it was signalled with
	 */
	virtual int fenceStatus(uint32_t syncobj) = 0;

	/** \return a text to append to an error, which tells where details of failed jobs are
	 * logged; "" if they are not */
	virtual const char *failureRecords() const { return ""; }

	/**
	 * \brief Lend the calling thread to the device, which then computes the thread's next jobs
	 * in the lent thread
	 *
	 * While the thread is lent, no other thread begins these jobs.
	 *
	 * \return an object that must not outlive the device; null if the device does not use the
	 * thread
	 */
	std::unique_ptr<LentThread> lendThread() { return process_.isHere() ? lend() : nullptr; }

	/**
	 * \brief GEM handles of this file, with the number of owners of each; close them by
	 * GemHandles::release() only
	 */
	GemHandles &handles() { return handles_; }

	/** \brief Graphs of the file's prepared tasks */
	PreparedGraphs &graphs() { return graphs_; }

	/** \brief Receiver of messages about the device; set before other threads use the device */
	Log log;

protected:
	/** \brief Process that opened the file */
	const OwnProcess process_{};

	virtual std::unique_ptr<LentThread> lend() { return nullptr; }

private:
	GemHandles handles_;
	PreparedGraphs graphs_;
};

} /* namespace nvdla */

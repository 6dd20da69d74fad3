/* SPDX-License-Identifier: MIT */
/*
 * A device whose completions a test holds back, that it can take away, and that knows what was
 * asked of it.
 */
#pragma once

#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <drm/nvdla_accel.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "device/drm_calls.h"
#include "device/drm_device.h"
#include "device/embedded/embedded_device.h"
#include "base/io/unique_fd.h"
#include "test_support.h"

namespace nvdla::test
{

/** \brief The device under test behind a gate that jobs' ends do not pass while it is closed */
class GateDevice : public DeviceBackend
{
public:
	static std::shared_ptr<GateDevice> open()
	{
		const std::string path = devicePath();
		if (path == Device::embeddedPath)
			return behind(EmbeddedDevice::open(path));
		return behind(DrmDevice::open(path));
	}

	explicit GateDevice(std::unique_ptr<DeviceBackend> device) : device_(std::move(device)) {}

	const std::string &path() const override { return path_; }

	int ioctl(unsigned long request, void *argument) override
	{
		std::unique_lock guard(lock_);
		if (lost_ && request != DRM_IOCTL_GEM_CLOSE && request != DRM_IOCTL_SYNCOBJ_DESTROY)
			return -ENODEV;
		if (request == DRM_IOCTL_NVDLA_CONTEXT_CREATE)
			priorities_.push_back(
				static_cast<drm_nvdla_context_create *>(argument)->priority);
		if (request == syncobjEventfdRequest && closed_) {
			held_.push_back(*static_cast<SyncobjEventfd *>(argument));
			held_.back().fd = fcntl(held_.back().fd, F_DUPFD_CLOEXEC, 0);
			changed_.notify_all();
			return 0;
		}
		if (request == DRM_IOCTL_SYNCOBJ_WAIT && closed_) {
			waits_++;
			changed_.notify_all();
			changed_.wait(guard, [this] { return !closed_ || lost_; });
			waits_--;
			if (lost_)
				return -ENODEV;
		}
		watched_ += request == syncobjEventfdRequest;
		passed_ += request == syncobjEventfdRequest || request == DRM_IOCTL_SYNCOBJ_WAIT;
		changed_.notify_all();
		guard.unlock();
		return device_->ioctl(request, argument);
	}

	tl::expected<std::byte *, int> map(uint64_t offset, size_t size) override
	{
		return device_->map(offset, size);
	}

	void unmap(std::byte *address, size_t size) override { device_->unmap(address, size); }

	int fenceStatus(uint32_t syncobj) override
	{
		{
			const std::lock_guard guard(lock_);
			if (lost_)
				return -ENODEV;
		}
		return device_->fenceStatus(syncobj);
	}

	void close()
	{
		const std::lock_guard guard(lock_);
		closed_ = true;
	}

	/** \brief Wait until so many jobs are behind the gate */
	void waitHeld(size_t jobs)
	{
		std::unique_lock guard(lock_);
		changed_.wait(guard, [&] { return held_.size() + waits_ >= jobs; });
		EXPECT_EQ(held_.size() + waits_, jobs);
	}

	/** \brief Wait until so many jobs went through the open gate: they are with the device */
	void waitPassed(size_t jobs)
	{
		std::unique_lock guard(lock_);
		changed_.wait(guard, [&] { return passed_ >= jobs; });
	}

	/** \return jobs whose ends went through to an event loop */
	size_t watched()
	{
		const std::lock_guard guard(lock_);
		return watched_;
	}

	/** \return of the contexts that were made, in this order */
	std::vector<uint32_t> contextPriorities()
	{
		const std::lock_guard guard(lock_);
		return priorities_;
	}

	/** \brief Let everything pass, now and from now on */
	void release()
	{
		const std::lock_guard guard(lock_);
		closed_ = false;
		changed_.notify_all();
		for (SyncobjEventfd &one : held_) {
			const UniqueFd fd(one.fd);
			EXPECT_EQ(device_->ioctl(syncobjEventfdRequest, &one), 0);
		}
		held_.clear();
	}

	/** \brief The device is gone: whatever ran has failed */
	void lose()
	{
		const std::lock_guard guard(lock_);
		lost_ = true;
		changed_.notify_all();
		for (const SyncobjEventfd &one : held_) {
			const UniqueFd fd(one.fd);
			eventfd_write(fd.get(), 1);
		}
		held_.clear();
	}

private:
	template<typename Backend>
	static std::shared_ptr<GateDevice> behind(Result<std::unique_ptr<Backend>> device)
	{
		EXPECT_TRUE(device) << device.error().message();
		return std::make_shared<GateDevice>(std::move(*device));
	}

	const std::string path_ = "gate";
	std::unique_ptr<DeviceBackend> device_;
	std::mutex lock_;
	std::condition_variable changed_;
	std::vector<SyncobjEventfd> held_;
	std::vector<uint32_t> priorities_;
	size_t passed_ = 0;  /* jobs whose end somebody waits for */
	size_t watched_ = 0; /* those of them that an event loop waits for */
	size_t waits_ = 0;   /* threads that wait for a job's end at the gate */
	bool closed_ = false;
	bool lost_ = false;
};

} /* namespace nvdla::test */

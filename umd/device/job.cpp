/* SPDX-License-Identifier: MIT */
#include <cstring>
#include <string>
#include <utility>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>
#include <nvdla/device.h>

#include "base/io/guarded.h"
#include "clock.h"
#include "drm_calls.h"
#include "errno_code.h"

namespace nvdla
{

namespace
{

constexpr const char *waitingForJob = "wait for job";

/** \return the meaning of a fence's error. \a records: text that tells where further details of a
 * failure are */
std::string failureOf(int status, const char *records)
{
	std::string meaning;

	switch (status) {
	case -ETIMEDOUT:
		meaning = "the device took longer than the job may run and was reset";
		break;
	case -EIO:
		meaning = "the device did not do what it should and was reset";
		break;
	default:
		return reasonOf(status);
	}
	return meaning + records;
}

} /* namespace */

Job::Job(std::shared_ptr<DeviceBackend> backend, uint32_t syncobj)
	: backend_(std::move(backend)), syncobj_(syncobj)
{
}

Job::Job(Job &&other) noexcept
	: backend_(std::move(other.backend_)), syncobj_(std::exchange(other.syncobj_, 0)),
	  thread_(std::move(other.thread_))
{
}

Job &Job::operator=(Job &&other) noexcept
{
	std::swap(backend_, other.backend_);
	std::swap(syncobj_, other.syncobj_);
	std::swap(thread_, other.thread_);
	return *this;
}

Job::~Job()
{
	if (syncobj_)
		destroySyncobj(*backend_, syncobj_);
}

Result<void> Job::notify(int eventfd)
{
	return guarded("watch job", [&]() -> Result<void> {
		thread_.reset();
		if (const int error = notifyEventfd(*backend_, syncobj_, eventfd))
			return fail(codeOf(error), "watch job", backend_->path(), reasonOf(error));
		return {};
	});
}

Result<void> Job::wait(std::chrono::milliseconds timeout)
{
	return guarded(waitingForJob, [&]() -> Result<void> {
		/*
		 * Lend the thread only if there is no time limit: within an operation it could not
		 * stop when the time is over.
		 */
		if (thread_ && timeout == std::chrono::milliseconds::max())
			thread_->work(syncobj_);
		thread_.reset();
		const int error = waitSyncobj(*backend_, syncobj_, deadlineNs(timeout));

		if (error == -ETIME || error == -ETIMEDOUT)
			return fail(ErrorCode::Timeout, waitingForJob, backend_->path(),
				    fmt::format("not done after {} ms", timeout.count()));
		if (error)
			return fail(codeOf(error), waitingForJob, backend_->path(),
				    reasonOf(error));
		return status();
	});
}

Result<void> Job::status()
{
	return guarded(waitingForJob, [&]() -> Result<void> {
		thread_.reset();
		const int status = backend_->fenceStatus(syncobj_);
		if (status == 1)
			return {};
		if (status == 0)
			return fail(ErrorCode::Timeout, waitingForJob, backend_->path(),
				    "not done yet");
		if (status == -ENODEV)
			return fail(ErrorCode::DeviceLost, waitingForJob, backend_->path(),
				    "the device is gone");
		return fail(status == -ETIMEDOUT ? ErrorCode::Timeout : ErrorCode::DeviceFailed,
			    waitingForJob, backend_->path(),
			    failureOf(status, backend_->failureRecords()));
	});
}

} /* namespace nvdla */

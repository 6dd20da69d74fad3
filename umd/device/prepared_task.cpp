/* SPDX-License-Identifier: MIT */
#include <utility>

#include <drm/nvdla_accel.h>
#include <nvdla/device.h>

#include "backend.h"

namespace nvdla
{

PreparedTask::PreparedTask(PreparedTask &&other) noexcept
	: backend_(std::move(other.backend_)), handle_(std::exchange(other.handle_, 0))
{
}

PreparedTask &PreparedTask::operator=(PreparedTask &&other) noexcept
{
	std::swap(backend_, other.backend_);
	std::swap(handle_, other.handle_);
	return *this;
}

PreparedTask::~PreparedTask()
{
	if (!handle_)
		return;
	backend_->graphs().remove(handle_);
	drm_nvdla_task_destroy destroy = {};
	destroy.handle = handle_;
	backend_->call(DRM_IOCTL_NVDLA_TASK_DESTROY, &destroy);
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <utility>

#include <drm/nvdla_accel.h>
#include <nvdla/device.h>

#include "backend.h"

namespace nvdla
{

Context::Context(Context &&other) noexcept
	: backend_(std::move(other.backend_)), id_(std::exchange(other.id_, 0))
{
}

Context &Context::operator=(Context &&other) noexcept
{
	std::swap(backend_, other.backend_);
	std::swap(id_, other.id_);
	return *this;
}

Context::~Context()
{
	if (!id_)
		return;
	drm_nvdla_context_destroy destroy = {};
	destroy.context = id_;
	backend_->call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy);
}

} /* namespace nvdla */

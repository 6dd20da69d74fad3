/* SPDX-License-Identifier: MIT */
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nvdla/device.h>

#include "backend.h"
#include "clock.h"
#include "drm_calls.h"
#include "errno_code.h"

namespace nvdla
{

Buffer::Access::Access(Access &&other) noexcept
	: backend_(std::exchange(other.backend_, nullptr)), handle_(other.handle_),
	  bytes_(other.bytes_)
{
}

Buffer::Access::~Access()
{
	if (!backend_)
		return;
	drm_nvdla_bo_fini fini = {};
	fini.handle = handle_;
	backend_->ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini);
}

Buffer::Buffer(Buffer &&other) noexcept
	: backend_(std::move(other.backend_)), handle_(std::exchange(other.handle_, 0)),
	  size_(other.size_), mapping_(std::exchange(other.mapping_, nullptr)),
	  mappingSize_(other.mappingSize_)
{
}

Buffer &Buffer::operator=(Buffer &&other) noexcept
{
	std::swap(backend_, other.backend_);
	std::swap(handle_, other.handle_);
	std::swap(size_, other.size_);
	std::swap(mapping_, other.mapping_);
	std::swap(mappingSize_, other.mappingSize_);
	return *this;
}

Buffer::~Buffer()
{
	if (mapping_)
		backend_->unmap(mapping_, mappingSize_);
	if (handle_)
		closeHandle(*backend_, handle_);
}

Result<Buffer::Access> Buffer::access(uint32_t flags, std::chrono::milliseconds timeout)
{
	constexpr const char *what = "access buffer";
	drm_nvdla_bo_prep prep = {};
	prep.handle = handle_;
	prep.flags = flags;
	prep.timeout_ns = deadlineNs(timeout);
	const int error = backend_->ioctl(DRM_IOCTL_NVDLA_BO_PREP, &prep);
	if (error == -ETIMEDOUT)
		return fail(ErrorCode::Timeout, what, backend_->path(),
			    fmt::format("the device still uses it after {} ms", timeout.count()));
	if (error)
		return fail(codeOf(error), what, backend_->path(), std::strerror(-error));
	return Access(backend_.get(), handle_, std::span(mapping_, size_));
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <cerrno>
#include <cstring>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>
#include <nvdla/device.h>

#include "base/io/guarded.h"
#include "buffer_memory.h"
#include "clock.h"
#include "drm_calls.h"
#include "errno_code.h"

namespace nvdla
{

static_assert(static_cast<uint32_t>(CpuAccess::Read) == DRM_NVDLA_BO_READ);
static_assert(static_cast<uint32_t>(CpuAccess::Write) == DRM_NVDLA_BO_WRITE);

BufferMemory::~BufferMemory()
{
	if (mapping)
		backend->unmap(mapping, mappingSize);
	backend->handles().release(*backend, handle);
}

int BufferMemory::map()
{
	drm_nvdla_bo_mmap_offset place = {};

	place.handle = handle;
	if (const int error = backend->call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &place))
		return error;
	auto mapped = backend->map(place.offset, mappingSize);
	if (!mapped)
		return mapped.error();
	mapping = *mapped;
	return 0;
}

Buffer::Access::Access(Access &&other) noexcept = default;

Buffer::Access::~Access()
{
	if (!memory_)
		return;
	drm_nvdla_bo_fini fini = {};
	fini.handle = memory_->handle;
	memory_->backend->call(DRM_IOCTL_NVDLA_BO_FINI, &fini);
}

std::span<std::byte> Buffer::Access::bytes() const
{
	return { memory_->mapping, memory_->size };
}

uint32_t Buffer::handle() const
{
	return memory_->handle;
}

uint64_t Buffer::size() const
{
	return memory_->size;
}

Result<Buffer::Access> Buffer::access(CpuAccess access, std::chrono::milliseconds timeout) const
{
	constexpr const char *what = "access buffer";
	return guarded(what, [&]() -> Result<Buffer::Access> {
		DeviceBackend &backend = *memory_->backend;
		drm_nvdla_bo_prep prep = {};

		if (!memory_->mapping)
			return fail(ErrorCode::Unsupported, what, backend.path(),
				    "the CPU cannot map this memory");
		prep.handle = memory_->handle;
		prep.flags = static_cast<__u32>(access);
		prep.timeout_ns = deadlineNs(timeout);
		const int error = backend.call(DRM_IOCTL_NVDLA_BO_PREP, &prep);
		if (error == -ETIMEDOUT)
			return fail(ErrorCode::Timeout, what, backend.path(),
				    fmt::format("the device still uses it after {} ms",
						timeout.count()));
		if (error)
			return fail(codeOf(error), what, backend.path(), reasonOf(error));
		return Access(memory_);
	});
}

Result<int> Buffer::exportDmaBuf() const
{
	constexpr const char *what = "export buffer";
	return guarded(what, [&]() -> Result<int> {
		auto fd = nvdla::exportDmaBuf(*memory_->backend, memory_->handle);

		if (fd)
			return *fd;
		const bool never =
			fd.error() == -EOPNOTSUPP || fd.error() == -ENOSYS || fd.error() == -ENOTTY;
		return fail(
			never ? ErrorCode::Unsupported : codeOf(fd.error()), what,
			memory_->backend->path(),
			fmt::format("{} bytes: {}", memory_->size,
				    never ? "this memory cannot be shared" : reasonOf(fd.error())));
	});
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "imported_buffer.h"

namespace nvdla::test
{

ImportedBuffer::ImportedBuffer(const Device &device, const DmaBuf &dmaBuf)
	: device_(device), result_(dmaBuf.importTo(device.fd(), handle_))
{
}

ImportedBuffer::~ImportedBuffer()
{
	if (handle_)
		device_.closeHandle(handle_);
}

int ImportedBuffer::prepare(uint32_t flags, int64_t timeoutNs) const
{
	drm_nvdla_bo_prep prep = { .handle = handle_, .flags = flags, .timeout_ns = timeoutNs };
	return device_.ioctl(DRM_IOCTL_NVDLA_BO_PREP, &prep);
}

int ImportedBuffer::finish() const
{
	drm_nvdla_bo_fini fini = { .handle = handle_, .flags = 0 };
	return device_.ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini);
}

int64_t ImportedBuffer::mmapOffset() const
{
	drm_nvdla_bo_mmap_offset offset = { .handle = handle_, .flags = 0, .offset = 0 };
	const int ret = device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset);
	return ret ? ret : static_cast<int64_t>(offset.offset);
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
#include "sram_buffer.h"

#include <cerrno>

#include "eventually.h"

namespace nvdla::test
{

SramBuffer::SramBuffer(const Device &device, uint64_t size) : device_(device)
{
	drm_nvdla_bo_create create = { .size = size, .flags = DRM_NVDLA_BO_SRAM, .handle = 0 };
	result_ = device.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create);
	handle_ = create.handle;
}

SramBuffer::~SramBuffer()
{
	if (!result_)
		device_.closeHandle(handle_);
}

std::unique_ptr<SramBuffer> SramBuffer::createWhenThereIsRoom(const Device &device, uint64_t size)
{
	std::unique_ptr<SramBuffer> buffer;
	eventually([&] {
		buffer = std::make_unique<SramBuffer>(device, size);
		return buffer->result() != -ENOSPC;
	});
	return buffer;
}

CopyTask SramBuffer::copy(uint32_t source, nvdla_mem_type sourceType, uint32_t destination,
			  nvdla_mem_type destinationType, uint32_t bytes)
{
	CopyTask task;
	task.addAddress(source);
	task.addAddress(destination);
	task.addCopy(0, 1, page, bytes / page);
	task.surfaces.back().bdma.src_type = static_cast<uint8_t>(sourceType);
	task.surfaces.back().bdma.dst_type = static_cast<uint8_t>(destinationType);
	return task;
}

} /* namespace nvdla::test */

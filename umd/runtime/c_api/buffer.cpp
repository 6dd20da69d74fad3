/* SPDX-License-Identifier: MIT */
#include <chrono>

#include "objects.h"

using namespace nvdla;
using c_api::failure;
using c_api::missing;
using c_api::statusOf;

namespace
{

nvdla_status give(Result<Buffer> from, nvdla_buffer **buffer)
{
	if (!from)
		return failure(from.error());
	*buffer = new nvdla_buffer{ std::move(*from) };
	return NVDLA_STATUS_OK;
}

} /* namespace */

enum nvdla_status nvdla_buffer_create(struct nvdla_device *device, size_t size,
				      struct nvdla_buffer **buffer)
{
	return c_api::guardedCall("nvdla_buffer_create", [&]() -> nvdla_status {
		if (!device || !buffer)
			return missing("create buffer", device ? "buffer" : "device");
		return give(device->device.allocate(size), buffer);
	});
}

enum nvdla_status nvdla_buffer_import(struct nvdla_device *device, int fd,
				      struct nvdla_buffer **buffer)
{
	return c_api::guardedCall("nvdla_buffer_import", [&]() -> nvdla_status {
		if (!device || !buffer)
			return missing("import dma-buf", device ? "buffer" : "device");
		return give(device->device.importDmaBuf(fd), buffer);
	});
}

void nvdla_buffer_free(struct nvdla_buffer *buffer)
{
	delete buffer;
}

size_t nvdla_buffer_size(const struct nvdla_buffer *buffer)
{
	return buffer ? buffer->buffer.size() : 0;
}

enum nvdla_status nvdla_buffer_export(const struct nvdla_buffer *buffer, int *fd)
{
	return c_api::guardedCall("nvdla_buffer_export", [&]() -> nvdla_status {
		if (!buffer || !fd)
			return missing("export buffer", buffer ? "fd" : "buffer");
		auto exported = buffer->buffer.exportDmaBuf();
		if (!exported)
			return failure(exported.error());
		*fd = *exported;
		return NVDLA_STATUS_OK;
	});
}

enum nvdla_status nvdla_buffer_begin_access(struct nvdla_buffer *buffer, uint32_t timeout_ms,
					    void **bytes)
{
	return c_api::guardedCall("nvdla_buffer_begin_access", [&]() -> nvdla_status {
		if (!buffer || !bytes)
			return missing("access buffer", buffer ? "bytes" : "buffer");
		if (buffer->access)
			return failure(
				{ ErrorCode::Busy, "access buffer", "", "it is accessed already" });
		auto access = buffer->buffer.access(CpuAccess::ReadWrite,
						    std::chrono::milliseconds(timeout_ms));
		if (!access)
			return failure(access.error());
		*bytes = access->bytes().data();
		buffer->access.emplace(std::move(*access));
		return NVDLA_STATUS_OK;
	});
}

void nvdla_buffer_end_access(struct nvdla_buffer *buffer)
{
	if (buffer)
		buffer->access.reset();
}

enum nvdla_status nvdla_request_bind_input(struct nvdla_request *request, size_t index,
					   const struct nvdla_buffer *buffer, uint64_t offset)
{
	return c_api::guardedCall("nvdla_request_bind_input", [&]() -> nvdla_status {
		if (!request)
			return missing("bind tensor", "request");
		if (!buffer)
			return statusOf(request->request.unbindInput(index));
		return statusOf(request->request.bindInput(index, { buffer->buffer, offset }));
	});
}

enum nvdla_status nvdla_request_bind_output(struct nvdla_request *request, size_t index,
					    const struct nvdla_buffer *buffer, uint64_t offset)
{
	return c_api::guardedCall("nvdla_request_bind_output", [&]() -> nvdla_status {
		if (!request)
			return missing("bind tensor", "request");
		if (!buffer)
			return statusOf(request->request.unbindOutput(index));
		return statusOf(request->request.bindOutput(index, { buffer->buffer, offset }));
	});
}

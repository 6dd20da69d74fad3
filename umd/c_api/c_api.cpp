/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace nvdla;

using c_api::failure;
using c_api::missing;
using c_api::statusOf;

static_assert(NVDLA_STATUS_CANCELLED == static_cast<int>(ErrorCode::Cancelled) + 1);
static_assert(NVDLA_STATUS_TIMEOUT == static_cast<int>(ErrorCode::Timeout) + 1);
static_assert(NVDLA_DATA_INT8 == static_cast<int>(DataType::Int8));

namespace
{

thread_local std::string lastError;

} /* namespace */

nvdla_status c_api::failure(const Error &error)
{
	lastError = error.message();
	return statusOf(error.code);
}

nvdla_status c_api::missing(const char *function, const char *argument)
{
	return failure({ ErrorCode::InvalidArgument, function, argument, "must not be NULL" });
}

namespace
{

std::span<const std::byte> bytesAt(const void *data, size_t size)
{
	return { static_cast<const std::byte *>(data), size };
}

nvdla_status load(nvdla_device *device, Result<Loadable> loadable, nvdla_network **network)
{
	if (!loadable)
		return failure(loadable.error());
	auto loaded = Network::load(device->device, *loadable);
	if (!loaded)
		return failure(loaded.error());
	*network = new nvdla_network{ std::move(*loaded) };
	return NVDLA_STATUS_OK;
}

nvdla_status describe(const std::vector<TensorDesc> &tensors, size_t index, nvdla_tensor_info *info)
{
	if (!info)
		return missing("describe tensor", "info");
	if (index >= tensors.size())
		return failure({ ErrorCode::InvalidArgument, "describe tensor",
				 fmt::format("index {}", index),
				 fmt::format("the network has {}", tensors.size()) });
	const TensorDesc &desc = tensors[index];
	*info = { .name = desc.name.c_str(),
		  .type = static_cast<nvdla_data_type>(desc.type),
		  .n = desc.n,
		  .c = desc.c,
		  .h = desc.h,
		  .w = desc.w,
		  .pixel_format = static_cast<uint32_t>(desc.format),
		  .line_stride = desc.lineStride,
		  .surface_stride = desc.surfaceStride,
		  .element_bytes = desc.elements() * elementBytes(desc.type),
		  .tensor_bytes = desc.size };
	return NVDLA_STATUS_OK;
}

template<typename T>
nvdla_status copyOut(const Result<T> &from, void *to, size_t bytes)
{
	if (!from)
		return failure(from.error());
	if (!to || bytes != from->size())
		return failure({ ErrorCode::InvalidArgument, "get output", "",
				 fmt::format("room for {} bytes given, it has {}", to ? bytes : 0,
					     from->size()) });
	std::copy(from->begin(), from->end(), static_cast<std::byte *>(to));
	return NVDLA_STATUS_OK;
}

RunOptions runOptions(const nvdla_run_options *options)
{
	RunOptions run;

	if (!options)
		return run;
	if (options->timeout_ms)
		run.timeout = std::chrono::milliseconds(options->timeout_ms);
	/* What is no priority is refused at the submit. */
	run.priority = static_cast<Priority>(
		static_cast<uint32_t>(options->priority + static_cast<int32_t>(Priority::Normal)));
	if (options->busy)
		run.whenFull = WhenFull::Busy;
	return run;
}

} /* namespace */

const char *nvdla_last_error(void)
{
	return lastError.c_str();
}

const char *nvdla_status_name(enum nvdla_status status)
{
	return status == NVDLA_STATUS_OK ? "ok" : errorName(static_cast<ErrorCode>(status - 1));
}

enum nvdla_status nvdla_device_open(const char *path, struct nvdla_device **device)
{
	if (!path || !device)
		return missing("open device", path ? "device" : "path");
	auto opened = Device::open(path);
	if (!opened)
		return failure(opened.error());
	*device = new nvdla_device{ std::move(*opened) };
	return NVDLA_STATUS_OK;
}

void nvdla_device_free(struct nvdla_device *device)
{
	delete device;
}

enum nvdla_status nvdla_network_load_file(struct nvdla_device *device, const char *path,
					  struct nvdla_network **network)
{
	if (!device || !path || !network)
		return missing("load network", "device, path or network");
	return load(device, Loadable::readFile(path), network);
}

enum nvdla_status nvdla_network_load(struct nvdla_device *device, const void *data, size_t size,
				     struct nvdla_network **network)
{
	if (!device || !data || !network)
		return missing("load network", "device, data or network");
	return load(device, Loadable::read(bytesAt(data, size)), network);
}

void nvdla_network_free(struct nvdla_network *network)
{
	delete network;
}

size_t nvdla_network_num_inputs(const struct nvdla_network *network)
{
	return network ? network->network.inputs().size() : 0;
}

size_t nvdla_network_num_outputs(const struct nvdla_network *network)
{
	return network ? network->network.outputs().size() : 0;
}

enum nvdla_status nvdla_network_input_info(const struct nvdla_network *network, size_t index,
					   struct nvdla_tensor_info *info)
{
	if (!network)
		return missing("describe tensor", "network");
	return describe(network->network.inputs(), index, info);
}

enum nvdla_status nvdla_network_output_info(const struct nvdla_network *network, size_t index,
					    struct nvdla_tensor_info *info)
{
	if (!network)
		return missing("describe tensor", "network");
	return describe(network->network.outputs(), index, info);
}

enum nvdla_status nvdla_request_create(struct nvdla_network *network,
				       struct nvdla_request **request)
{
	if (!network || !request)
		return missing("create request", network ? "request" : "network");
	auto created = Request::create(network->network);
	if (!created)
		return failure(created.error());
	auto self = std::make_shared<std::atomic<nvdla_request *>>();
	*request = new nvdla_request{ std::move(*created), self };
	*self = *request;
	return NVDLA_STATUS_OK;
}

void nvdla_request_free(struct nvdla_request *request)
{
	if (request)
		*request->self = nullptr;
	delete request;
}

enum nvdla_status nvdla_request_set_input(struct nvdla_request *request, size_t index,
					  const void *elements, size_t bytes)
{
	if (!request || !elements)
		return missing("set input", request ? "elements" : "request");
	return statusOf(request->request.setInputElements(index, bytesAt(elements, bytes)));
}

enum nvdla_status nvdla_request_set_input_tensor(struct nvdla_request *request, size_t index,
						 const void *tensor, size_t bytes)
{
	if (!request || !tensor)
		return missing("set input", request ? "tensor" : "request");
	return statusOf(request->request.setInput(index, bytesAt(tensor, bytes)));
}

enum nvdla_status nvdla_request_get_output(const struct nvdla_request *request, size_t index,
					   void *elements, size_t bytes)
{
	if (!request)
		return missing("get output", "request");
	return copyOut(request->request.outputElements(index), elements, bytes);
}

enum nvdla_status nvdla_request_get_output_tensor(const struct nvdla_request *request, size_t index,
						  void *tensor, size_t bytes)
{
	if (!request)
		return missing("get output", "request");
	return copyOut(request->request.output(index), tensor, bytes);
}

enum nvdla_status nvdla_request_run(struct nvdla_request *request,
				    const struct nvdla_run_options *options)
{
	if (!request)
		return missing("run network", "request");
	return statusOf(request->request.run(runOptions(options)));
}

enum nvdla_status nvdla_request_submit(struct nvdla_request *request,
				       const struct nvdla_run_options *options,
				       nvdla_callback callback, void *context)
{
	if (!request)
		return missing("run network", "request");
	Request::Callback completed;
	if (callback)
		completed = [self = request->self, callback, context](const auto &result) {
			if (result)
				callback(*self, NVDLA_STATUS_OK, "", context);
			else
				callback(*self, statusOf(result.error().code),
					 result.error().message().c_str(), context);
		};
	return statusOf(request->request.submit(runOptions(options), std::move(completed)));
}

enum nvdla_status nvdla_request_wait(struct nvdla_request *request, int64_t timeout_ms)
{
	if (!request)
		return missing("wait for request", "request");
	std::optional<std::chrono::milliseconds> timeout;
	if (timeout_ms >= 0)
		timeout = std::chrono::milliseconds(timeout_ms);
	return statusOf(request->request.wait(timeout));
}

void nvdla_request_cancel(struct nvdla_request *request)
{
	if (request)
		request->request.cancel();
}

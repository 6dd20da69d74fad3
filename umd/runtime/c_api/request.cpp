/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <algorithm>

using namespace nvdla;

using c_api::bytesAt;
using c_api::failure;
using c_api::missing;
using c_api::statusOf;
using c_api::wordsOf;

namespace
{

/* Copies an output to memory of the caller. size: number of elements of type T for which there is
 * room. */
template<typename Values, typename T>
nvdla_status copyOut(const Result<Values> &from, T *to, size_t size, const char *kind)
{
	if (!from)
		return failure(from.error());
	return c_api::copyOut("get output", "", *from, to, size, kind);
}

/* Returns for each tensor the order that the caller chose, or the tensor's own. */
std::vector<ElementOrder> ordersOf(const std::vector<TensorDesc> &tensors,
				   std::optional<ElementOrder> chosen)
{
	std::vector<ElementOrder> orders;

	for (const TensorDesc &desc : tensors)
		orders.push_back(chosen.value_or(desc.order()));
	return orders;
}

/* Returns the order of tensor \a index; any order for an index out of range, which the request
 * refuses afterwards. */
ElementOrder orderAt(const std::vector<ElementOrder> &orders, size_t index)
{
	return index < orders.size() ? orders[index] : ElementOrder::Nchw;
}

/* Converts the options and passes them to \a begin, which runs or submits a request. */
template<typename Begin>
nvdla_status beginRun(const nvdla_run_options *options, Begin begin)
{
	RunOptions run;

	if (const auto read = c_api::readRunOptions(options, run))
		return read;
	return statusOf(begin(run));
}

} /* namespace */

namespace nvdla::c_api
{

nvdla_status readRunOptions(const nvdla_run_options *options, RunOptions &to)
{
	nvdla_run_options given = {};

	if (!options)
		return NVDLA_STATUS_OK;
	if (const auto read = readSized("run network", options, given))
		return read;
	if (given.timeout_ms)
		to.timeout = std::chrono::milliseconds(given.timeout_ms);
	/* Numbers that are no priority are refused when the request is submitted. */
	to.priority = static_cast<Priority>(static_cast<uint32_t>(given.priority) +
					    static_cast<uint32_t>(Priority::Normal));
	if (given.busy)
		to.whenFull = WhenFull::Busy;
	to.statistics = given.statistics != 0;
	return NVDLA_STATUS_OK;
}

RequestHandle::Use::Use(RequestHandle &handle) : handle_(handle)
{
	const std::lock_guard guard(handle_.lock_);
	handle_.user_ = std::this_thread::get_id();
	request = handle_.request;
}

RequestHandle::Use::~Use()
{
	const std::lock_guard guard(handle_.lock_);
	handle_.user_ = {};
	handle_.changed_.notify_all();
}

void RequestHandle::forget()
{
	std::unique_lock guard(lock_);
	request = nullptr;
	changed_.wait(guard, [this] {
		return user_ == std::thread::id() || user_ == std::this_thread::get_id();
	});
}

} /* namespace nvdla::c_api */

enum nvdla_status nvdla_request_create(struct nvdla_network *network,
				       struct nvdla_request **request)
{
	return c_api::guardedCall("nvdla_request_create", [&]() -> nvdla_status {
		if (!network || !request)
			return missing("create request", network ? "request" : "network");
		auto created = Request::create(network->network);
		if (!created)
			return failure(created.error());
		auto handle = std::make_shared<c_api::RequestHandle>();
		*request = new nvdla_request{ std::move(*created),
					      ordersOf(network->network.inputs(), network->order),
					      ordersOf(network->network.outputs(), network->order),
					      handle };
		handle->request = *request;
		return NVDLA_STATUS_OK;
	});
}

void nvdla_request_free(struct nvdla_request *request)
{
	if (request)
		request->handle->forget();
	delete request;
}

enum nvdla_status nvdla_request_set_input(struct nvdla_request *request, size_t index,
					  const void *elements, size_t bytes)
{
	return c_api::guardedCall("nvdla_request_set_input", [&]() -> nvdla_status {
		if (!request || !elements)
			return missing("set input", request ? "elements" : "request");
		return statusOf(request->request.setInputElements(
			index, bytesAt(elements, bytes), orderAt(request->inputOrders, index)));
	});
}

enum nvdla_status nvdla_request_set_input_float(struct nvdla_request *request, size_t index,
						const float *values, size_t count)
{
	return c_api::guardedCall("nvdla_request_set_input_float", [&]() -> nvdla_status {
		if (!request || !values)
			return missing("set input", request ? "values" : "request");
		return statusOf(request->request.setInputFloat(
			index, { values, count }, orderAt(request->inputOrders, index)));
	});
}

enum nvdla_status nvdla_request_set_input_tensor(struct nvdla_request *request, size_t index,
						 const void *tensor, size_t bytes)
{
	return c_api::guardedCall("nvdla_request_set_input_tensor", [&]() -> nvdla_status {
		if (!request || !tensor)
			return missing("set input", request ? "tensor" : "request");
		return statusOf(request->request.setInput(index, bytesAt(tensor, bytes)));
	});
}

enum nvdla_status nvdla_request_get_output(const struct nvdla_request *request, size_t index,
					   void *elements, size_t bytes)
{
	return c_api::guardedCall("nvdla_request_get_output", [&]() -> nvdla_status {
		if (!request)
			return missing("get output", "request");
		return copyOut(request->request.outputElements(
				       index, orderAt(request->outputOrders, index)),
			       static_cast<std::byte *>(elements), bytes, "bytes");
	});
}

enum nvdla_status nvdla_request_get_output_float(const struct nvdla_request *request, size_t index,
						 float *values, size_t count)
{
	return c_api::guardedCall("nvdla_request_get_output_float", [&]() -> nvdla_status {
		if (!request)
			return missing("get output", "request");
		return copyOut(
			request->request.outputFloat(index, orderAt(request->outputOrders, index)),
			values, count, "numbers");
	});
}

enum nvdla_status nvdla_request_get_output_tensor(const struct nvdla_request *request, size_t index,
						  void *tensor, size_t bytes)
{
	return c_api::guardedCall("nvdla_request_get_output_tensor", [&]() -> nvdla_status {
		if (!request)
			return missing("get output", "request");
		return copyOut(request->request.output(index), static_cast<std::byte *>(tensor),
			       bytes, "bytes");
	});
}

enum nvdla_status nvdla_request_get_output_shape(const struct nvdla_request *request, size_t index,
						 uint32_t *shape, size_t rank)
{
	return c_api::guardedCall("nvdla_request_get_output_shape", [&]() -> nvdla_status {
		if (!request)
			return missing("get shape", "request");
		const auto desc = request->request.outputDesc(index);
		if (!desc)
			return failure(desc.error());
		return c_api::copyShape("get shape", *desc, shape, rank);
	});
}

enum nvdla_status nvdla_request_run(struct nvdla_request *request,
				    const struct nvdla_run_options *options)
{
	return c_api::guardedCall("nvdla_request_run", [&]() -> nvdla_status {
		if (!request)
			return missing("run network", "request");
		return beginRun(options,
				[&](const RunOptions &run) { return request->request.run(run); });
	});
}

enum nvdla_status nvdla_request_submit(struct nvdla_request *request,
				       const struct nvdla_run_options *options,
				       nvdla_callback callback, void *context)
{
	return c_api::guardedCall("nvdla_request_submit", [&]() -> nvdla_status {
		if (!request)
			return missing("run network", "request");
		Request::Callback completed;
		if (callback)
			completed = [handle = request->handle, callback,
				     context](const auto &result) {
				const c_api::RequestHandle::Use use(*handle);
				if (result)
					callback(use.request, NVDLA_STATUS_OK, "", context);
				else
					callback(use.request, statusOf(result.error().code),
						 wordsOf(result.error()).c_str(), context);
			};
		return beginRun(options, [&](const RunOptions &run) {
			return request->request.submit(run, std::move(completed));
		});
	});
}

enum nvdla_status nvdla_request_wait(struct nvdla_request *request, int64_t timeout_ms)
{
	return c_api::guardedCall("nvdla_request_wait", [&]() -> nvdla_status {
		if (!request)
			return missing("wait for request", "request");
		std::optional<std::chrono::milliseconds> timeout;
		if (timeout_ms >= 0)
			timeout = std::chrono::milliseconds(timeout_ms);
		return statusOf(request->request.wait(timeout));
	});
}

void nvdla_request_cancel(struct nvdla_request *request)
{
	if (request)
		request->request.cancel();
}

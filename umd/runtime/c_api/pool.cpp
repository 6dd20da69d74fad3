/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <fmt/core.h>

using namespace nvdla;

using c_api::bytesAt;
using c_api::failure;
using c_api::missing;
using c_api::readSized;
using c_api::statusOf;
using c_api::wordsOf;

namespace
{

constexpr const char *creatingPool = "create pool";
constexpr const char *runningOnPool = "run on pool";
constexpr const char *gettingAnswer = "get answer";

/* Converts a request of the C interface to a PoolRequest. */
nvdla_status poolRequest(const nvdla_pool &pool, const nvdla_pool_request *from, PoolRequest &to)
{
	nvdla_pool_request given = {};

	if (const auto read = readSized(runningOnPool, from, given))
		return read;
	if (const auto read = c_api::readRunOptions(given.options, to.options))
		return read;
	to.network = given.network;
	to.stream = given.stream;
	const std::vector<TensorDesc> &inputs = pool.pool.inputs(given.network);
	if (given.num_inputs != inputs.size())
		return failure({ ErrorCode::InvalidArgument, runningOnPool, "inputs",
				 fmt::format("{} given, network {} has {}", given.num_inputs,
					     given.network, inputs.size()) });
	for (size_t i = 0; i < inputs.size(); i++) {
		if (!given.inputs || !given.inputs[i])
			return missing(runningOnPool, "inputs");
		const auto bytes = bytesAt(given.inputs[i], inputs[i].size);
		to.inputs.emplace_back(bytes.begin(), bytes.end());
	}
	return NVDLA_STATUS_OK;
}

nvdla_status copyBytes(const std::vector<std::byte> &from, void *to, size_t bytes)
{
	return c_api::copyOut(gettingAnswer, "output", from, static_cast<std::byte *>(to), bytes,
			      "bytes");
}

nvdla_status noOutput(const nvdla_pool_answer &answer, size_t index)
{
	return failure({ ErrorCode::InvalidArgument, gettingAnswer, fmt::format("output {}", index),
			 fmt::format("the network has {}", answer.answer.outputs.size()) });
}

} /* namespace */

enum nvdla_status nvdla_pool_create(struct nvdla_device *const *devices, size_t count,
				    const struct nvdla_pool_options *options,
				    struct nvdla_pool **pool)
{
	return c_api::guardedCall("nvdla_pool_create", [&]() -> nvdla_status {
		nvdla_pool_options given = {};
		PoolOptions poolOptions;
		std::vector<Device> shared;

		if ((count && !devices) || !pool)
			return missing(creatingPool, pool ? "devices" : "pool");
		if (const auto read = readSized(creatingPool, options, given))
			return read;
		for (size_t i = 0; i < count; i++) {
			if (!devices[i])
				return missing(creatingPool, "devices");
			shared.push_back(devices[i]->device);
		}
		poolOptions.loop = c_api::loopOf(given.loop);
		if (given.slots)
			poolOptions.slots = given.slots;
		if (given.max_pending)
			poolOptions.maxPending = given.max_pending;
		auto created = Pool::create(std::move(shared), poolOptions);
		if (!created)
			return failure(created.error());
		*pool = new nvdla_pool{ std::move(*created) };
		return NVDLA_STATUS_OK;
	});
}

void nvdla_pool_free(struct nvdla_pool *pool)
{
	delete pool;
}

enum nvdla_status nvdla_pool_add_network(struct nvdla_pool *pool, const void *data, size_t size,
					 size_t *network)
{
	return c_api::guardedCall("nvdla_pool_add_network", [&]() -> nvdla_status {
		if (!pool || !data || !network)
			return missing("load network", "pool, data or network");
		auto loadable = Loadable::read(bytesAt(data, size));
		if (!loadable)
			return failure(loadable.error());
		auto number = pool->pool.addNetwork(*loadable);
		if (!number)
			return failure(number.error());
		*network = *number;
		return NVDLA_STATUS_OK;
	});
}

enum nvdla_status nvdla_pool_add_device(struct nvdla_pool *pool, struct nvdla_device *device)
{
	return c_api::guardedCall("nvdla_pool_add_device", [&]() -> nvdla_status {
		if (!pool || !device)
			return missing("add device", pool ? "device" : "pool");
		return statusOf(pool->pool.addDevice(device->device));
	});
}

size_t nvdla_pool_num_inputs(const struct nvdla_pool *pool, size_t network)
{
	return pool ? pool->pool.inputs(network).size() : 0;
}

size_t nvdla_pool_num_outputs(const struct nvdla_pool *pool, size_t network)
{
	return pool ? pool->pool.outputs(network).size() : 0;
}

enum nvdla_status nvdla_pool_input_info(const struct nvdla_pool *pool, size_t network, size_t index,
					struct nvdla_tensor_info *info)
{
	return c_api::guardedCall("nvdla_pool_input_info", [&]() -> nvdla_status {
		if (!pool)
			return missing("describe tensor", "pool");
		return c_api::describe(pool->pool.inputs(network), index, info);
	});
}

enum nvdla_status nvdla_pool_output_info(const struct nvdla_pool *pool, size_t network,
					 size_t index, struct nvdla_tensor_info *info)
{
	return c_api::guardedCall("nvdla_pool_output_info", [&]() -> nvdla_status {
		if (!pool)
			return missing("describe tensor", "pool");
		return c_api::describe(pool->pool.outputs(network), index, info);
	});
}

enum nvdla_status nvdla_pool_pack_input(const struct nvdla_pool *pool, size_t network, size_t index,
					enum nvdla_element_order order, const void *elements,
					size_t bytes, void *tensor, size_t tensor_bytes)
{
	constexpr const char *what = "pack input";

	return c_api::guardedCall(what, [&]() -> nvdla_status {
		if (!pool || !elements || !tensor)
			return missing(what, "pool, elements or tensor");
		const std::vector<TensorDesc> &inputs = pool->pool.inputs(network);
		if (index >= inputs.size())
			return c_api::noTensor(what, index, inputs);
		const auto as = c_api::orderOf(what, order);
		if (!as)
			return failure(as.error());
		return statusOf(packElements(inputs[index], bytesAt(elements, bytes),
					     { static_cast<std::byte *>(tensor), tensor_bytes },
					     as->value_or(inputs[index].order())));
	});
}

enum nvdla_status nvdla_pool_submit(struct nvdla_pool *pool,
				    const struct nvdla_pool_request *request,
				    nvdla_pool_callback callback, void *context)
{
	return c_api::guardedCall("nvdla_pool_submit", [&]() -> nvdla_status {
		PoolRequest work;

		if (!pool || !request || !callback)
			return missing(runningOnPool, "pool, request or callback");
		if (const auto read = poolRequest(*pool, request, work))
			return read;
		return statusOf(pool->pool.submit(
			std::move(work), [callback, context](Result<PoolAnswer> result) {
				if (!result)
					return callback(nullptr, statusOf(result.error().code),
							wordsOf(result.error()).c_str(), context);
				const nvdla_pool_answer answer{ std::move(*result) };
				callback(&answer, NVDLA_STATUS_OK, "", context);
			}));
	});
}

enum nvdla_status nvdla_pool_run(struct nvdla_pool *pool, const struct nvdla_pool_request *request,
				 struct nvdla_pool_answer **answer)
{
	return c_api::guardedCall("nvdla_pool_run", [&]() -> nvdla_status {
		PoolRequest work;

		if (!pool || !request || !answer)
			return missing(runningOnPool, "pool, request or answer");
		if (const auto read = poolRequest(*pool, request, work))
			return read;
		auto result = pool->pool.run(std::move(work));
		if (!result)
			return failure(result.error());
		*answer = new nvdla_pool_answer{ std::move(*result) };
		return NVDLA_STATUS_OK;
	});
}

void nvdla_pool_answer_free(struct nvdla_pool_answer *answer)
{
	delete answer;
}

size_t nvdla_pool_answer_device(const struct nvdla_pool_answer *answer)
{
	return answer ? answer->answer.device : 0;
}

enum nvdla_status nvdla_pool_answer_get_output(const struct nvdla_pool_answer *answer, size_t index,
					       enum nvdla_element_order order, void *elements,
					       size_t bytes)
{
	return c_api::guardedCall("nvdla_pool_answer_get_output", [&]() -> nvdla_status {
		if (!answer)
			return missing(gettingAnswer, "answer");
		if (index >= answer->answer.outputs.size())
			return noOutput(*answer, index);
		const auto as = c_api::orderOf(gettingAnswer, order);
		if (!as)
			return failure(as.error());
		const TensorDesc &desc = answer->answer.tensors[index];
		if (answer->answer.outputs[index].empty())
			return copyBytes({}, elements, bytes);
		const auto unpacked = unpackElements(desc, answer->answer.outputs[index],
						     as->value_or(desc.order()));
		if (!unpacked)
			return failure(unpacked.error());
		return copyBytes(*unpacked, elements, bytes);
	});
}

enum nvdla_status nvdla_pool_answer_get_output_tensor(const struct nvdla_pool_answer *answer,
						      size_t index, void *tensor, size_t bytes)
{
	return c_api::guardedCall("nvdla_pool_answer_get_output_tensor", [&]() -> nvdla_status {
		if (!answer)
			return missing(gettingAnswer, "answer");
		if (index >= answer->answer.outputs.size())
			return noOutput(*answer, index);
		return copyBytes(answer->answer.outputs[index], tensor, bytes);
	});
}

enum nvdla_status nvdla_pool_answer_get_output_shape(const struct nvdla_pool_answer *answer,
						     size_t index, uint32_t *shape, size_t rank)
{
	return c_api::guardedCall("nvdla_pool_answer_get_output_shape", [&]() -> nvdla_status {
		if (!answer)
			return missing(gettingAnswer, "answer");
		if (index >= answer->answer.tensors.size())
			return noOutput(*answer, index);
		return c_api::copyShape(gettingAnswer, answer->answer.tensors[index], shape, rank);
	});
}

enum nvdla_status nvdla_pool_answer_get_report(const struct nvdla_pool_answer *answer,
					       struct nvdla_report **report)
{
	return c_api::guardedCall("nvdla_pool_answer_get_report", [&]() -> nvdla_status {
		if (!answer || !report)
			return missing(gettingAnswer, answer ? "report" : "answer");
		return c_api::giveReport(answer->answer.report, report);
	});
}

enum nvdla_status nvdla_pool_use(const struct nvdla_pool *pool, nvdla_use_found found,
				 void *context)
{
	return c_api::guardedCall("nvdla_pool_use", [&]() -> nvdla_status {
		if (!pool || !found)
			return missing("tell use of devices", pool ? "found" : "pool");
		for (const DeviceUse &use : pool->pool.use()) {
			const nvdla_device_use one = {
				.size = sizeof(one),
				.path = use.path.c_str(),
				.lost = use.lost,
				.running = use.running,
				.completed = use.completed,
				.moved = use.moved,
				.busy_ns = static_cast<uint64_t>(use.busy.count()),
			};
			found(&one, context);
		}
		return NVDLA_STATUS_OK;
	});
}

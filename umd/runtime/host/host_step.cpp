/* SPDX-License-Identifier: MIT */
#include "host_step.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/io/printable.h"
#include "base/tensor/host_tensor.h"

namespace nvdla
{

namespace
{

/* Returns the names of the task's operators for a message; only the first ones, because there can
 * be thousands. */
std::string namesOf(const HostTask &task)
{
	constexpr size_t shown = 4;
	const std::vector<std::string> first(
		task.layers.begin(),
		task.layers.begin() + static_cast<ptrdiff_t>(std::min(shown, task.layers.size())));
	const size_t more = task.layers.size() - first.size();

	return printable(fmt::format("task {}, {}{}", task.id, fmt::join(first, ", "),
				     more ? fmt::format(" and {} more", more) : ""));
}

Result<void> move(const TensorDesc &from, std::span<std::byte> fromBytes, const TensorDesc &to,
		  std::span<std::byte> toBytes)
{
	if (to.format != PixelFormat::Plain)
		return packHost(to, to.order(), { from.type, fromBytes }, toBytes);
	return unpackHost(from, from.order(), fromBytes, { to.type, toBytes });
}

std::vector<HostArray> arraysOf(std::span<const TensorDesc> tensors,
				std::span<const std::span<std::byte>> bytes)
{
	std::vector<HostArray> arrays;

	for (size_t i = 0; i < tensors.size(); i++) {
		HostArray &array = arrays.emplace_back();
		array.what = { tensors[i].name, onnxType(tensors[i].type), {} };
		for (const uint32_t length : tensors[i].signature->shape)
			array.what.shape.push_back(length == openAxis ? -1 : int64_t{ length });
		array.bytes = bytes[i];
	}
	return arrays;
}

} /* namespace */

Result<HostModels> openHostModels(const Loadable &loadable, std::span<const AnyTask> tasks)
{
	HostModels models(tasks.size());

	for (size_t i = 0; i < tasks.size(); i++) {
		const auto *task = std::get_if<HostTask>(&tasks[i]);
		if (!task || task->model.empty())
			continue;
		auto model = HostModel::open(loadable.blob(task->model)->data);
		if (!model) {
			model.error().where = namesOf(*task) + ": " + model.error().where;
			return forward(model);
		}
		models[i].emplace(std::move(*model));
	}
	return models;
}

Result<void> runHost(const HostTask &task, const HostModel *model,
		     std::span<const std::span<std::byte>> inputs,
		     std::span<const std::span<std::byte>> outputs,
		     std::span<HostResult *const> results)
{
	Result<void> done;

	if (model) {
		std::vector<HostArray> to = arraysOf(task.outputs, outputs);
		for (size_t i = 0; i < to.size(); i++)
			to[i].result = results[i];
		done = model->run(arraysOf(task.inputs, inputs), to);
	}
	for (size_t i = 0; i < inputs.size() && !model && done; i++)
		done = move(task.inputs[i], inputs[i], task.outputs[i], outputs[i]);
	if (!done)
		done.error().where = namesOf(task) + ": " + done.error().where;
	return done;
}

} /* namespace nvdla */

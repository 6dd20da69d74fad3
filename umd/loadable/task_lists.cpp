/* SPDX-License-Identifier: MIT */
#include "task_lists.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "emu_descriptors.h"

namespace nvdla
{

namespace
{

constexpr const char *takingTask = "take task from loadable";

/*
 * Upper limit for the number of operations that the blobs can describe: an operation of the CPU
 * takes at least a buffer pair, and one of the core more bytes.
 */
uint64_t descriptorRoom(const Loadable &loadable)
{
	uint64_t bytes = 0;

	for (const Blob &blob : loadable.blobs)
		bytes += blob.data.size();
	return bytes / emuBufferPairBytes;
}

/*
 * Limit on tensors of host tasks: a hostile file names a tensor any number of times with two bytes
 * each, and each time the tensor takes much more memory.
 */
constexpr size_t mostHostTensors = 65536;

uint64_t operationsOf(const AnyTask &task)
{
	const auto count = [](const auto &any) -> uint64_t {
		if constexpr (requires { any.operations; })
			return any.operations.size();
		return 0;
	};
	return std::visit(count, task);
}

} /* namespace */

LoadableIndex::LoadableIndex(const Loadable &loadable)
{
	std::unordered_map<std::string_view, const Blob *> blobs;

	for (const Blob &blob : loadable.blobs)
		blobs.emplace(blob.name, &blob);
	for (const Task &task : loadable.tasks)
		tasks_.emplace(task.id, &task);
	for (const Address &address : loadable.addresses)
		addresses_.emplace(address.id, &address);
	for (const TensorEntry &tensor : loadable.tensors)
		tensors_.emplace(tensor.id, &tensor);
	for (const Memory &memory : loadable.memories) {
		auto &contents = contents_[memory.id];
		for (const MemoryContent &content : memory.contents) {
			const auto blob = blobs.find(content.blob);
			if (blob != blobs.end())
				contents.push_back({ content.offset, blob->second });
		}
	}
}

Result<std::vector<std::string>> TaskLists::layers(size_t operations) const
{
	if (!task_.layers.empty() && task_.layers.size() != operations)
		return fail(ErrorCode::InvalidFile, takingTask, where("layers"),
			    fmt::format("has {} names for {} operations", task_.layers.size(),
					operations));
	return task_.layers;
}

std::string TaskLists::where(const std::string &name) const
{
	return fmt::format("task {} {}", task_.id, name);
}

Result<DescriptorList> TaskLists::find(const char *name, int index, uint64_t bytes) const
{
	if (index < 0 || static_cast<size_t>(index) >= task_.addressList.size())
		return fail(ErrorCode::InvalidFile, takingTask, where(name),
			    fmt::format("address index {} is not in the list of {}", index,
					task_.addressList.size()));

	const Address &address = *index_.address(task_.addressList[index]);
	uint64_t available = 0;

	for (const LoadableIndex::Content &content : index_.contents(address.memId)) {
		const Blob &blob = *content.blob;
		if (address.offset < content.offset ||
		    address.offset - content.offset >= blob.data.size())
			continue;
		const uint64_t skip = address.offset - content.offset;
		available = std::min<uint64_t>(blob.data.size() - skip, address.size);
		if (available >= bytes)
			return DescriptorList{ std::span(blob.data).subspan(skip, available),
					       blob.version };
	}
	return fail(ErrorCode::InvalidFile, takingTask, where(name),
		    fmt::format("needs {} bytes, memory {} holds {} at {}", bytes, address.memId,
				available, address.offset));
}

std::vector<TaskAddress> TaskLists::addresses() const
{
	std::vector<TaskAddress> addresses;

	addresses.reserve(task_.addressList.size());
	for (uint16_t id : task_.addressList) {
		const Address &address = *index_.address(id);
		addresses.push_back({ address.memId, address.offset, address.size, false });
	}
	return addresses;
}

Result<std::vector<AnyTask>> tasksInOrder(const Loadable &loadable)
{
	return guarded("read tasks", [&]() -> Result<std::vector<AnyTask>> {
		const LoadableIndex index(loadable);
		uint64_t left = descriptorRoom(loadable);
		std::vector<AnyTask> tasks;
		size_t tensors = 0;

		for (const Submit &submit : loadable.submits) {
			for (uint16_t id : submit.taskIds) {
				const Task *task = index.task(id);
				if (!task)
					return fail(
						ErrorCode::InvalidFile, takingTask,
						fmt::format("submit_list id {}.task_id", submit.id),
						fmt::format("{} names no task", id));
				if (task->interface == Interface::Emu1) {
					auto emu = emuTask(index, id);
					if (!emu)
						return forward(emu);
					tasks.emplace_back(std::move(*emu));
				} else if (task->interface == Interface::Host1) {
					auto host = hostTask(index, id);
					if (!host)
						return forward(host);
					tensors += host->addresses.size();
					if (tensors > mostHostTensors)
						return fail(ErrorCode::InvalidFile, takingTask,
							    fmt::format("task {}", id),
							    "with it tasks for the host have "
							    "too many tensors");
					tasks.emplace_back(std::move(*host));
				} else {
					auto dla = dlaTask(index, id);
					if (!dla)
						return forward(dla);
					tasks.emplace_back(std::move(*dla));
				}
				const uint64_t used = operationsOf(tasks.back());
				if (used > left)
					return fail(
						ErrorCode::InvalidFile, takingTask,
						fmt::format("submit_list id {}.task_id", submit.id),
						fmt::format(
							"with task {} there are more operations "
							"than "
							"the file has room for: tasks share their "
							"descriptors",
							id));
				left -= used;
			}
		}
		if (tasks.empty())
			return fail(ErrorCode::InvalidFile, takingTask, "submit_list",
				    "names no task");
		return tasks;
	});
}

Result<NetworkParts> networkParts(const Loadable &loadable)
{
	return guarded("read tasks", [&]() -> Result<NetworkParts> {
		auto tasks = tasksInOrder(loadable);
		if (!tasks)
			return forward(tasks);
		auto inputs = describeTensors(loadable, MemoryInput);
		if (!inputs)
			return forward(inputs);
		auto outputs = describeTensors(loadable, MemoryOutput);
		if (!outputs)
			return forward(outputs);
		NetworkParts parts{
			std::move(*tasks), std::move(*inputs), std::move(*outputs), {}
		};
		const LoadableIndex index(loadable);
		for (const StateEntry &state : loadable.states) {
			auto before = describeTensor(*index.tensor(state.before));
			if (!before)
				return forward(before);
			auto after = describeTensor(*index.tensor(state.after));
			if (!after)
				return forward(after);
			parts.states.push_back({ std::move(*before), std::move(*after) });
		}
		return parts;
	});
}

} /* namespace nvdla */

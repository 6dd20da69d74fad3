/* SPDX-License-Identifier: MIT */
#include "task_lists.h"

#include <algorithm>

#include <fmt/format.h>

namespace nvdla
{

namespace
{

constexpr const char *what = "take task from loadable";

} /* namespace */

std::string TaskLists::where(const std::string &name) const
{
	return fmt::format("task {} {}", task_.id, name);
}

Result<DescriptorList> TaskLists::find(const char *name, int index, uint64_t bytes) const
{
	if (index < 0 || static_cast<size_t>(index) >= task_.addressList.size())
		return fail(ErrorCode::InvalidFile, what, where(name),
			    fmt::format("address index {} is not in the list of {}", index,
					task_.addressList.size()));

	const Address &address = *loadable_.address(task_.addressList[index]);
	const Memory &memory = *loadable_.memory(address.memId);
	uint64_t available = 0;

	for (const MemoryContent &content : memory.contents) {
		const Blob &blob = *loadable_.blob(content.blob);
		if (address.offset < content.offset ||
		    address.offset - content.offset >= blob.data.size())
			continue;
		const uint64_t skip = address.offset - content.offset;
		available = std::min<uint64_t>(blob.data.size() - skip, address.size);
		if (available >= bytes)
			return DescriptorList{ std::span(blob.data).subspan(skip, available),
					       blob.version };
	}
	return fail(ErrorCode::InvalidFile, what, where(name),
		    fmt::format("needs {} bytes, memory {} holds {} at {}", bytes, memory.id,
				available, address.offset));
}

std::vector<TaskAddress> TaskLists::addresses() const
{
	std::vector<TaskAddress> addresses;

	addresses.reserve(task_.addressList.size());
	for (uint16_t id : task_.addressList) {
		const Address &address = *loadable_.address(id);
		addresses.push_back({ address.memId, address.offset, address.size, false });
	}
	return addresses;
}

Result<std::vector<AnyTask>> tasksInOrder(const Loadable &loadable)
{
	std::vector<AnyTask> tasks;

	for (const Submit &submit : loadable.submits) {
		for (uint16_t id : submit.taskIds) {
			const Task *task = loadable.task(id);
			if (!task)
				return fail(ErrorCode::InvalidFile, what,
					    fmt::format("submit_list id {}.task_id", submit.id),
					    fmt::format("{} names no task", id));
			if (task->interface == Interface::Emu1) {
				auto emu = emuTask(loadable, id);
				if (!emu)
					return forward(emu);
				tasks.emplace_back(std::move(*emu));
			} else {
				auto dla = dlaTask(loadable, id);
				if (!dla)
					return forward(dla);
				tasks.emplace_back(std::move(*dla));
			}
		}
	}
	if (tasks.empty())
		return fail(ErrorCode::InvalidFile, what, "submit_list", "names no task");
	return tasks;
}

Result<NetworkParts> networkParts(const Loadable &loadable)
{
	auto tasks = tasksInOrder(loadable);
	if (!tasks)
		return forward(tasks);
	auto inputs = loadable.inputs();
	if (!inputs)
		return forward(inputs);
	auto outputs = loadable.outputs();
	if (!outputs)
		return forward(outputs);
	return NetworkParts{ std::move(*tasks), std::move(*inputs), std::move(*outputs) };
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>
#include <nvdla/task.h>

#include "base/io/guarded.h"
#include "task_lists.h"

namespace nvdla
{

namespace
{

class HostReader
{
public:
	HostReader(const LoadableIndex &index, const Task &task) : index_(index), task_(task) {}

	Result<HostTask> read();

private:
	tl::unexpected<Error> bad(const std::string &field, std::string why) const
	{
		return fail(ErrorCode::InvalidFile, "take host task from loadable",
			    fmt::format("task {} {}", task_.id, field), std::move(why));
	}
	Result<void> addTensors(const std::vector<uint16_t> &ids, const char *field,
				std::vector<TensorDesc> &to);
	Result<void> checkMoves() const;

	const LoadableIndex &index_;
	const Task &task_;
	HostTask host_;
};

bool isPlain(const TensorDesc &desc)
{
	return desc.format == PixelFormat::Plain;
}

/* Returns whether a library of the host can use the tensor's bytes unchanged. */
bool isArray(const TensorDesc &desc)
{
	return isPlain(desc) && desc.signature &&
	       desc.size == desc.elements() * elementBytes(desc.type);
}

Result<void> HostReader::addTensors(const std::vector<uint16_t> &ids, const char *field,
				    std::vector<TensorDesc> &to)
{
	for (const uint16_t id : ids) {
		const TensorEntry *entry = index_.tensor(id);
		if (!entry)
			return bad(field, fmt::format("{} names no tensor", id));
		auto desc = describeTensor(*entry);
		if (!desc)
			return forward(desc);
		if (auto checked = desc->check(); !checked)
			return checked;
		if (!task_.model.empty() && !isArray(*desc))
			return bad(field, fmt::format("tensor '{}' is not plain, with the shape "
						      "that the model has",
						      desc->name));
		if (desc->isOpen() && (task_.model.empty() || &to != &host_.outputs))
			return bad(field, fmt::format("tensor '{}' has an open axis, which only an "
						      "output of a model can have",
						      desc->name));
		host_.addresses.push_back({ desc->memory, desc->offset, desc->size, true });
		to.push_back(std::move(*desc));
	}
	return {};
}

Result<void> HostReader::checkMoves() const
{
	if (host_.inputs.size() != host_.outputs.size())
		return bad("outputs", fmt::format("are {} for {} inputs, without a model",
						  host_.outputs.size(), host_.inputs.size()));
	for (size_t i = 0; i < host_.inputs.size(); i++) {
		const TensorDesc &from = host_.inputs[i], &to = host_.outputs[i];
		if (!isPlain(from) && !isPlain(to))
			return bad("outputs", fmt::format("neither '{}' nor '{}' is plain",
							  from.name, to.name));
		if (from.elements() != to.elements())
			return bad("outputs", fmt::format("'{}' and '{}' differ in elements",
							  from.describe(), to.describe()));
	}
	return {};
}

Result<HostTask> HostReader::read()
{
	host_.id = task_.id;
	host_.model = task_.model;
	host_.layers = task_.layers;
	host_.reasons = task_.reasons;
	if (!host_.reasons.empty() && host_.reasons.size() != host_.layers.size())
		return bad("reasons", fmt::format("are {} for {} layers", host_.reasons.size(),
						  host_.layers.size()));
	if (task_.outputs.empty())
		return bad("outputs", "are none");
	auto read = addTensors(task_.inputs, "inputs", host_.inputs).and_then([&] {
		return addTensors(task_.outputs, "outputs", host_.outputs);
	});
	if (read && host_.model.empty())
		read = checkMoves();
	if (!read)
		return forward(read);
	return std::move(host_);
}

} /* namespace */

Result<HostTask> hostTask(const Loadable &loadable, uint16_t id)
{
	return guarded("read task",
		       [&]() -> Result<HostTask> { return hostTask(LoadableIndex(loadable), id); });
}

Result<HostTask> hostTask(const LoadableIndex &index, uint16_t id)
{
	return guarded("read task", [&]() -> Result<HostTask> {
		const Task *entry = index.task(id);
		if (!entry || entry->interface != Interface::Host1)
			return fail(ErrorCode::InvalidArgument, "take host task from loadable",
				    fmt::format("task {}", id), "is not a task for the host");
		return HostReader(index, *entry).read();
	});
}

} /* namespace nvdla */

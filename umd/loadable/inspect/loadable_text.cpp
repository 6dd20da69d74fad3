/* SPDX-License-Identifier: MIT */
#include "loadable_text.h"

#include <algorithm>

#include <fmt/core.h>
#include <nvdla/task.h>

#include "base/io/printable.h"
#include "loadable/text/names.h"
#include "operation_text.h"

namespace nvdla::inspect
{

namespace
{

std::string headText(const Loadable &loadable, const std::string &name)
{
	uint64_t memoryBytes = 0;
	uint64_t blobBytes = 0;

	for (const Memory &memory : loadable.memories)
		memoryBytes += memory.size;
	for (const Blob &blob : loadable.blobs)
		blobBytes += blob.data.size();
	const std::string variant = loadable.variant.empty() ? "" : " for " + loadable.variant;
	return fmt::format("{}: loadable {}{}, {} memories ({} bytes), {} blobs ({} bytes)\n", name,
			   toString(loadable.version), variant, loadable.memories.size(),
			   memoryBytes, loadable.blobs.size(), blobBytes);
}

std::string tensorText(const char *title, const std::vector<TensorDesc> &tensors)
{
	std::string text;

	for (const TensorDesc &desc : tensors)
		text += fmt::format(
			"{}: {}, {} bytes at @{}+{}, there {}x{}x{}x{} {}, line stride {}, "
			"surface stride {}\n",
			title, desc.describe(), desc.size, desc.memory, desc.offset, desc.n, desc.c,
			desc.h, desc.w, pixelFormatName(desc.format), desc.lineStride,
			desc.surfaceStride);
	return text;
}

std::string flagText(uint16_t flags)
{
	std::string text;

	for (unsigned bit = 0; bit < 16; bit++) {
		if (flags >> bit & 1)
			text += (text.empty() ? "" : ",") + text::memoryFlagName(bit);
	}
	return text;
}

/* Appends "NAME+OFFSET" to a list. Long names are shortened, because the table has to stay
 * readable; the JSON has whole names. */
void append(std::string &list, const std::string &name, uint64_t offset)
{
	list += fmt::format("{}{}+{}", list.empty() ? "" : ", ",
			    shortened(printable(name), longestName), offset);
}

/* Returns only the first names of a memory's contents and of its tensors; there can be hundreds. */
std::string contentText(const Loadable &loadable, const Memory &memory)
{
	constexpr size_t shown = 3;
	std::string text;
	size_t contents = 0, tensors = 0;

	for (const auto &content : memory.contents) {
		if (contents++ < shown)
			append(text, content.blob, content.offset);
	}
	if (contents > shown)
		text += fmt::format(", {} more", contents - shown);
	for (const TensorEntry &tensor : loadable.tensors) {
		if (tensor.memId == memory.id && tensors++ < shown)
			append(text, tensor.name, tensor.offset);
	}
	if (tensors > shown)
		text += fmt::format(", {} more", tensors - shown);
	return text;
}

std::string memoryMap(const Loadable &loadable)
{
	std::string text = fmt::format("\n{:>6} {:<6} {:>10} {:>6} {:<16} {}\n", "memory", "domain",
				       "bytes", "align", "flags", "contents, tensors");

	for (const Memory &memory : loadable.memories) {
		text += fmt::format(
			"{:>6} {:<6} {:>10} {:>6} {:<16} {}\n", fmt::format("@{}", memory.id),
			text::domainName(static_cast<uint64_t>(memory.domain)), memory.size,
			memory.alignment, flagText(memory.flags), contentText(loadable, memory));
	}
	return text;
}

std::string operationLine(size_t index, const OperationText &text)
{
	const std::string layer = text.layer.empty() ? "" : ", of " + text.layer;

	return fmt::format("{:>5} {:<7} {}: {} {}, {}{}\n", index, text.engine, text.action,
			   text.shape, text.types, text.places, layer);
}

/* Returns the operations that wait for \a node, and the event that each waits for. */
std::string consumerText(const nvdla_graph_node &node)
{
	std::string text;

	for (const nvdla_consumer &edge : node.consumers) {
		if (edge.index >= 0)
			text += fmt::format("{}{} ({})", text.empty() ? "" : ", ",
					    static_cast<int>(edge.index),
					    text::eventName(edge.event));
	}
	return text.empty() ? text : fmt::format("{:>13} then {}\n", "", text);
}

std::string taskText(const DlaTask &task)
{
	std::string text =
		fmt::format("\ntask {}: core, {} operations, {} tables, {} addresses\n", task.id,
			    task.graph.size(), task.luts.size(), task.addresses.size());

	for (size_t i = 0; i < task.graph.size(); i++)
		text += operationLine(i, describeOperation(task, i)) + consumerText(task.graph[i]);
	return text;
}

std::string taskText(const EmuTask &task)
{
	std::string text =
		fmt::format("\ntask {}: CPU, {} operations\n", task.id, task.operations.size());

	for (size_t i = 0; i < task.operations.size(); i++)
		text += operationLine(i, describeOperation(task, i));
	return text;
}

std::string taskText(const HostTask &task)
{
	std::string text = fmt::format("\ntask {}: host, {} inputs, {} outputs\n", task.id,
				       task.inputs.size(), task.outputs.size()) +
			   operationLine(0, describeOperation(task));

	for (size_t i = 0; i < task.layers.size(); i++) {
		const std::string why =
			i < task.reasons.size() ? ", not on the core: " + task.reasons[i] : "";
		text += fmt::format("{:>13} {}{}\n", "", printable(task.layers[i]), printable(why));
	}
	for (const auto *tensors : { &task.inputs, &task.outputs }) {
		for (const TensorDesc &desc : *tensors)
			text += fmt::format("{:>13} {} {} at @{}+{}\n", "",
					    tensors == &task.inputs ? "reads" : "writes",
					    desc.describe(), desc.memory, desc.offset);
	}
	return text;
}

} /* namespace */

Result<std::string> loadableText(const Loadable &loadable, const std::string &name)
{
	auto parts = networkParts(loadable);
	if (!parts)
		return forward(parts);

	std::string text = headText(loadable, name) + tensorText("input", parts->inputs) +
			   tensorText("output", parts->outputs);
	for (const StateTensors &state : parts->states)
		text += tensorText("state", { state.before });
	text += memoryMap(loadable);
	for (const AnyTask &task : parts->tasks)
		text += std::visit([](const auto &any) { return taskText(any); }, task);
	return text;
}

} /* namespace nvdla::inspect */

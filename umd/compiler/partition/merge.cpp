/* SPDX-License-Identifier: MIT */
#include "model_graph.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/tensor/shape_text.h"
#include "loadable/entries.h"

namespace nvdla::compiler
{

namespace
{

constexpr const char *merging = "put parts together";
constexpr uint32_t memoryAlignment = 4096;
/* Value of data_format in loadable.fbs. */
constexpr uint8_t nchw = 1;

/* Appends an entry. Returns the entry's id, which is its index. */
template<typename Entry>
uint16_t addTo(std::vector<Entry> &all, Entry entry)
{
	entry.id = static_cast<uint16_t>(all.size());
	all.push_back(std::move(entry));
	return all.back().id;
}

class Merger
{
public:
	Merger(const ModelGraph &graph, const std::vector<std::string> &reasons)
		: graph_(graph), reasons_(reasons)
	{
	}

	CompiledModel run(std::vector<MergedPart> parts);

private:
	void addInputs(const std::vector<MergedPart> &parts);
	void addCore(MergedPart &part);
	void addHost(MergedPart &part);
	void checkOutputs() const;
	void describe();

	/* Adds a tensor in the host's layout, with a memory. \return its id */
	uint16_t addPlain(const std::string &name);
	/* Adds a memory of a core's part, or enlarges one that these parts share. \return its id */
	uint16_t addPartMemory(Memory memory);
	uint16_t bind(uint16_t tensor, const std::vector<std::string> &names, uint16_t direction,
		      size_t first = 0);

	const ModelGraph &graph_;
	const std::vector<std::string> &reasons_;
	std::map<std::string, size_t> readers_;	    /* number of parts that read a value */
	std::map<std::string, uint16_t> plain_;	    /* ids of the host's tensors, by name */
	std::map<MemoryDomain, uint16_t> surfaces_; /* memories that the core's parts share */
	CompiledModel merged_;
};

uint16_t Merger::addPartMemory(Memory memory)
{
	std::vector<Memory> &all = merged_.loadable.memories;

	if (!memory.contents.empty() || memory.flags != MemoryAlloc)
		return addTo(all, std::move(memory));
	const auto known = surfaces_.find(memory.domain);
	if (known == surfaces_.end())
		return surfaces_[memory.domain] = addTo(all, std::move(memory));
	all[known->second].size = std::max(all[known->second].size, memory.size);
	return known->second;
}

/* Makes a tensor an input or output of the network: its number is \a first + index in \a names. */
uint16_t Merger::bind(uint16_t tensor, const std::vector<std::string> &names, uint16_t direction,
		      size_t first)
{
	const TensorEntry &entry = merged_.loadable.tensors[tensor];
	const auto at = static_cast<size_t>(std::ranges::find(names, entry.name) - names.begin());
	Memory &memory = merged_.loadable.memories[entry.memId];

	memory.flags = static_cast<uint16_t>(memory.flags | direction);
	memory.bindId = static_cast<uint16_t>(first + at);
	return memory.tensorDescId = tensor;
}

uint16_t Merger::addPlain(const std::string &name)
{
	const TensorDesc desc = valueOf(graph_.tensorOf(name));
	TensorEntry entry = tensorEntry(desc);

	entry.memId =
		addTo(merged_.loadable.memories,
		      { .flags = MemoryAlloc, .size = desc.size, .alignment = memoryAlignment });
	entry.dataFormat = nchw;
	return plain_[name] = addTo(merged_.loadable.tensors, std::move(entry));
}

/* Adds the inputs that have the host's layout. An input that only one part for the core reads has
 * that part's layout, so that no step of the host converts it. An input of a state has the host's
 * layout, as the state's output has. */
void Merger::addInputs(const std::vector<MergedPart> &parts)
{
	std::map<std::string, bool> onCore;

	for (const MergedPart &part : parts) {
		for (const std::string &name : part.inputs) {
			readers_[name]++;
			onCore[name] = part.model != nullptr;
		}
	}
	for (const std::string &name : graph_.inputs()) {
		if (readers_[name] == 1 && onCore[name] && !graph_.isOutput(name) &&
		    !graph_.isOfState(name))
			continue;
		bind(addPlain(name), graph_.inputs(), MemoryInput);
	}
}

void Merger::addCore(MergedPart &part)
{
	Loadable &from = part.model->loadable;
	Loadable &to = merged_.loadable;
	const std::string prefix = fmt::format("part-{}-", to.tasks.size());
	std::map<uint16_t, uint16_t> memories, addresses, tasks;
	/* Tasks of the host that convert tensors between the host's layout and the part's. */
	Task before, after;
	const auto inputs = valueOf(from.inputs()), outputs = valueOf(from.outputs());

	before.interface = after.interface = Interface::Host1;
	for (Memory &memory : from.memories) {
		const uint16_t id = memory.id;
		for (MemoryContent &content : memory.contents)
			content.blob = prefix + content.blob;
		memories[id] = addPartMemory(memory);
		to.memories[memories[id]].flags &=
			static_cast<uint16_t>(~(MemoryInput | MemoryOutput));
	}
	for (Blob &blob : from.blobs) {
		blob.name = prefix + blob.name;
		to.blobs.push_back(std::move(blob));
	}
	for (const Address &address : from.addresses)
		addresses[address.id] = addTo(
			to.addresses, { 0, memories[address.memId], address.offset, address.size });
	const auto tensorIn = [&](uint16_t memory, const std::string &name) {
		TensorEntry entry = *std::ranges::find(from.tensors, memory, &TensorEntry::memId);
		entry.memId = memories[memory];
		entry.name = name;
		return addTo(to.tensors, std::move(entry));
	};
	/* Binds a tensor of a state that only this part has, behind the model's own tensors. */
	const auto keepOwn = [&](uint16_t id, uint16_t direction) {
		const TensorEntry &own = *std::ranges::find(from.tensors, id, &TensorEntry::id);
		return bind(tensorIn(own.memId, own.name), {}, direction,
			    graph_.inputs().size() + graph_.outputs().size() + to.states.size());
	};
	for (size_t i = 0; i < inputs.size(); i++) {
		const std::string &name = part.inputs[i];
		const uint16_t tensor = tensorIn(inputs[i].memory, name);
		if (const auto plain = plain_.find(name); plain != plain_.end()) {
			before.inputs.push_back(plain->second);
			before.outputs.push_back(tensor);
		} else {
			bind(tensor, graph_.inputs(), MemoryInput);
		}
	}
	if (!before.inputs.empty())
		addTask(to, std::move(before));
	for (Task &task : from.tasks) {
		for (uint16_t &address : task.addressList)
			address = addresses[address];
		tasks[task.id] = static_cast<uint16_t>(to.tasks.size());
		addTask(to, std::move(task));
	}
	for (size_t i = 0; i < outputs.size(); i++) {
		const std::string &name = part.outputs[i];
		const uint16_t tensor = tensorIn(outputs[i].memory, name);
		const bool isKept = graph_.isOfState(name);
		if (graph_.isOutput(name) && !isKept)
			bind(tensor, graph_.outputs(), MemoryOutput);
		if (!readers_[name] && !isKept)
			continue;
		after.inputs.push_back(tensor);
		after.outputs.push_back(addPlain(name));
		if (isKept)
			bind(after.outputs.back(), graph_.outputs(), MemoryOutput);
	}
	if (!after.inputs.empty())
		addTask(to, std::move(after));
	for (const StateEntry &state : from.states)
		to.states.push_back(
			{ keepOwn(state.before, MemoryInput), keepOwn(state.after, MemoryOutput) });

	CompileReport &report = part.model->report;
	const size_t steps = merged_.report.steps.size();
	std::ranges::move(report.layers, std::back_inserter(merged_.report.layers));
	for (AssembledStep &step : report.steps) {
		step.task = tasks[step.task];
		merged_.report.steps.push_back(std::move(step));
	}
	for (AssembledRange &range : report.ranges) {
		range.memory = memories[range.memory];
		range.firstStep += steps;
		range.lastStep += steps;
		merged_.report.ranges.push_back(std::move(range));
	}
	for (const size_t node : part.nodes)
		merged_.report.coreMacs += graph_.nodes()[node].macs;
	to.variant = from.variant;
}

void Merger::addHost(MergedPart &part)
{
	Loadable &to = merged_.loadable;
	Task task;

	task.interface = Interface::Host1;
	task.model = fmt::format("host-{}", to.tasks.size());
	to.blobs.push_back({ task.model, Interface::Host1, 0, {}, std::move(part.file) });
	for (const std::string &name : part.inputs)
		task.inputs.push_back(plain_.at(name));
	for (const std::string &name : part.outputs) {
		task.outputs.push_back(addPlain(name));
		if (graph_.isOutput(name))
			bind(task.outputs.back(), graph_.outputs(), MemoryOutput);
	}
	for (const size_t index : part.nodes) {
		const GraphNode &node = graph_.nodes()[index];
		const std::string &reason = reasons_[index];
		task.layers.push_back(node.describe());
		task.reasons.push_back(reason);
		LayerReport &layer = merged_.report.layers.emplace_back();
		layer.name = node.name();
		layer.type = node.type;
		layer.host = reason.empty() ? "it goes with others" : reason;
		merged_.report.hostMacs += node.macs;
	}
	addTask(merged_.loadable, std::move(task));
}

void Merger::describe()
{
	CompileReport &report = merged_.report;
	std::map<std::string, size_t> indices;
	const auto describe = [&](const std::vector<std::string> &names, std::vector<size_t> &to) {
		for (const std::string &name : names) {
			const auto desc = graph_.tensorOf(name);
			if (!desc)
				continue;
			const auto [known, isNew] =
				indices.try_emplace(name, report.tensors.size());
			if (isNew)
				report.tensors.push_back({ name,
							   shapeText(desc->signature->shape, " x "),
							   dataTypeName(desc->type) });
			to.push_back(known->second);
		}
	};

	describe(graph_.inputs(), report.inputs);
	for (const GraphNode &node : graph_.nodes()) {
		ModelOperator shown{ node.name(), node.type, {}, {} };
		describe(node.inputs, shown.inputs);
		describe(node.outputs, shown.outputs);
		report.operators.push_back(std::move(shown));
	}
	describe(graph_.outputs(), report.outputs);
}

void Merger::checkOutputs() const
{
	const auto bound = valueOf(merged_.loadable.outputs());

	for (const std::string &name : graph_.outputs()) {
		if (!std::ranges::count(bound, name, &TensorDesc::name))
			refuse(ErrorCode::Unsupported, merging, fmt::format("output '{}'", name),
			       "is an input or a constant of the model");
	}
}

CompiledModel Merger::run(std::vector<MergedPart> parts)
{
	addInputs(parts);
	for (MergedPart &part : parts)
		part.model ? addCore(part) : addHost(part);
	constexpr size_t most = UINT16_MAX;
	const Loadable &loadable = merged_.loadable;
	if (std::max({ loadable.memories.size(), loadable.addresses.size(), loadable.tensors.size(),
		       loadable.events.size() }) > most)
		refuse(ErrorCode::Unsupported, merging, "network",
		       fmt::format("has {} parts, more than a loadable can hold", parts.size()));
	checkOutputs();
	for (const auto &[input, output, first] : graph_.states())
		valueOf(addState(merged_.loadable, input, output, first));
	valueOf(merged_.loadable.check());
	describe();
	return std::move(merged_);
}

} /* namespace */

CompiledModel mergeParts(const ModelGraph &graph, std::vector<MergedPart> parts,
			 const std::vector<std::string> &reasons)
{
	return Merger(graph, reasons).run(std::move(parts));
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "runtime/tensor_elements.h"

namespace nvdla
{

namespace
{

/*
 * Returns the surfaces that an operation writes, as indices into the address table; -1 for an
 * output that is passed on the fly.
 */
std::vector<int> writtenAddresses(unsigned type, const nvdla_surface_desc &surface)
{
	auto cube = [](const nvdla_data_cube &dst) -> std::vector<int> {
		return { dst.type == NVDLA_MEM_HW ? -1 : dst.address };
	};
	std::vector<int> transfers;

	switch (type) {
	case NVDLA_OP_BDMA:
		for (unsigned i = 0; i < surface.bdma.num_transfers; i++) {
			if (i < NVDLA_BDMA_MAX_TRANSFERS)
				transfers.push_back(surface.bdma.transfers[i].dst_address);
		}
		return transfers;
	case NVDLA_OP_CONV:
		return cube(surface.conv.dst_data);
	case NVDLA_OP_SDP:
		return cube(surface.sdp.dst_data);
	case NVDLA_OP_PDP:
		return cube(surface.pdp.dst_data);
	case NVDLA_OP_CDP:
		return cube(surface.cdp.dst_data);
	case NVDLA_OP_RUBIK:
		return cube(surface.rubik.dst_data);
	default:
		return {};
	}
}

void insert(MemoryIds &ids, const std::vector<TaskAddress> &addresses, int index)
{
	/* Invalid indices are ignored here, because the driver refuses them. */
	if (index >= 0 && static_cast<size_t>(index) < addresses.size() && addresses[index].used)
		ids.insert(addresses[index].memory);
}

MemoryIds written(const DlaTask &task)
{
	MemoryIds ids;

	for (size_t i = 0; i < task.graph.size(); i++) {
		for (int index : writtenAddresses(task.graph[i].op_type, task.surfaces[i]))
			insert(ids, task.addresses, index);
	}
	return ids;
}

MemoryIds written(const EmuTask &task)
{
	MemoryIds ids;

	for (const EmuOperation &operation : task.operations)
		insert(ids, task.addresses, operation.dst.address);
	return ids;
}

MemoryIds written(const HostTask &task)
{
	MemoryIds ids;

	for (const TensorDesc &desc : task.outputs)
		ids.insert(desc.memory);
	return ids;
}

template<typename Task>
MemoryIds memoriesOf(const std::vector<AnyTask> &tasks)
{
	MemoryIds ids;

	for (const AnyTask &task : tasks) {
		if (std::holds_alternative<Task>(task))
			ids.merge(usedMemories({ &task, 1 }, {}));
	}
	return ids;
}

/* Refuses on-chip memory among \a memories, because the CPU cannot access it. */
Result<void> checkReachable(const Loadable &loadable, const MemoryIds &memories)
{
	for (uint16_t id : memories) {
		if (loadable.memory(id)->domain == MemoryDomain::Sram)
			return fail(ErrorCode::Unsupported, "load network",
				    fmt::format("memory_list id {}.domain", id),
				    "is on-chip memory, but a tensor or a CPU task uses it");
	}
	return {};
}

/*
 * Checks each tensor with an open axis (its length is known only after the run). The request holds
 * the tensor's elements, no memory of the loadable. So a host step must make the tensor, the tensor
 * must be an output of the network, and nothing else may use the memory that the tensor names.
 */
Result<void> checkOpenTensors(const Program &program)
{
	/* For each memory, the number of tensors and tasks that use it. */
	std::map<uint16_t, size_t> uses;
	std::map<uint16_t, const TensorDesc *> made, shown;
	std::vector<const TensorDesc *> open;

	for (const AnyTask &task : program.tasks) {
		const auto *host = std::get_if<HostTask>(&task);
		for (uint16_t id : host ? MemoryIds() : usedMemories({ &task, 1 }, {}))
			uses[id]++;
		for (size_t i = 0; host && i < host->addresses.size(); i++)
			uses[host->addresses[i].memory]++;
		for (size_t i = 0; host && i < host->outputs.size(); i++) {
			if (host->outputs[i].isOpen())
				open.push_back(made[host->outputs[i].memory] = &host->outputs[i]);
		}
	}
	for (const TensorDesc &input : program.inputs) {
		uses[input.memory]++;
		if (input.isOpen())
			open.push_back(&input);
	}
	for (const auto &[before, after] : program.states) {
		uses[before.memory]++;
		uses[after.memory]++;
		if (before.isOpen() || after.isOpen())
			open.push_back(&before);
	}
	for (const TensorDesc &output : program.outputs) {
		uses[output.memory]++;
		if (output.isOpen())
			open.push_back(shown[output.memory] = &output);
	}
	for (const TensorDesc *tensor : open) {
		constexpr size_t itselfAndItsTask = 2;
		const TensorDesc *const by = made[tensor->memory], *const as =
									   shown[tensor->memory];
		if (!by || !as || *by != *as || uses[tensor->memory] != itselfAndItsTask)
			return fail(ErrorCode::InvalidFile, "load network",
				    "tensor " + tensor->describe(),
				    "has an open axis: only an output of the network that a host "
				    "step makes, and nothing else uses, can have one");
	}
	return {};
}

ProgramStep stepAt(const std::vector<AnyTask> &tasks, size_t first, size_t maxTasks)
{
	ProgramStep step{ .first = first, .count = 1 };

	if (const auto *emu = std::get_if<EmuTask>(&tasks[first])) {
		step.cpu = true;
		step.operations = static_cast<unsigned>(emu->operations.size());
		return step;
	}
	if (std::holds_alternative<HostTask>(tasks[first])) {
		step.cpu = true;
		step.operations = 1;
		return step;
	}
	/* Adjacent tasks of the device become one job. */
	while (first + step.count < tasks.size() && step.count < maxTasks &&
	       std::holds_alternative<DlaTask>(tasks[first + step.count]))
		step.count++;
	for (size_t i = first; i < first + step.count; i++)
		step.operations += static_cast<unsigned>(std::get<DlaTask>(tasks[i]).graph.size());
	return step;
}

} /* namespace */

Result<void> checkIndex(const char *what, const char *kind, size_t index,
			const std::vector<TensorDesc> &tensors)
{
	if (index < tensors.size())
		return {};
	return fail(ErrorCode::InvalidArgument, what, fmt::format("{} {}", kind, index),
		    fmt::format("the network has {}", tensors.size()));
}

MemoryIds writtenMemories(const AnyTask &task)
{
	return std::visit([](const auto &any) { return written(any); }, task);
}

Result<Program> Program::create(const Loadable &loadable, size_t maxTasks)
{
	Program program;
	auto parts = networkParts(loadable);
	if (!parts)
		return forward(parts);
	static_cast<NetworkParts &>(program) = std::move(*parts);

	if (auto open = checkOpenTensors(program); !open)
		return forward(open);
	describeElements(program);

	const std::vector<TensorDesc> tensors = program.tensors();
	program.own = usedMemories({}, tensors);
	program.shared = usedMemories(program.tasks, {});
	MemoryIds ofCpu = program.cpuMemories();
	ofCpu.insert(program.own.begin(), program.own.end());
	if (auto reachable = checkReachable(loadable, ofCpu); !reachable)
		return forward(reachable);

	/* Memories that hold data before a step begins: inputs, states, initial contents and
	 * results of earlier steps. A job that writes to none of them is restartable. */
	MemoryIds full = usedMemories({}, program.inputs);
	for (const StateTensors &state : program.states)
		full.merge(usedMemories({}, { &state.before, 1 }));
	for (uint16_t id : usedMemories(program.tasks, tensors)) {
		if (!loadable.memory(id)->contents.empty())
			full.insert(id);
	}

	for (size_t i = 0; i < program.tasks.size(); i += program.steps.back().count) {
		ProgramStep step = stepAt(program.tasks, i, maxTasks);
		MemoryIds writes;
		for (size_t t = step.first; t < step.first + step.count; t++)
			writes.merge(writtenMemories(program.tasks[t]));
		step.restartable = std::none_of(writes.begin(), writes.end(),
						[&](uint16_t id) { return full.contains(id); });
		program.written.insert(writes.begin(), writes.end());
		full.insert(writes.begin(), writes.end());
		program.steps.push_back(step);
	}
	program.own.insert(program.written.begin(), program.written.end());
	for (uint16_t id : program.own)
		program.shared.erase(id);
	return program;
}

std::vector<TensorDesc> Program::tensors() const
{
	std::vector<TensorDesc> all = inputs;

	all.insert(all.end(), outputs.begin(), outputs.end());
	for (const StateTensors &state : states)
		all.insert(all.end(), { state.before, state.after });
	return all;
}

MemoryIds Program::cpuMemories() const
{
	MemoryIds ids = memoriesOf<EmuTask>(tasks);

	ids.merge(memoriesOf<HostTask>(tasks));
	return ids;
}

MemoryIds Program::coreMemories() const
{
	return memoriesOf<DlaTask>(tasks);
}

Result<PreparedTasks> Program::prepare(const Device &device) const
{
	PreparedTasks prepared(tasks.size());

	if (!device.has(Feature::PreparedTasks))
		return prepared;
	for (const ProgramStep &step : steps) {
		for (size_t i = 0; !step.cpu && i < step.count; i++) {
			const DlaTask &task = std::get<DlaTask>(tasks[step.first + i]);
			auto one = device.prepare(
				{ task.graph, task.operations, task.surfaces, task.luts },
				task.addresses.size(), static_cast<uint32_t>(i));
			/*
			 * Without room for the prepared task in the driver, each run submits the
			 * task's descriptors instead.
			 */
			if (!one && one.error().code != ErrorCode::NoMemory)
				return forward(one);
			if (one)
				prepared[step.first + i].emplace(std::move(*one));
		}
	}
	return prepared;
}

unsigned Program::maxOperations() const
{
	unsigned most = 0;

	for (const ProgramStep &step : steps)
		most = step.cpu ? most : std::max(most, step.operations);
	return most;
}

} /* namespace nvdla */

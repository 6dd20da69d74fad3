/* SPDX-License-Identifier: MIT */
#include <fmt/core.h>
#include <nvdla/task.h>

#include "base/io/guarded.h"
#include "cubes.h"
#include "legacy_descriptors.h"
#include "network_descriptor.h"
#include "operation_list.h"
#include "task_lists.h"

namespace nvdla
{

namespace
{

constexpr const char *takingDlaTask = "take DLA task from loadable";

constexpr Version firstUnknown{ 0, 14, 0 };

Result<void> readGraph(const TaskLists &lists, const nvdla_network_desc &network, DlaTask &task)
{
	const size_t count = network.num_operations;
	auto graph = lists.find("dependency graph", network.dependency_graph_index,
				count * sizeof(nvdla_graph_node));
	if (!graph)
		return forward(graph);

	for (size_t i = 0; i < count; i++) {
		nvdla_graph_node node = element<nvdla_graph_node>(graph->bytes, i);
		if (node.op_type >= NVDLA_NUM_OP_TYPES)
			return fail(ErrorCode::InvalidFile, takingDlaTask,
				    lists.where(fmt::format("graph[{}].op_type", i)),
				    fmt::format("{} is no engine", node.op_type));
		node.index = static_cast<__s16>(i);
		task.graph.push_back(node);
	}
	return {};
}

/*
 * An edge names its consumer by engine and index. If the node at that index belongs to another
 * engine, the compiler numbered nodes across tasks, and the consumer is in another task. The edge
 * is dropped, because tasks run one after the other.
 */
void repairEdges(std::vector<nvdla_graph_node> &graph)
{
	std::vector<unsigned> incoming(graph.size());

	auto count = [&](const nvdla_consumer &edge) {
		if (edge.index >= 0 && static_cast<size_t>(edge.index) < graph.size())
			incoming[edge.index]++;
	};
	for (nvdla_graph_node &node : graph) {
		for (unsigned type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
			nvdla_consumer &edge = node.consumers[type];
			const bool inside =
				edge.index >= 0 && static_cast<size_t>(edge.index) < graph.size();
			if (!inside || graph[edge.index].op_type != type)
				edge.index = -1;
			count(edge);
		}
		count(node.fused_parent);
	}
	for (size_t i = 0; i < graph.size(); i++)
		graph[i].dependency_count = static_cast<__u8>(incoming[i]);
}

Result<void> readOperations(const TaskLists &lists, const nvdla_network_desc &network,
			    DlaTask &task)
{
	const size_t count = network.num_operations;
	auto find = [&](size_t bytes) {
		return lists.find("operation list", network.operation_desc_index, count * bytes);
	};
	auto operations = find(NVDLA_OP_DESC_BYTES);
	if (operations)
		operations = find(operationBytes(operations->version));
	if (!operations)
		return forward(operations);

	for (size_t i = 0; i < count; i++)
		task.operations.push_back(operationIn(operations->bytes, i, operations->version));
	return {};
}

Result<void> readSurfaces(const TaskLists &lists, const nvdla_network_desc &network, DlaTask &task)
{
	constexpr size_t stride = sizeof(nvdla_surface_desc);
	const size_t count = network.num_operations;
	auto surfaces = lists.find("surface list", network.surface_desc_index, count * stride);
	if (!surfaces)
		return forward(surfaces);

	if (surfaces->version >= firstUnknown && !isOnnc(surfaces->version))
		return fail(ErrorCode::Unsupported, takingDlaTask, lists.where("surface list"),
			    fmt::format("is of firmware interface {}, known are those below {} and "
					"ONNC's 1.x",
					toString(surfaces->version), toString(firstUnknown)));
	const bool legacy = hasLegacyCubes(surfaces->version);
	for (size_t i = 0; i < count; i++) {
		const auto bytes = surfaces->bytes.subspan(i * stride, stride);
		task.surfaces.push_back(legacy ? convertLegacySurface(task.graph[i].op_type, bytes)
					       : element<nvdla_surface_desc>(bytes, 0));
	}
	return {};
}

Result<void> readLuts(const TaskLists &lists, const nvdla_network_desc &network, DlaTask &task)
{
	const size_t count = network.num_luts;
	if (!count)
		return {};

	auto luts = lists.find("LUT list", network.lut_data_index, count * sizeof(nvdla_lut_desc));
	if (!luts)
		return forward(luts);
	for (size_t i = 0; i < count; i++)
		task.luts.push_back(element<nvdla_lut_desc>(luts->bytes, i));
	return {};
}

void markUsed(DlaTask &task)
{
	for (size_t i = 0; i < task.surfaces.size(); i++) {
		forEachAddress(task.graph[i].op_type, task.surfaces[i], [&](int index) {
			if (index >= 0 && static_cast<size_t>(index) < task.addresses.size())
				task.addresses[index].used = true;
		});
	}
}

} /* namespace */

Result<DlaTask> dlaTask(const Loadable &loadable, uint16_t id)
{
	return guarded("read task",
		       [&]() -> Result<DlaTask> { return dlaTask(LoadableIndex(loadable), id); });
}

Result<DlaTask> dlaTask(const LoadableIndex &index, uint16_t id)
{
	return guarded("read task", [&]() -> Result<DlaTask> {
		const Task *entry = index.task(id);
		if (!entry || entry->interface != Interface::Dla1)
			return fail(ErrorCode::InvalidArgument, takingDlaTask,
				    fmt::format("task {}", id), "is not a task for the core");

		const TaskLists lists(index, *entry);
		auto first = lists.find("network descriptor", 0, sizeof(nvdla_network_desc));
		if (!first)
			return forward(first);
		const nvdla_network_desc network = element<nvdla_network_desc>(first->bytes, 0);
		if (!network.num_operations)
			return fail(ErrorCode::InvalidFile, takingDlaTask,
				    lists.where("num_operations"), "is 0");
		if (network.dynamic_roi)
			return fail(ErrorCode::Unsupported, takingDlaTask,
				    lists.where("dynamic_roi"),
				    "tasks with a region of interest chosen at run time");

		DlaTask task;
		task.id = id;
		task.addresses = lists.addresses();
		auto read = readGraph(lists, network, task)
				    .and_then([&] { return readOperations(lists, network, task); })
				    .and_then([&] { return readSurfaces(lists, network, task); })
				    .and_then([&] { return readLuts(lists, network, task); });
		if (!read)
			return forward(read);
		auto layers = lists.layers(task.graph.size());
		if (!layers)
			return forward(layers);
		task.layers = std::move(*layers);
		repairEdges(task.graph);
		markUsed(task);
		return task;
	});
}

} /* namespace nvdla */

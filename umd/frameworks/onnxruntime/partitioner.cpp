/* SPDX-License-Identifier: MIT */
#include "partitioner.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "cpu_session.h"

namespace nvdla::ort
{

namespace
{

/* Largest number of partitions on the device. Each partition costs a transfer to the device and
 * back. */
constexpr size_t mostPartitions = 16;

bool isOpen(const ValueView &value)
{
	return std::any_of(value.shape.begin(), value.shape.end(),
			   [](int64_t extent) { return extent < 0; });
}

std::string onCpu(const LayerReport &layer)
{
	return "would run on the CPU: " + layer.cpu;
}

class Partitioner
{
public:
	Partitioner(const Api &api, const GraphView &graph,
		    std::shared_ptr<plugin::Session> session)
		: api_(api), graph_(graph), session_(std::move(session)), nodes_(nodesOf(graph)),
		  possible_(graph.nodes.size(), true)
	{
	}

	Result<std::vector<PlacedPartition>> run();

private:
	std::string describe(const std::vector<size_t> &group) const;
	void leave(size_t node, const std::string &reason);
	std::string reasonAgainst(const NodeView &node) const;
	std::string ask(size_t node) const;
	void judge();
	Result<PlacedPartition> place(const std::vector<size_t> &group);
	bool leaveLayersOnCpu(const std::vector<size_t> &group, const CompileReport &report);

	const Api &api_;
	const GraphView &graph_;
	std::shared_ptr<plugin::Session> session_;
	compiler::NodeGraph nodes_;
	std::vector<bool> possible_;
};

std::string Partitioner::describe(const std::vector<size_t> &group) const
{
	return fmt::format("{} node{} from {} on", group.size(), group.size() == 1 ? "" : "s",
			   graph_.nodes[group.front()].describe());
}

void Partitioner::leave(size_t node, const std::string &reason)
{
	possible_[node] = false;
	session_->log(fmt::format("leaves {} to ONNX Runtime: {}", graph_.nodes[node].describe(),
				  reason));
}

/* Returns the reason why a node is left to ONNX Runtime without asking the compiler; "" if there is
 * none. */
std::string Partitioner::reasonAgainst(const NodeView &node) const
{
	bool real = false;

	for (const auto *values : { &node.inputs, &node.outputs }) {
		for (const ValueView &value : *values) {
			if (isOpen(value))
				return fmt::format("the shape of '{}' is left open", value.name);
			const auto type = hostType(value.type);
			real |= !value.isConstant &&
				(type == DataType::Float || type == DataType::Half);
		}
	}
	if (real && session_->options().precision == plugin::Precision::Integer)
		return "works on real numbers, precision=integer leaves them";
	return {};
}

/* Returns the reason why the compiler refuses a node, or "" if the compiler accepts the node. */
std::string Partitioner::ask(size_t node) const
{
	auto written = writeModel(api_, graph_, nodes_.unitOf(node));
	if (!written)
		return written.error().message();
	auto compiled =
		compileModel(written->bytes, { .core = session_->core(), .host = HostUse::Never });
	if (!compiled)
		return fmt::format("{}: {}", compiled.error().where, compiled.error().why);
	const std::vector<LayerReport> layers = plugin::layersOnCpu(compiled->report);
	return layers.empty() ? "" : onCpu(layers.front());
}

void Partitioner::judge()
{
	for (size_t i = 0; i < graph_.nodes.size(); i++) {
		if (nodes_.isConversion(i))
			continue;
		std::string reason = reasonAgainst(graph_.nodes[i]);
		if (reason.empty())
			reason = ask(i);
		if (!reason.empty())
			leave(i, reason);
	}
	nodes_.followOperators(possible_);
}

/* Leaves those nodes of the group to ONNX Runtime that the compiler would put on the CPU. Returns
 * true if there are any. A layer of the report is found by its name, which is that of the node's
 * first output. */
bool Partitioner::leaveLayersOnCpu(const std::vector<size_t> &group, const CompileReport &report)
{
	bool any = false;

	for (const LayerReport &layer : plugin::layersOnCpu(report)) {
		for (const size_t node : group) {
			if (graph_.nodes[node].outputs.front().name == layer.name) {
				leave(node, onCpu(layer));
				any = true;
			}
		}
	}
	if (any)
		nodes_.followOperators(possible_);
	return any;
}

Result<PlacedPartition> Partitioner::place(const std::vector<size_t> &group)
{
	auto written = writeModel(api_, graph_, group);
	if (!written)
		return forward(written);
	for (const auto *values : { &written->inputs, &written->outputs }) {
		for (const ValueView &value : *values) {
			if (!hostType(value.type))
				return fail(ErrorCode::Unsupported, "place partition", value.name,
					    "has elements of a type that the core has not");
		}
	}
	auto compiled = plugin::compilePartition(*session_, written->bytes);
	if (!compiled)
		return forward(compiled);
	if (leaveLayersOnCpu(group, compiled->report))
		return PlacedPartition{};
	PlacedPartition placed{ {}, nullptr, written->inputs, written->outputs };
	for (const size_t node : group)
		placed.nodes.push_back(graph_.nodes[node].node);
	auto cpu = std::make_unique<CpuSession>(api_, std::move(*written));
	auto loaded = plugin::Partition::load(session_, *compiled, describe(group), std::move(cpu));
	if (!loaded)
		return forward(loaded);
	placed.partition = std::move(*loaded);
	return placed;
}

Result<std::vector<PlacedPartition>> Partitioner::run()
{
	std::vector<PlacedPartition> all;
	std::vector<std::string> beyond; /* descriptions of groups beyond mostPartitions */
	size_t taken = 0;

	judge();
	/* Repeat until nothing changes: leaving some nodes to ONNX Runtime may change how other
	 * nodes are grouped. */
	for (bool again = true; again;) {
		again = false;
		all.clear();
		beyond.clear();
		taken = 0;
		auto groups = nodes_.groupsOf(possible_);
		std::ranges::stable_sort(groups, std::greater(),
					 [](const auto &group) { return group.nodes.size(); });
		for (const auto &[step, group] : groups) {
			if (all.size() == mostPartitions) {
				beyond.push_back(describe(group));
				continue;
			}
			auto placed = place(group);
			if (!placed) {
				for (const size_t node : group)
					leave(node, placed.error().message());
			} else if (placed->partition) {
				taken += group.size();
				all.push_back(std::move(*placed));
			} else {
				again = true;
			}
		}
	}
	for (const std::string &group : beyond)
		session_->log(fmt::format("leaves {} to ONNX Runtime: there are larger partitions",
					  group));
	session_->logTaken(taken, graph_.nodes.size(), all.size());
	return all;
}

} /* namespace */

compiler::NodeGraph nodesOf(const GraphView &graph)
{
	std::vector<compiler::GraphNode> nodes;

	for (const NodeView &node : graph.nodes) {
		compiler::GraphNode &to = nodes.emplace_back();
		to.type = node.type;
		for (const ValueView &input : node.inputs)
			to.inputs.push_back(input.name);
		for (const ValueView &output : node.outputs) {
			to.outputs.push_back(output.name);
			to.makesOutput |= output.isGraphOutput;
		}
	}
	return compiler::NodeGraph(std::move(nodes));
}

Result<std::vector<PlacedPartition>> placePartitions(const Api &api, const GraphView &graph,
						     std::shared_ptr<plugin::Session> session)
{
	return Partitioner(api, graph, std::move(session)).run();
}

} /* namespace nvdla::ort */

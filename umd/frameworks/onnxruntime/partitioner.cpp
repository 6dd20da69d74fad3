/* SPDX-License-Identifier: MIT */
#include "partitioner.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "cpu_session.h"

namespace nvdla::ort
{

namespace
{

/* Each is a trip to the device and back. */
constexpr size_t mostPartitions = 16;

bool isOpen(const ValueView &value)
{
	return std::any_of(value.shape.begin(), value.shape.end(),
			   [](int64_t extent) { return extent < 0; });
}

bool quantizes(const NodeView &node)
{
	return node.type == "QuantizeLinear";
}

bool dequantizes(const NodeView &node)
{
	return node.type == "DequantizeLinear";
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
		: api_(api), graph_(graph), session_(std::move(session)),
		  possible_(graph.nodes.size(), true)
	{
		for (size_t i = 0; i < graph.nodes.size(); i++) {
			for (const ValueView &output : graph.nodes[i].outputs)
				makers_[output.name] = i;
			for (const ValueView &input : graph.nodes[i].inputs)
				readers_[input.name].push_back(i);
		}
	}

	Result<std::vector<PlacedPartition>> run();

private:
	void leave(size_t node, const std::string &reason);
	std::string reasonAgainst(const NodeView &node) const;
	std::vector<size_t> unitOf(size_t node) const;
	std::string ask(size_t node) const;
	std::vector<size_t> readersOf(const std::string &name) const;
	bool areReadersPossible(size_t node) const;
	void judge();
	void followOperators();
	Result<PlacedPartition> place(const std::vector<size_t> &group);
	bool leaveLayersOnCpu(const std::vector<size_t> &group, const CompileReport &report);

	const Api &api_;
	const GraphView &graph_;
	std::shared_ptr<plugin::Session> session_;
	std::vector<bool> possible_;
	/* By the names of tensors. */
	std::unordered_map<std::string, size_t> makers_;
	std::unordered_map<std::string, std::vector<size_t>> readers_;
};

void Partitioner::leave(size_t node, const std::string &reason)
{
	possible_[node] = false;
	session_->log(fmt::format("leaves {} to ONNX Runtime: {}", graph_.nodes[node].describe(),
				  reason));
}

/* Why the compiler need not be asked; empty: it does. */
std::string Partitioner::reasonAgainst(const NodeView &node) const
{
	bool real = false;

	for (const auto *values : { &node.inputs, &node.outputs }) {
		for (const ValueView &value : *values) {
			if (isOpen(value))
				return fmt::format("the shape of '{}' is left open", value.name);
			const auto type = hostType(value.type);
			real |= !value.isConstant && (type == plugin::HostType::Float32 ||
						      type == plugin::HostType::Float16);
		}
	}
	if (real && session_->options().precision == plugin::Precision::Integer)
		return "works on real numbers, precision=integer leaves them";
	return {};
}

/* An operator with what makes integers of its results, and real numbers of its operands. */
std::vector<size_t> Partitioner::unitOf(size_t node) const
{
	std::set<size_t> unit{ node };

	for (const ValueView &input : graph_.nodes[node].inputs) {
		const auto maker = makers_.find(input.name);
		if (maker != makers_.end() && dequantizes(graph_.nodes[maker->second]))
			unit.insert(maker->second);
	}
	for (const ValueView &output : graph_.nodes[node].outputs) {
		for (const size_t reader : readersOf(output.name)) {
			if (quantizes(graph_.nodes[reader]))
				unit.insert(reader);
		}
	}
	return { unit.begin(), unit.end() };
}

/* Why the compiler does not want a node; empty: it does. */
std::string Partitioner::ask(size_t node) const
{
	auto written = writeModel(api_, graph_, unitOf(node));
	if (!written)
		return written.error().message();
	auto compiled = compileModel(written->bytes);
	if (!compiled)
		return fmt::format("{}: {}", compiled.error().where, compiled.error().why);
	const std::vector<LayerReport> layers = plugin::layersOnCpu(compiled->report);
	return layers.empty() ? "" : onCpu(layers.front());
}

std::vector<size_t> Partitioner::readersOf(const std::string &name) const
{
	const auto found = readers_.find(name);

	return found == readers_.end() ? std::vector<size_t>() : found->second;
}

bool Partitioner::areReadersPossible(size_t node) const
{
	for (const ValueView &output : graph_.nodes[node].outputs) {
		const std::vector<size_t> readers = readersOf(output.name);
		if (output.isGraphOutput || !std::all_of(readers.begin(), readers.end(),
							 [&](size_t i) { return possible_[i]; }))
			return false;
	}
	return true;
}

void Partitioner::judge()
{
	for (size_t i = 0; i < graph_.nodes.size(); i++) {
		const NodeView &node = graph_.nodes[i];
		if (quantizes(node) || dequantizes(node))
			continue;
		std::string reason = reasonAgainst(node);
		if (reason.empty())
			reason = ask(i);
		if (!reason.empty())
			leave(i, reason);
	}
	followOperators();
}

/*
 * Steps between integers and real numbers go with the operators whose they are, so that integers go
 * from one partition to another. Readers come behind those that they read.
 */
void Partitioner::followOperators()
{
	for (size_t i = graph_.nodes.size(); i-- > 0;) {
		const NodeView &node = graph_.nodes[i];
		const auto maker =
			node.inputs.empty() ? makers_.end() : makers_.find(node.inputs[0].name);
		if (quantizes(node) && maker != makers_.end())
			possible_[i] = possible_[maker->second];
		else if (quantizes(node) || dequantizes(node))
			possible_[i] = areReadersPossible(i);
	}
}

/* Layers are named by the first tensor that they make. */
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
		followOperators();
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
	auto compiled = plugin::compilePartition(written->bytes, session_->options().cacheFolder);
	if (!compiled)
		return forward(compiled);
	if (leaveLayersOnCpu(group, compiled->report))
		return PlacedPartition{};
	PlacedPartition placed{ {}, nullptr, written->inputs, written->outputs };
	for (const size_t node : group)
		placed.nodes.push_back(graph_.nodes[node].node);
	auto cpu = std::make_unique<CpuSession>(api_, std::move(*written));
	auto loaded = plugin::Partition::load(session_, *compiled,
					      fmt::format("{} nodes from {} on", group.size(),
							  graph_.nodes[group.front()].describe()),
					      std::move(cpu));
	if (!loaded)
		return forward(loaded);
	placed.partition = std::move(*loaded);
	return placed;
}

Result<std::vector<PlacedPartition>> Partitioner::run()
{
	std::vector<PlacedPartition> all;
	size_t taken = 0;

	judge();
	/* Where some nodes are left, the others may go together in another way. */
	for (bool again = true; again;) {
		again = false;
		all.clear();
		taken = 0;
		for (const std::vector<size_t> &group : groupsOf(graph_, possible_)) {
			if (all.size() == mostPartitions)
				break;
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
	session_->log(fmt::format("takes {} of {} nodes in {} partitions, leaves {}", taken,
				  graph_.nodes.size(), all.size(), graph_.nodes.size() - taken));
	return all;
}

} /* namespace */

/*
 * Each node is a step behind what it reads of the other kind. A way from one node of a group
 * through a node that is not in it is at least two steps long, so it does not come back.
 */
std::vector<std::vector<size_t>> groupsOf(const GraphView &graph, const std::vector<bool> &possible)
{
	std::unordered_map<std::string, size_t> makers;
	std::vector<size_t> steps(graph.nodes.size());
	std::map<size_t, std::vector<size_t>> byStep;
	std::vector<std::vector<size_t>> groups;

	for (size_t i = 0; i < graph.nodes.size(); i++) {
		steps[i] = possible[i] ? 1 : 0;
		for (const ValueView &input : graph.nodes[i].inputs) {
			const auto maker = makers.find(input.name);
			if (maker == makers.end())
				continue;
			const size_t other = possible[maker->second] == possible[i] ? 0 : 1;
			steps[i] = std::max(steps[i], steps[maker->second] + other);
		}
		for (const ValueView &output : graph.nodes[i].outputs)
			makers[output.name] = i;
		if (possible[i])
			byStep[steps[i]].push_back(i);
	}
	for (auto &[step, group] : byStep)
		groups.push_back(std::move(group));
	std::stable_sort(groups.begin(), groups.end(),
			 [](const auto &a, const auto &b) { return a.size() > b.size(); });
	return groups;
}

Result<std::vector<PlacedPartition>> placePartitions(const Api &api, const GraphView &graph,
						     std::shared_ptr<plugin::Session> session)
{
	return Partitioner(api, graph, std::move(session)).run();
}

} /* namespace nvdla::ort */

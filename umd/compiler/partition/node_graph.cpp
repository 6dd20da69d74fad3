/* SPDX-License-Identifier: MIT */
#include "node_graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace nvdla::compiler
{

namespace
{

bool quantizes(const GraphNode &node)
{
	return node.type == "QuantizeLinear";
}

bool dequantizes(const GraphNode &node)
{
	return node.type == "DequantizeLinear";
}

} /* namespace */

NodeGraph::NodeGraph(std::vector<GraphNode> nodes) : nodes_(std::move(nodes))
{
	for (size_t i = 0; i < nodes_.size(); i++) {
		for (const std::string &output : nodes_[i].outputs)
			makers_[output] = i;
		for (const std::string &input : nodes_[i].inputs)
			readers_[input].push_back(i);
	}
}

bool NodeGraph::isConversion(size_t node) const
{
	return quantizes(nodes_[node]) || dequantizes(nodes_[node]);
}

std::vector<size_t> NodeGraph::unitOf(size_t node) const
{
	std::set<size_t> unit{ node };

	for (const std::string &input : nodes_[node].inputs) {
		const auto maker = makers_.find(input);
		if (maker != makers_.end() && dequantizes(nodes_[maker->second]))
			unit.insert(maker->second);
	}
	for (const std::string &output : nodes_[node].outputs) {
		const auto readers = readers_.find(output);
		if (readers == readers_.end())
			continue;
		for (const size_t reader : readers->second) {
			if (quantizes(nodes_[reader]))
				unit.insert(reader);
		}
	}
	return { unit.begin(), unit.end() };
}

bool NodeGraph::areReaders(size_t node, const std::vector<bool> &possible) const
{
	if (nodes_[node].makesOutput)
		return false;
	for (const std::string &output : nodes_[node].outputs) {
		const auto readers = readers_.find(output);
		if (readers != readers_.end() &&
		    !std::ranges::all_of(readers->second, [&](size_t i) { return possible[i]; }))
			return false;
	}
	return true;
}

/* Goes backwards, because the choice for a node may depend on its readers, which come after it. */
void NodeGraph::followOperators(std::vector<bool> &possible) const
{
	for (size_t i = nodes_.size(); i-- > 0;) {
		const GraphNode &node = nodes_[i];
		const auto maker =
			node.inputs.empty() ? makers_.end() : makers_.find(node.inputs[0]);
		if (quantizes(node) && maker != makers_.end())
			possible[i] = possible[maker->second];
		else if (isConversion(i))
			possible[i] = areReaders(i, possible);
	}
}

/*
 * A node's step is higher than those of the nodes of the other kind that it reads. So a path that
 * leaves a group through a node of the other kind ends at a higher step, outside of the group.
 */
std::vector<NodeGroup> NodeGraph::groupsOf(const std::vector<bool> &kinds, bool kind) const
{
	std::vector<size_t> steps(nodes_.size());
	std::map<size_t, std::vector<size_t>> byStep;
	std::vector<NodeGroup> groups;

	for (size_t i = 0; i < nodes_.size(); i++) {
		steps[i] = kinds[i] ? 1 : 0;
		for (const std::string &input : nodes_[i].inputs) {
			const auto maker = makers_.find(input);
			if (maker == makers_.end())
				continue;
			const size_t other = kinds[maker->second] == kinds[i] ? 0 : 1;
			steps[i] = std::max(steps[i], steps[maker->second] + other);
		}
		if (kinds[i] == kind)
			byStep[steps[i]].push_back(i);
	}
	for (auto &[step, nodes] : byStep)
		groups.push_back({ step, std::move(nodes) });
	return groups;
}

} /* namespace nvdla::compiler */

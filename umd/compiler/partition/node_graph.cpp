/* SPDX-License-Identifier: MIT */
#include "node_graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace nvdla::compiler
{

namespace
{

constexpr const char *quantizing = "QuantizeLinear", *dequantizing = "DequantizeLinear";

} /* namespace */

NodeGraph::NodeGraph(std::vector<GraphNode> nodes)
	: nodes_(std::move(nodes)), makers_(nodes_.size()), readers_(nodes_.size())
{
	std::map<std::string, size_t> makers;

	for (size_t i = 0; i < nodes_.size(); i++) {
		for (const std::string &output : nodes_[i].outputs)
			makers[output] = i;
	}
	for (size_t i = 0; i < nodes_.size(); i++) {
		for (const std::string &input : nodes_[i].inputs) {
			if (!makers.contains(input))
				continue;
			makers_[i].push_back(makers[input]);
			readers_[makers[input]].push_back(i);
		}
	}
}

bool NodeGraph::isConversion(size_t node) const
{
	return nodes_[node].type == quantizing || nodes_[node].type == dequantizing;
}

std::vector<size_t> NodeGraph::unitOf(size_t node) const
{
	std::set<size_t> unit{ node };

	std::ranges::copy_if(makers_[node], std::inserter(unit, unit.end()),
			     [&](size_t maker) { return nodes_[maker].type == dequantizing; });
	std::ranges::copy_if(readers_[node], std::inserter(unit, unit.end()),
			     [&](size_t reader) { return nodes_[reader].type == quantizing; });
	return { unit.begin(), unit.end() };
}

/* Goes backwards, because the choice for a node may depend on its readers, which come after it. */
void NodeGraph::followOperators(std::vector<bool> &possible) const
{
	for (size_t i = nodes_.size(); i-- > 0;) {
		if (nodes_[i].type == quantizing && !makers_[i].empty())
			possible[i] = possible[makers_[i].front()];
		else if (isConversion(i))
			possible[i] = !nodes_[i].makesOutput &&
				      std::ranges::all_of(readers_[i], [&](size_t reader) {
					      return possible[reader];
				      });
	}
}

/*
 * A node's step counts the changes of kind on the way to it. Nodes of one kind and step form a
 * group. A path from a group through the other kind leads to higher steps, never back to the group.
 */
std::vector<NodeGroup> NodeGraph::groupsOf(const std::vector<bool> &kinds, bool kind) const
{
	std::vector<size_t> steps(nodes_.size());
	std::map<size_t, std::vector<size_t>> byStep;
	std::vector<NodeGroup> groups;

	for (size_t i = 0; i < nodes_.size(); i++) {
		steps[i] = kinds[i] ? 1 : 0;
		for (const size_t maker : makers_[i]) {
			const size_t other = kinds[maker] == kinds[i] ? 0 : 1;
			steps[i] = std::max(steps[i], steps[maker] + other);
		}
		if (kinds[i] == kind)
			byStep[steps[i]].push_back(i);
	}
	for (auto &[step, nodes] : byStep)
		groups.push_back({ step, std::move(nodes) });
	return groups;
}

} /* namespace nvdla::compiler */

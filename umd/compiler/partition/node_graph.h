/* SPDX-License-Identifier: MIT */
/*
 * The nodes of a model and their tensors, grouped into parts for core and host.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvdla::compiler
{

struct GraphNode {
	std::string type;
	/** \brief Names of computed tensors that the node, or a body in it (as of If), reads */
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	bool makesOutput = false; /**< an output of the node is an output of the graph */
	uint64_t macs = 0;	  /**< number of multiplications in sums of products */

	/** \return name of the first output */
	std::string name() const { return outputs.empty() ? "" : outputs.front(); }
	/** \return type and name, for reports and errors */
	std::string describe() const { return type + " '" + name() + "'"; }
};

/** \brief Nodes that form one part: indices into NodeGraph::nodes(), in ascending order */
struct NodeGroup {
	size_t step = 0; /**< a group reads only results of groups with lower steps */
	std::vector<size_t> nodes;
};

/** \brief Nodes, each after those whose results it reads */
class NodeGraph
{
public:
	explicit NodeGraph(std::vector<GraphNode> nodes);

	const std::vector<GraphNode> &nodes() const { return nodes_; }
	/** \return true if a node is ONNX's conversion of real numbers to integers, or back */
	bool isConversion(size_t node) const;
	/** \return a node with the conversions of its operands and results */
	std::vector<size_t> unitOf(size_t node) const;
	/**
	 * \brief Assign conversions to the parts of the operators that they convert for
	 *
	 * The tensors between parts are then integers.
	 *
	 * \param[in,out] possible for each node, whether the core computes it
	 */
	void followOperators(std::vector<bool> &possible) const;
	/**
	 * \brief Group nodes that can run as one part, without a node of another part in between
	 * \param[in] kinds for each node, true or false: only nodes of one kind share a part
	 * \return groups of the nodes whose kind is \a kind, in the order of their steps
	 */
	std::vector<NodeGroup> groupsOf(const std::vector<bool> &kinds, bool kind = true) const;

private:
	std::vector<GraphNode> nodes_;
	/* For each node, the nodes that make its inputs, and the nodes that read its outputs. */
	std::vector<std::vector<size_t>> makers_;
	std::vector<std::vector<size_t>> readers_;
};

} /* namespace nvdla::compiler */

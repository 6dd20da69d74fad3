/* SPDX-License-Identifier: MIT */
/*
 * The nodes of a model that is divided: the tensors that each reads and writes.
 */
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace nvdla::compiler
{

struct GraphNode {
	std::string type;
	/** \brief Names of tensors; of inputs also those that the node's bodies read */
	std::vector<std::string> inputs;
	std::vector<std::string> outputs;
	bool makesOutput = false; /**< one of the graph's */
};

/** \brief Nodes that go together, in their order */
struct NodeGroup {
	size_t step = 0; /**< a group reads only what groups of lesser steps write */
	std::vector<size_t> nodes;
};

/** \brief Nodes in an order in which they can be carried out */
class NodeGraph
{
public:
	explicit NodeGraph(std::vector<GraphNode> nodes);

	const std::vector<GraphNode> &nodes() const { return nodes_; }
	/** \return whether a node only goes between integers and real numbers */
	bool isConversion(size_t node) const;
	/** \return a node with what makes integers of its results, and real numbers of its operands
	 */
	std::vector<size_t> unitOf(size_t node) const;
	/**
	 * \brief Put conversions where the operators are that they convert for
	 *
	 * So integers go from one part to another.
	 *
	 * \param[in,out] possible for each node whether it is a part's for the device
	 */
	void followOperators(std::vector<bool> &possible) const;
	/**
	 * \brief Put nodes together whose results no other node needs in between
	 * \param[in] kinds which kind each node is of
	 * \return groups of the nodes of kind \a kind, in the order of their steps
	 */
	std::vector<NodeGroup> groupsOf(const std::vector<bool> &kinds, bool kind = true) const;

private:
	bool areReaders(size_t node, const std::vector<bool> &possible) const;

	std::vector<GraphNode> nodes_;
	/* By the names of tensors. */
	std::unordered_map<std::string, size_t> makers_;
	std::unordered_map<std::string, std::vector<size_t>> readers_;
};

} /* namespace nvdla::compiler */

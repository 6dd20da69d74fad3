/* SPDX-License-Identifier: MIT */
/*
 * The graph that ONNX Runtime shows to an execution provider.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api.h"

namespace nvdla::ort
{

/** \brief A tensor that a node reads or writes */
struct ValueView {
	const OrtValueInfo *info = nullptr; /**< nullptr: an optional input that is absent */
	std::string name;
	int32_t type = 0;	    /**< type of elements, numbered as in ONNX files */
	std::vector<int64_t> shape; /**< -1 for sizes that the model leaves open */
	bool isConstant = false;
	bool isGraphOutput = false;
	/** \brief True if the node is in the body of another node, such as If, and the value comes
	 * from the graph around this body */
	bool isFromOuterScope = false;
};

struct NodeView {
	const OrtNode *node = nullptr;
	std::string type;
	std::string domain;
	std::vector<ValueView> inputs;
	std::vector<ValueView> outputs;

	/** \return the node's type and first output, for messages */
	std::string describe() const;
};

struct OperatorSet {
	std::string domain;
	int64_t version = 0;
};

/**
 * \brief Nodes, sorted so that each comes after the nodes that compute its inputs; valid as long
 * as ONNX Runtime's graph exists
 */
struct GraphView {
	std::vector<NodeView> nodes;
	std::vector<OperatorSet> operatorSets;
};

Result<GraphView> readGraph(const Api &api, const OrtGraph *graph);
/** \return the names of a node's inputs or outputs in the node's order; "" for absent ones */
Result<std::vector<std::string>> inputNames(const Api &api, const OrtNode *node);
Result<std::vector<std::string>> outputNames(const Api &api, const OrtNode *node);

} /* namespace nvdla::ort */

/* SPDX-License-Identifier: MIT */
/* The graph of a loadable: its operations, its tensors, and the data that pass between them. */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nvdla/loadable.h>
#include <nvdla/task.h>

#include "operation_text.h"

namespace nvdla::inspect
{

struct GraphOperation {
	uint16_t task = 0; /**< id of the task in the loadable */
	size_t index = 0;  /**< index in its task */
	OperationText text;
	/** \brief Only in a model's graph, whose nodes have no tasks: name of the layer */
	std::string mark = {};
};

/** \brief A tensor of the application, or operations that pass data on the fly */
struct GraphNode {
	enum class Kind { Input, Output, Device, Cpu };

	Kind kind = Kind::Device;
	std::string tensor; /**< Input and Output: name, shape, type and layout */
	std::vector<GraphOperation> operations;
};

struct GraphEdge {
	enum class Kind {
		Data,  /**< one operation writes data that the other reads */
		Order, /**< one operation waits until an engine or a buffer is free */
	};

	size_t from = 0; /**< index of a node */
	size_t to = 0;
	Kind kind = Kind::Data;
	std::string label; /**< Data: the shape that is read; Order: the event */

	bool operator==(const GraphEdge &) const = default;
};

struct NetworkGraph {
	std::vector<GraphNode>
		nodes; /**< inputs, operations in the order they are submitted, outputs */
	std::vector<GraphEdge> edges; /**< at most one between two nodes; without cycles */
};

/** \return the graph, or the error of networkParts() */
Result<NetworkGraph> networkGraph(const Loadable &loadable);

} /* namespace nvdla::inspect */

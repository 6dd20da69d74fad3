/* SPDX-License-Identifier: MIT */
#pragma once

#include <nvdla/graph.h>

namespace nvdla::assembly
{

/** \brief Access to a graph's parts, for code that takes it apart or changes it */
struct GraphParts {
	static auto &inputs(auto &graph) { return graph.inputs_; }
	static auto &outputs(auto &graph) { return graph.outputs_; }
	static auto &surfaces(auto &graph) { return graph.surfaces_; }
	static auto &weights(auto &graph) { return graph.weights_; }
	static auto &operands(auto &graph) { return graph.operands_; }
	static auto &luts(auto &graph) { return graph.luts_; }
	static auto &operations(auto &graph) { return graph.operations_; }
	static auto &edges(auto &graph) { return graph.edges_; }
};

/** \brief Like Graph::assembleWithMap(), but takes the graph over, so its constants are not
 * copied */
Result<Assembly> assemble(Graph graph, const AssembleOptions &options);

} /* namespace nvdla::assembly */

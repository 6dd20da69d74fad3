/* SPDX-License-Identifier: MIT */
#include <fmt/core.h>

#include "graph_picture.h"

namespace nvdla::inspect
{

namespace
{

/* Returns text for use inside double quotes; all but printable ASCII becomes '?'. */
std::string quoted(const std::string &text)
{
	std::string out;

	for (char letter : text) {
		if (letter == '"' || letter == '\\')
			out += '\\';
		out += letter >= ' ' && letter <= '~' ? letter : '?';
	}
	return out;
}

std::string label(const GraphNode &node)
{
	if (node.operations.empty())
		return quoted(node.tensor);

	std::string text;
	for (const GraphOperation &operation : node.operations) {
		const OperationText &words = operation.text;
		if (text.empty() && !words.layer.empty())
			text = quoted(words.layer);
		text += fmt::format("{}{}.{} {} {}\\n{} {}", text.empty() ? "" : "\\n",
				    operation.task, operation.index, words.engine,
				    quoted(words.action), quoted(words.shape), quoted(words.types));
	}
	return text;
}

const char *style(GraphNode::Kind kind)
{
	switch (kind) {
	case GraphNode::Kind::Input:
	case GraphNode::Kind::Output:
		return "shape=ellipse";
	case GraphNode::Kind::Cpu:
		return "shape=box, style=dashed";
	case GraphNode::Kind::Device:
		break;
	}
	return "shape=box";
}

} /* namespace */

std::string graphDot(const NetworkGraph &graph, const std::string &name)
{
	std::string out = fmt::format("digraph \"{}\" {{\n", quoted(name));

	for (size_t i = 0; i < graph.nodes.size(); i++)
		out += fmt::format("\tn{} [{}, label=\"{}\"];\n", i, style(graph.nodes[i].kind),
				   label(graph.nodes[i]));
	for (const GraphEdge &edge : graph.edges)
		out += fmt::format(
			"\tn{} -> n{} [label=\"{}\"{}];\n", edge.from, edge.to, quoted(edge.label),
			edge.kind == GraphEdge::Kind::Order ? ", style=dashed, constraint=false"
							    : "");
	return out + "}\n";
}

} /* namespace nvdla::inspect */

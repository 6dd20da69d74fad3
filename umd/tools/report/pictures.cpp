/* SPDX-License-Identifier: MIT */
#include "tools/report/pictures.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "loadable/inspect/graph_picture.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using inspect::GraphEdge;
using inspect::GraphNode;
using inspect::NetworkGraph;
using inspect::Svg;

constexpr double gap = 24.0;
constexpr size_t nameWidth = 48; /* longer names are shortened to this number of bytes */

std::string tensorText(const ModelTensor &tensor)
{
	return fmt::format("{} {} {}", shortened(tensor.name, nameWidth), tensor.shape,
			   tensor.type);
}

GraphNode tensorNode(GraphNode::Kind kind, const ModelTensor &tensor)
{
	GraphNode node;

	node.kind = kind;
	node.tensor = tensorText(tensor);
	return node;
}

GraphNode operatorNode(const CompileReport &report, const ModelOperator &operation)
{
	GraphNode node;
	inspect::OperationText text;

	text.engine = operation.type;
	text.action = shortened(operation.name, nameWidth);
	if (!operation.outputs.empty()) {
		const ModelTensor &made = report.tensors[operation.outputs.front()];
		text.shape = made.shape;
		text.types = made.type;
	}
	node.operations.push_back({ 0, 0, std::move(text), operation.name });
	return node;
}

Result<Svg> drawn(const NetworkGraph &graph, const std::string &title)
{
	if (graph.nodes.size() > inspect::maxPictureNodes)
		return fail(ErrorCode::Unsupported, "draw graph", title,
			    fmt::format("has {} nodes, but a drawing at most {}; use --report text "
					"or json",
					graph.nodes.size(), inspect::maxPictureNodes));
	return inspect::graphPicture(graph, title);
}

} /* namespace */

NetworkGraph modelGraph(const CompileReport &report)
{
	/* Index of a tensor -> the node that writes the tensor. */
	std::vector<std::optional<size_t>> writers(report.tensors.size());
	std::set<std::pair<size_t, size_t>> known;
	NetworkGraph graph;

	auto read = [&](size_t tensor) {
		const size_t to = graph.nodes.size();
		if (writers[tensor] && known.emplace(*writers[tensor], to).second)
			graph.edges.push_back({ *writers[tensor], to, GraphEdge::Kind::Data,
						report.tensors[tensor].shape });
	};
	for (const size_t input : report.inputs) {
		writers[input] = graph.nodes.size();
		graph.nodes.push_back(tensorNode(GraphNode::Kind::Input, report.tensors[input]));
	}
	for (const ModelOperator &operation : report.operators) {
		std::ranges::for_each(operation.inputs, read);
		for (const size_t output : operation.outputs)
			writers[output] = graph.nodes.size();
		graph.nodes.push_back(operatorNode(report, operation));
	}
	for (const size_t output : report.outputs) {
		read(output);
		graph.nodes.push_back(tensorNode(GraphNode::Kind::Output, report.tensors[output]));
	}
	return graph;
}

Result<Svg> graphsPicture(const ModelReport &report)
{
	auto network = inspect::networkGraph(report.model.loadable);
	if (!network)
		return forward(network);
	auto before = drawn(modelGraph(report.model.report), report.name);
	if (!before)
		return forward(before);
	auto after = drawn(*network, report.name + " on the core");
	if (!after)
		return forward(after);
	Svg both(before->width() + gap + after->width(),
		 std::max(before->height(), after->height()), ".paper{fill:#ffffff}\n");
	both.place(0, 0, *before);
	both.place(before->width() + gap, 0, *after);
	return both;
}

Result<std::string> reportSvg(const ModelReport &report)
{
	auto graphs = graphsPicture(report);
	if (!graphs)
		return forward(graphs);
	const Svg memory = memoryPicture(report.model);
	Svg all(std::max(graphs->width(), memory.width()), graphs->height() + gap + memory.height(),
		".paper{fill:#ffffff}\n");
	all.place(0, 0, *graphs);
	all.place(0, graphs->height() + gap, memory);
	return all.finish();
}

} /* namespace nvdla::report */

/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "colours.h"
#include "graph_picture.h"
#include "layered_layout.h"
#include "svg.h"

namespace nvdla::inspect
{

namespace
{

constexpr double margin = 24.0;
constexpr double titleHeight = 30.0;
constexpr double rowHeight = 38.0;
constexpr double layerHeight = 18.0; /* height of the layer's name at the top of a box */
constexpr size_t layerWidth = 48;    /* largest number of characters of a layer's name */
constexpr double tensorHeight = 30.0;
constexpr double letterWidth = 6.8; /* average width of a letter in the font below */
constexpr double leastTagWidth = 64.0;
constexpr double padding = 14.0;

constexpr std::string_view pageStyle = ".paper{fill:#ffffff}\n"
				       "text{font-family:'DejaVu Sans','Helvetica "
				       "Neue',Arial,sans-serif;font-size:12px;fill:#222}\n"
				       ".title{font-size:15px;font-weight:bold}\n"
				       ".engine{font-weight:bold;text-anchor:middle}\n"
				       ".small{font-size:11px;fill:#666}\n"
				       ".middle{text-anchor:middle}\n"
				       ".box{fill:#fff;stroke:#555;stroke-width:1}\n"
				       ".cpu{stroke-dasharray:5 3}\n"
				       ".tag{fill:#dddddd}\n"
				       ".tensor{fill:#f3f3f3;stroke:#555;stroke-width:1}\n"
				       ".divide{stroke:#999;stroke-dasharray:2 2}\n"
				       ".edge{fill:none;stroke:#555;stroke-width:1.3}\n"
				       ".order{stroke-dasharray:4 3;stroke:#999}\n"
				       ".arrow{fill:#555}\n";

std::string secondLine(const OperationText &text)
{
	return text.types.empty() ? text.shape : text.shape + "   " + text.types;
}

double textWidth(const std::string &text)
{
	return static_cast<double>(text.size()) * letterWidth;
}

/* Returns the width of the boxes' left part, in which the engines' names are in bold letters. */
double tagWidth(const NetworkGraph &graph)
{
	double width = leastTagWidth;

	for (const GraphNode &node : graph.nodes) {
		for (const GraphOperation &operation : node.operations)
			width = std::max(width, 1.2 * textWidth(operation.text.engine) + 8);
	}
	return width;
}

/* Returns the layer of the node's first operation. */
const std::string &layerOf(const GraphNode &node)
{
	return node.operations.front().text.layer;
}

LayoutBox boxOf(const GraphNode &node, double tags)
{
	LayoutBox box;

	if (node.operations.empty()) {
		box.width = textWidth(node.tensor) + 2 * padding;
		box.height = tensorHeight;
		return box;
	}
	for (const GraphOperation &operation : node.operations) {
		box.width = std::max({ box.width, textWidth(operation.text.action),
				       textWidth(secondLine(operation.text)) });
	}
	box.width += tags + 2 * padding;
	box.height = rowHeight * static_cast<double>(node.operations.size());
	if (!layerOf(node).empty()) {
		box.width = std::max(box.width,
				     textWidth(shortened(layerOf(node), layerWidth)) + 2 * padding);
		box.height += layerHeight;
	}
	return box;
}

std::string titleOf(const GraphOperation &operation)
{
	const OperationText &text = operation.text;
	const std::string layer = text.layer.empty() ? "" : text.layer + "\n";

	if (text.places.empty())
		return layer + text.action;
	return fmt::format("{}task {} operation {}: {}", layer, operation.task, operation.index,
			   text.places);
}

void drawNode(Svg &svg, const GraphNode &node, const LayoutBox &box, double tags)
{
	const double left = margin + box.centre.x - box.width / 2;
	double top = margin + titleHeight + box.centre.y - box.height / 2;

	if (node.operations.empty()) {
		svg.rectangle(left, top, box.width, box.height, box.height / 2, "tensor");
		svg.text(left + box.width / 2, top + box.height / 2 + 4, "middle", node.tensor);
		return;
	}
	const bool cpu = node.kind == GraphNode::Kind::Cpu;
	svg.rectangle(left, top, box.width, box.height, 4, cpu ? "box cpu" : "box");
	if (!layerOf(node).empty()) {
		svg.text(left + padding / 2, top + 14, "", shortened(layerOf(node), layerWidth));
		top += layerHeight;
	}
	for (size_t i = 0; i < node.operations.size(); i++, top += rowHeight) {
		const GraphOperation &operation = node.operations[i];
		const OperationText &text = operation.text;
		svg.beginMark(operation.mark.empty() ? "data-op" : "data-layer",
			      operation.mark.empty()
				      ? fmt::format("{}.{}", operation.task, operation.index)
				      : operation.mark);
		svg.rectangle(left + 3, top + 3, tags, rowHeight - 6, 3, "tag " + text.engine,
			      titleOf(operation));
		svg.text(left + 3 + tags / 2, top + rowHeight / 2 + 4, "engine", text.engine);
		svg.text(left + tags + padding, top + 16, "", text.action);
		svg.text(left + tags + padding, top + 31, "small", secondLine(text));
		svg.endMark();
		if (i)
			svg.line(left, top, left + box.width, top, "divide");
	}
}

/* Draws a curve; each segment is vertical at both ends, so that segments meet smoothly. */
void drawEdge(Svg &svg, const std::vector<Point> &route, bool order)
{
	constexpr double arrowLength = 7.0;
	std::string data;

	for (size_t i = 0; i < route.size(); i++) {
		const double x = margin + route[i].x;
		const bool last = i + 1 == route.size();
		const double y = margin + titleHeight + route[i].y - (last ? arrowLength : 0.0);
		if (i == 0) {
			data = fmt::format("M{:.1f} {:.1f}", x, y);
			continue;
		}
		const double fromX = margin + route[i - 1].x;
		const double fromY = margin + titleHeight + route[i - 1].y;
		const double bend = (y - fromY) / 2;
		data += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", fromX,
				    fromY + bend, x, y - bend, x, y);
	}
	svg.path(data, order ? "edge order" : "edge");
	const double x = margin + route.back().x;
	const double y = margin + titleHeight + route.back().y;
	svg.path(fmt::format("M{:.1f} {:.1f} l-4 -{} h8 z", x, y, arrowLength), "arrow");
}

} /* namespace */

Svg graphPicture(const NetworkGraph &graph, const std::string &name)
{
	std::vector<LayoutBox> boxes;
	std::vector<LayoutEdge> edges;
	std::vector<bool> order;
	std::vector<bool> led(graph.nodes.size());
	const double tags = tagWidth(graph);

	for (const GraphNode &node : graph.nodes)
		boxes.push_back(boxOf(node, tags));
	for (const GraphEdge &edge : graph.edges)
		led[edge.to] = led[edge.to] || edge.kind == GraphEdge::Kind::Data;
	for (const GraphEdge &edge : graph.edges) {
		const bool isOrder = edge.kind == GraphEdge::Kind::Order;
		if (isOrder && led[edge.to])
			continue;
		edges.push_back({ edge.from, edge.to, {} });
		order.push_back(isOrder);
	}

	const Point size = layOut(boxes, edges);
	const double width = std::max(size.x, textWidth(name) * 1.3) + 2 * margin;
	Svg svg(width, size.y + 2 * margin + titleHeight, std::string(pageStyle) + engineColours);
	svg.text(margin, margin + 8, "title", name);
	for (size_t i = 0; i < edges.size(); i++)
		drawEdge(svg, edges[i].route, order[i]);
	for (size_t i = 0; i < boxes.size(); i++)
		drawNode(svg, graph.nodes[i], boxes[i], tags);
	return svg;
}

std::string graphSvg(const NetworkGraph &graph, const std::string &name)
{
	return graphPicture(graph, name).finish();
}

} /* namespace nvdla::inspect */

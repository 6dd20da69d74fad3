/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <map>
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

/* The nodes that one box stands for. They differ only in the places of their data. */
using Alike = std::vector<const GraphNode *>;

struct Drawing {
	std::vector<Alike> boxes;
	std::vector<LayoutEdge> edges; /* between boxes */
	std::vector<bool> order;       /* for each edge: true if no data pass */
};

/* Returns the text of the node's box, by which nodes are put into one box; nothing if the node does
 * not share its box with other nodes. */
std::string wordsOf(const GraphNode &node)
{
	std::string words;

	if (node.operations.empty() || layerOf(node).empty())
		return words;
	for (const GraphOperation &operation : node.operations)
		words +=
			fmt::format("{}\n{}\n{}\n{}\n", operation.text.layer, operation.text.engine,
				    operation.text.action, secondLine(operation.text));
	return words;
}

/* Returns data edges, and other edges to nodes without data edges, sorted by their start. */
std::vector<GraphEdge> drawnEdges(const NetworkGraph &graph)
{
	std::vector<bool> led(graph.nodes.size());
	std::vector<GraphEdge> edges = graph.edges;

	for (const GraphEdge &edge : edges)
		led[edge.to] = led[edge.to] || edge.kind == GraphEdge::Kind::Data;
	std::erase_if(edges, [&](const GraphEdge &edge) {
		return edge.kind == GraphEdge::Kind::Order && led[edge.to];
	});
	std::ranges::stable_sort(edges, {}, &GraphEdge::from);
	return edges;
}

/*
 * Puts nodes of the same rank (length of the longest path to a node) into one box if their text is
 * the same: a depthwise convolution may have 60 such nodes, which would make the drawing too wide
 * to read. Nodes of the same rank do not need each other, so the drawing remains without cycles.
 */
Drawing drawingOf(const NetworkGraph &graph)
{
	const size_t count = graph.nodes.size();
	const std::vector<GraphEdge> edges = drawnEdges(graph);
	std::vector<size_t> ranks(count), firsts(count), leaders, boxes(count);
	std::map<std::pair<size_t, std::string>, size_t> known;
	std::map<std::pair<size_t, size_t>, bool> joined; /* two boxes -> no data pass */
	Drawing drawing;

	for (const GraphEdge &edge : edges)
		ranks[edge.to] = std::max(ranks[edge.to], ranks[edge.from] + 1);
	for (size_t i = 0; i < count; i++) {
		std::string words = wordsOf(graph.nodes[i]);
		firsts[i] = words.empty() ? i
					  : known.try_emplace({ ranks[i], std::move(words) }, i)
						    .first->second;
		if (firsts[i] == i)
			leaders.push_back(i);
	}
	/* Edges have to lead from a smaller to a larger index. */
	std::ranges::stable_sort(leaders, {}, [&](size_t node) { return ranks[node]; });
	for (size_t i = 0; i < leaders.size(); i++)
		boxes[leaders[i]] = i;
	drawing.boxes.resize(leaders.size());
	for (size_t i = 0; i < count; i++)
		drawing.boxes[boxes[firsts[i]]].push_back(&graph.nodes[i]);
	for (const GraphEdge &edge : edges) {
		const bool isOrder = edge.kind == GraphEdge::Kind::Order;
		bool &all = joined.try_emplace({ boxes[firsts[edge.from]], boxes[firsts[edge.to]] },
					       true)
				    .first->second;
		all = all && isOrder;
	}
	for (const auto &[ends, isOrder] : joined) {
		drawing.edges.push_back({ ends.first, ends.second, {} });
		drawing.order.push_back(isOrder);
	}
	return drawing;
}

/* Returns the first line of a box, such as "60 x conv1"; nothing if no layer is known. */
std::string headingOf(const Alike &nodes)
{
	const std::string layer = shortened(layerOf(*nodes.front()), layerWidth);

	return nodes.size() > 1 ? fmt::format("{} x {}", nodes.size(), layer) : layer;
}

LayoutBox boxOf(const Alike &nodes, double tags)
{
	const GraphNode &node = *nodes.front();
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
		box.width = std::max(box.width, textWidth(headingOf(nodes)) + 2 * padding);
		box.height += layerHeight;
	}
	return box;
}

/* Returns the text that a viewer shows when the mouse is over row \a row of a box: the layer, and
 * a line for each operation of the row. */
std::string titleOf(const Alike &nodes, size_t row)
{
	std::string title = nodes.front()->operations[row].text.layer;

	for (const GraphNode *node : nodes) {
		const GraphOperation &operation = node->operations[row];
		const OperationText &text = operation.text;
		title += title.empty() ? "" : "\n";
		title += text.places.empty()
				 ? text.action
				 : fmt::format("task {} operation {}: {}", operation.task,
					       operation.index, text.places);
	}
	return title;
}

/* Begins what belongs to row \a row of a box: a layer of the model, or operations. */
void beginMark(Svg &svg, const Alike &nodes, size_t row)
{
	std::string places;

	if (const std::string &mark = nodes.front()->operations[row].mark; !mark.empty())
		return svg.beginMark("data-layer", mark);
	for (const GraphNode *node : nodes) {
		const GraphOperation &operation = node->operations[row];
		places += fmt::format("{}{}.{}", places.empty() ? "" : " ", operation.task,
				      operation.index);
	}
	svg.beginMark("data-op", places);
}

void drawBox(Svg &svg, const Alike &nodes, const LayoutBox &box, double tags)
{
	const GraphNode &node = *nodes.front();
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
		svg.text(left + padding / 2, top + 14, "", headingOf(nodes));
		top += layerHeight;
	}
	for (size_t i = 0; i < node.operations.size(); i++, top += rowHeight) {
		const OperationText &text = node.operations[i].text;
		beginMark(svg, nodes, i);
		svg.rectangle(left + 3, top + 3, tags, rowHeight - 6, 3, "tag " + text.engine,
			      titleOf(nodes, i));
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
	Drawing drawing = drawingOf(graph);
	const double tags = tagWidth(graph);

	for (const Alike &nodes : drawing.boxes)
		boxes.push_back(boxOf(nodes, tags));
	const Point size = layOut(boxes, drawing.edges);
	const double width = std::max(size.x, textWidth(name) * 1.3) + 2 * margin;
	Svg svg(width, size.y + 2 * margin + titleHeight, std::string(pageStyle) + engineColours);
	svg.text(margin, margin + 8, "title", name);
	for (size_t i = 0; i < drawing.edges.size(); i++)
		drawEdge(svg, drawing.edges[i].route, drawing.order[i]);
	for (size_t i = 0; i < boxes.size(); i++)
		drawBox(svg, drawing.boxes[i], boxes[i], tags);
	return svg;
}

std::string graphSvg(const NetworkGraph &graph, const std::string &name)
{
	return graphPicture(graph, name).finish();
}

} /* namespace nvdla::inspect */

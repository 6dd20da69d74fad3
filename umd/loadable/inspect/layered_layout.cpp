/* SPDX-License-Identifier: MIT */
#include "layered_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nvdla::inspect
{

namespace
{

constexpr int orderSweeps = 16;
constexpr int placeSweeps = 60;

/* A box, or the place where an edge passes a layer. */
struct Vertex {
	size_t layer = 0;
	double width = 0.0;
	double height = 0.0;
	double x = 0.0;
	std::vector<size_t> above;
	std::vector<size_t> below;
};

class LayeredLayout
{
public:
	LayeredLayout(std::vector<LayoutBox> &boxes, std::vector<LayoutEdge> &edges,
		      const LayoutGaps &gaps)
		: boxes_(boxes), edges_(edges), gaps_(gaps)
	{
	}

	Point run()
	{
		assignLayers();
		splitLongEdges();
		orderLayers();
		placeColumns();
		return placeResults();
	}

private:
	void assignLayers();
	void splitLongEdges();
	void orderLayers();
	void sortLayer(std::vector<size_t> &layer, bool fromAbove);
	size_t crossings() const;
	void placeColumns();
	void settle(const std::vector<size_t> &layer, bool fromAbove);
	double separation(size_t left, size_t right) const;
	Point placeResults();

	std::vector<LayoutBox> &boxes_;
	std::vector<LayoutEdge> &edges_;
	const LayoutGaps &gaps_;
	std::vector<Vertex> vertices_;
	std::vector<std::vector<size_t>> chains_; /* vertices of each edge, from top to bottom */
	std::vector<std::vector<size_t>> layers_;
};

void LayeredLayout::assignLayers()
{
	vertices_.resize(boxes_.size());
	for (size_t i = 0; i < boxes_.size(); i++) {
		vertices_[i].width = boxes_[i].width;
		vertices_[i].height = boxes_[i].height;
	}

	std::vector<LayoutEdge> byStart = edges_;
	std::sort(byStart.begin(), byStart.end(),
		  [](const LayoutEdge &a, const LayoutEdge &b) { return a.from < b.from; });
	for (const LayoutEdge &edge : byStart)
		vertices_[edge.to].layer =
			std::max(vertices_[edge.to].layer, vertices_[edge.from].layer + 1);

	/* A box without a predecessor is placed just above its successor, not at the top. */
	std::vector<size_t> first(boxes_.size(), std::numeric_limits<size_t>::max());
	std::vector<bool> led(boxes_.size());
	for (const LayoutEdge &edge : edges_) {
		first[edge.from] = std::min(first[edge.from], vertices_[edge.to].layer);
		led[edge.to] = true;
	}
	for (size_t i = 0; i < boxes_.size(); i++) {
		if (!led[i] && first[i] != std::numeric_limits<size_t>::max())
			vertices_[i].layer = first[i] - 1;
	}
}

void LayeredLayout::splitLongEdges()
{
	for (const LayoutEdge &edge : edges_) {
		std::vector<size_t> chain{ edge.from };
		for (size_t layer = vertices_[edge.from].layer + 1;
		     layer < vertices_[edge.to].layer; layer++) {
			Vertex passing;
			passing.layer = layer;
			chain.push_back(vertices_.size());
			vertices_.push_back(std::move(passing));
		}
		chain.push_back(edge.to);
		for (size_t i = 0; i + 1 < chain.size(); i++) {
			vertices_[chain[i]].below.push_back(chain[i + 1]);
			vertices_[chain[i + 1]].above.push_back(chain[i]);
		}
		chains_.push_back(std::move(chain));
	}
	for (size_t i = 0; i < vertices_.size(); i++) {
		if (vertices_[i].layer >= layers_.size())
			layers_.resize(vertices_[i].layer + 1);
		layers_[vertices_[i].layer].push_back(i);
	}
}

size_t LayeredLayout::crossings() const
{
	std::vector<size_t> position(vertices_.size());
	size_t count = 0;

	for (const auto &layer : layers_) {
		for (size_t i = 0; i < layer.size(); i++)
			position[layer[i]] = i;
	}
	for (const auto &layer : layers_) {
		std::vector<std::pair<size_t, size_t>> ends;
		for (size_t vertex : layer) {
			for (size_t below : vertices_[vertex].below)
				ends.emplace_back(position[vertex], position[below]);
		}
		for (size_t a = 0; a < ends.size(); a++) {
			for (size_t b = a + 1; b < ends.size(); b++)
				count += ends[a].first < ends[b].first &&
					 ends[a].second > ends[b].second;
		}
	}
	return count;
}

/* Sort by the mean position of the neighbours; vertices without neighbours keep their place. */
void LayeredLayout::sortLayer(std::vector<size_t> &layer, bool fromAbove)
{
	std::vector<std::pair<double, size_t>> keyed;

	for (size_t vertex : layer) {
		const auto &near = fromAbove ? vertices_[vertex].above : vertices_[vertex].below;
		double sum = 0.0;
		for (size_t other : near)
			sum += vertices_[other].x;
		const double key =
			near.empty() ? vertices_[vertex].x : sum / static_cast<double>(near.size());
		keyed.emplace_back(key, vertex);
	}
	std::stable_sort(keyed.begin(), keyed.end(),
			 [](const auto &a, const auto &b) { return a.first < b.first; });
	for (size_t i = 0; i < layer.size(); i++) {
		layer[i] = keyed[i].second;
		vertices_[layer[i]].x = static_cast<double>(i);
	}
}

void LayeredLayout::orderLayers()
{
	auto best = layers_;
	size_t fewest = std::numeric_limits<size_t>::max();

	for (int sweep = 0; sweep < orderSweeps && fewest; sweep++) {
		for (size_t i = 0; i < layers_.size(); i++) {
			const bool down = sweep % 2 == 0;
			sortLayer(layers_[down ? i : layers_.size() - 1 - i], down);
		}
		if (const size_t now = crossings(); now < fewest) {
			fewest = now;
			best = layers_;
		}
	}
	layers_ = best;
}

double LayeredLayout::separation(size_t left, size_t right) const
{
	const Vertex &a = vertices_[left];
	const Vertex &b = vertices_[right];
	const bool boxes = a.width > 0.0 && b.width > 0.0;

	return (a.width + b.width) / 2 + (boxes ? gaps_.between : gaps_.edge);
}

/*
 * Put each vertex of a layer at the mean position of its neighbours, as far as the order and the
 * distances allow: vertices that would overlap form a block, which is placed at the mean of
 * their positions (isotonic regression on positions minus distances).
 */
void LayeredLayout::settle(const std::vector<size_t> &layer, bool fromAbove)
{
	struct Pool {
		double sum;
		size_t count;

		double mean() const { return sum / static_cast<double>(count); }
	};
	std::vector<Pool> pools;
	std::vector<double> shift(layer.size());

	for (size_t i = 0; i < layer.size(); i++) {
		const Vertex &vertex = vertices_[layer[i]];
		const auto &near = fromAbove ? vertex.above : vertex.below;
		double wanted = vertex.x;
		if (!near.empty()) {
			wanted = 0.0;
			for (size_t other : near)
				wanted += vertices_[other].x;
			wanted /= static_cast<double>(near.size());
		}
		shift[i] = i ? shift[i - 1] + separation(layer[i - 1], layer[i]) : 0.0;
		pools.push_back({ wanted - shift[i], 1 });
		while (pools.size() > 1) {
			const Pool last = pools.back();
			Pool &before = pools[pools.size() - 2];
			if (before.mean() <= last.mean())
				break;
			before = { before.sum + last.sum, before.count + last.count };
			pools.pop_back();
		}
	}
	size_t i = 0;
	for (const Pool &pool : pools) {
		for (size_t n = 0; n < pool.count; n++, i++)
			vertices_[layer[i]].x = pool.mean() + shift[i];
	}
}

void LayeredLayout::placeColumns()
{
	for (const auto &layer : layers_) {
		for (size_t i = 1; i < layer.size(); i++)
			vertices_[layer[i]].x =
				vertices_[layer[i - 1]].x + separation(layer[i - 1], layer[i]);
	}
	for (int sweep = 0; sweep < placeSweeps; sweep++) {
		const bool down = sweep % 2 == 0;
		for (size_t i = 0; i < layers_.size(); i++)
			settle(layers_[down ? i : layers_.size() - 1 - i], down);
	}
}

Point LayeredLayout::placeResults()
{
	double left = std::numeric_limits<double>::max();
	double right = std::numeric_limits<double>::lowest();
	std::vector<double> top;
	std::vector<double> bottom;
	double next = 0.0;
	double size = 0.0;

	for (const Vertex &vertex : vertices_) {
		left = std::min(left, vertex.x - vertex.width / 2);
		right = std::max(right, vertex.x + vertex.width / 2);
	}
	for (const auto &layer : layers_) {
		double height = 0.0;
		double bend = gaps_.straight;
		for (size_t vertex : layer) {
			height = std::max(height, vertices_[vertex].height);
			for (size_t below : vertices_[vertex].below)
				bend = std::max(
					bend, std::fabs(vertices_[vertex].x - vertices_[below].x));
		}
		size = next + height;
		top.push_back(next);
		bottom.push_back(size);
		next = size + std::min(bend, gaps_.below);
	}
	for (size_t i = 0; i < boxes_.size(); i++) {
		const size_t layer = vertices_[i].layer;
		boxes_[i].centre = { vertices_[i].x - left, (top[layer] + bottom[layer]) / 2 };
	}
	/* Edges pass a layer vertically, whatever its boxes' heights, and bend between layers. */
	for (size_t i = 0; i < edges_.size(); i++) {
		std::vector<Point> &route = edges_[i].route;
		route.clear();
		for (size_t vertex : chains_[i]) {
			const size_t layer = vertices_[vertex].layer;
			route.push_back({ vertices_[vertex].x - left, top[layer] });
			route.push_back({ vertices_[vertex].x - left, bottom[layer] });
		}
		const LayoutBox &from = boxes_[edges_[i].from];
		const LayoutBox &to = boxes_[edges_[i].to];
		route.front().y = from.centre.y + from.height / 2;
		route.back().y = to.centre.y - to.height / 2;
	}
	return { right - left, size };
}

} /* namespace */

Point layOut(std::vector<LayoutBox> &boxes, std::vector<LayoutEdge> &edges, const LayoutGaps &gaps)
{
	if (boxes.empty())
		return {};
	return LayeredLayout(boxes, edges, gaps).run();
}

} /* namespace nvdla::inspect */

/* SPDX-License-Identifier: MIT */
/*
 * Edges of a task graph, derived from the surfaces that operations read and write.
 *
 * A node has room for one edge to each engine. That is enough: an engine enables its operations in
 * order, so operations behind a waiting one wait as well.
 */
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "plan.h"

namespace nvdla::assembly
{

namespace
{

/* Largest nvdla_graph_node::dependency_count, the number of edges that lead to a node. */
constexpr unsigned maxDependencies = std::numeric_limits<__u8>::max();

class Connector
{
public:
	Connector(const Plan &plan, const TaskRange &range) : plan_(plan), range_(range)
	{
		for (size_t i = range.first; i < range.last; i++) {
			nvdla_graph_node node = {};
			node.index = static_cast<__s16>(i - range.first);
			node.op_type = static_cast<__u8>(plan.nodes[i].type);
			for (nvdla_consumer &consumer : node.consumers)
				consumer.index = none;
			node.fused_parent.index = none;
			graph_.push_back(node);
		}
	}

	void addStreams();
	void addDataEdges();
	void addOrder();
	Result<void> add(const ExplicitEdge &edge);
	Result<std::vector<nvdla_graph_node>> finish();

private:
	const Node &node(size_t i) const { return plan_.nodes[range_.first + i]; }
	nvdla_consumer &slot(size_t from, size_t to)
	{
		return graph_[from].consumers[graph_[to].op_type];
	}
	void connect(size_t from, size_t to, nvdla_event event)
	{
		slot(from, to) = { static_cast<__s16>(to), static_cast<__u8>(event), 0 };
	}

	const Plan &plan_;
	const TaskRange &range_;
	std::vector<nvdla_graph_node> graph_;
};

/* The producer of a stream is programmed first, and enabled once its consumer is enabled. */
void Connector::addStreams()
{
	for (size_t i = 0; i < graph_.size(); i++) {
		if (node(i).producer == none)
			continue;
		const size_t producer = static_cast<size_t>(node(i).producer) - range_.first;
		connect(producer, i, NVDLA_EVENT_OP_PROGRAMMED);
		graph_[i].fused_parent = { static_cast<__s16>(producer), NVDLA_EVENT_OP_ENABLED,
					   0 };
	}
}

/*
 * An operation waits for earlier operations that access its output or write its inputs. An engine
 * ends its operations in order, so one edge from the latest of them on each engine is enough.
 */
void Connector::addDataEdges()
{
	/*
	 * For each pair of engines: the first operation of the second engine that waits for the end
	 * of an operation of the first one.
	 */
	std::array<std::array<size_t, NVDLA_NUM_OP_TYPES>, NVDLA_NUM_OP_TYPES> waits;

	for (auto &engine : waits)
		engine.fill(graph_.size());
	for (size_t from = graph_.size(); from-- > 0;) {
		for (size_t to = from + 1; to < graph_.size(); to++) {
			size_t &waiting = waits[graph_[from].op_type][graph_[to].op_type];
			const bool first = slot(from, to).index == none;
			/* Operations of one chain run together and exchange streams. */
			if (to < waiting && first && node(from).chainFirst != node(to).chainFirst &&
			    graph_[from].op_type != graph_[to].op_type &&
			    plan_.conflict(node(from), node(to))) {
				connect(from, to, NVDLA_EVENT_OP_COMPLETED);
				waiting = to;
			}
		}
	}
}

/*
 * Each operation has an edge to the next operation of its engine, which may be programmed while the
 * first one runs, unless it needs the first one's result. An engine has two register groups, so a
 * third operation is programmed only when the first one has freed its group.
 */
void Connector::addOrder()
{
	for (size_t from = 0; from < graph_.size(); from++) {
		for (size_t to = from + 1; to < graph_.size(); to++) {
			if (graph_[from].op_type != graph_[to].op_type)
				continue;
			connect(from, to,
				plan_.conflict(node(from), node(to)) ? NVDLA_EVENT_OP_COMPLETED
								     : NVDLA_EVENT_OP_PROGRAMMED);
			break;
		}
	}
}

Result<void> Connector::add(const ExplicitEdge &edge)
{
	const bool inside = edge.before >= range_.first && edge.before < range_.last &&
			    edge.after >= range_.first && edge.after < range_.last;
	/* Tasks run one after the other, so edges inside a task are enough. */
	if (!inside)
		return {};
	const size_t from = edge.before - range_.first;
	const size_t to = edge.after - range_.first;
	nvdla_consumer &taken = slot(from, to);
	const bool earlier = taken.index != none && static_cast<size_t>(taken.index) <= to;

	if (taken.index == none ||
	    (static_cast<size_t>(taken.index) == to && taken.event == NVDLA_EVENT_OP_PROGRAMMED &&
	     node(to).producer != static_cast<int>(edge.before))) {
		connect(from, to, edge.event);
		return {};
	}
	if (earlier && (taken.event == NVDLA_EVENT_OP_COMPLETED || taken.event == edge.event))
		return {};
	return fail(
		ErrorCode::InvalidArgument, what, where(node(to)),
		fmt::format("cannot wait for event {} of {}: that operation's edge to this engine "
			    "leads to {} already",
			    static_cast<unsigned>(edge.event), where(node(from)),
			    where(node(static_cast<size_t>(taken.index)))));
}

Result<std::vector<nvdla_graph_node>> Connector::finish()
{
	std::vector<unsigned> incoming(graph_.size());

	for (const nvdla_graph_node &node : graph_) {
		for (const nvdla_consumer &consumer : node.consumers) {
			if (consumer.index != none)
				incoming[static_cast<size_t>(consumer.index)]++;
		}
		if (node.fused_parent.index != none)
			incoming[static_cast<size_t>(node.fused_parent.index)]++;
	}
	for (size_t i = 0; i < graph_.size(); i++) {
		if (incoming[i] > maxDependencies)
			return fail(ErrorCode::Unsupported, what, where(node(i)),
				    fmt::format("waits for {} operations, a descriptor counts to "
						"{}; have fewer in a task (maxTaskOperations)",
						incoming[i], maxDependencies));
		graph_[i].dependency_count = static_cast<__u8>(incoming[i]);
	}
	return std::move(graph_);
}

} /* namespace */

Result<std::vector<nvdla_graph_node>> connect(const Plan &plan, const TaskRange &range,
					      const std::vector<ExplicitEdge> &edges)
{
	Connector connector(plan, range);

	connector.addStreams();
	connector.addDataEdges();
	connector.addOrder();
	for (const ExplicitEdge &edge : edges) {
		if (auto added = connector.add(edge); !added)
			return forward(added);
	}
	return connector.finish();
}

} /* namespace nvdla::assembly */

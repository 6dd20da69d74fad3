/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <map>

namespace nvdla::assembly
{

namespace
{

/* Access of a chain to a region or a part of it. */
struct Access {
	size_t chain;
	const Region *region;
	bool writes;
};

bool meet(const Access &one, const Access &other)
{
	if (!one.writes && !other.writes)
		return false;
	return one.region == other.region || one.region->whole == none ||
	       other.region->whole == none || one.region->window.meets(other.region->window);
}

} /* namespace */

/* Makes \a before, and all chains that precede it, precede \a chain. */
void Order::add(size_t before, size_t chain)
{
	std::vector<uint64_t> &all = before_[chain];
	const std::vector<uint64_t> &more = before_[before];
	const size_t bit = before - first_[before];

	for (size_t i = 0; i < more.size(); i++)
		all[i] |= more[i];
	all[bit / wordBits] |= uint64_t{ 1 } << bit % wordBits;
}

Order::Order(const Plan &plan)
	: task_(plan.nodes.size()), first_(plan.nodes.size()), before_(plan.nodes.size())
{
	for (size_t task = 0; task < plan.tasks.size(); task++) {
		const TaskRange &range = plan.tasks[task];
		std::map<nvdla_op_type, size_t> engines; /* the latest chain on each engine */
		std::map<int, std::vector<Access>> accesses;
		auto touch = [&](size_t chain, int index, bool writes) {
			const Region &region = plan.regions[static_cast<size_t>(index)];
			std::vector<Access> &earlier =
				accesses[region.whole == none ? index : region.whole];
			const Access access{ chain, &region, writes };
			for (const Access &other : earlier) {
				if (other.chain != chain && meet(other, access))
					add(other.chain, chain);
			}
			earlier.push_back(access);
		};
		for (size_t i = range.first; i < range.last; i++) {
			task_[i] = task;
			first_[i] = range.first;
			const Node &node = plan.nodes[i];
			const size_t chain = node.chainFirst;
			if (before_[chain].empty())
				before_[chain].resize((range.last - range.first) / wordBits + 1);
			const auto engine = engines.find(node.type);
			if (engine != engines.end() && engine->second != chain)
				add(engine->second, chain);
			engines[node.type] = chain;
			for (const int region : node.reads)
				touch(chain, region, false);
			for (const int region : node.writes)
				touch(chain, region, true);
		}
	}
}

} /* namespace nvdla::assembly */

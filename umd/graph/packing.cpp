/* SPDX-License-Identifier: MIT */
#include "packing.h"

#include <algorithm>
#include <functional>

namespace nvdla::assembly
{

namespace
{

template<typename Visit>
void forEachUse(const Plan &plan, const Visit &visit)
{
	for (const Node &node : plan.nodes) {
		for (const std::vector<int> *regions : { &node.reads, &node.writes }) {
			for (const int region : *regions) {
				const int whole = plan.regions[static_cast<size_t>(region)].whole;
				visit(node, static_cast<size_t>(whole == none ? region : whole));
			}
		}
	}
}

} /* namespace */

std::vector<Lifetime> lifetimes(const Plan &plan)
{
	std::vector<Lifetime> times(plan.regions.size());

	forEachUse(plan, [&](const Node &node, size_t region) {
		Lifetime &time = times[region];
		time.first = std::min(time.first, node.chainFirst);
		time.last = std::max(time.last, node.chainLast);
	});
	return times;
}

Packing::Packing(Plan &plan, bool reuse)
	: plan_(plan), reuse_(reuse), order_(plan), times_(lifetimes(plan)),
	  users_(plan.regions.size())
{
	forEachUse(plan, [&](const Node &node, size_t region) {
		std::vector<size_t> &users = users_[region];
		if (users.empty() || users.back() != node.chainFirst)
			users.push_back(node.chainFirst);
	});
}

bool Packing::areInOrder(size_t one, size_t other) const
{
	return std::ranges::all_of(users_[one], [&](size_t before) {
		return std::ranges::all_of(users_[other], [&](size_t after) {
			return order_.isBefore(before, after);
		});
	});
}

bool Packing::mayShare(size_t one, size_t other, Sharing sharing) const
{
	if (times_[other].last < times_[one].first)
		std::swap(one, other);
	if (sharing == Sharing::None || times_[one].last >= times_[other].first)
		return false;
	return sharing == Sharing::All || areInOrder(one, other);
}

/* Gives each region the lowest offset at which it shares bytes only with regions that allow it.
 * Returns the size of the memory in bytes. */
uint64_t Packing::firstFit(const std::vector<size_t> &order, Sharing sharing)
{
	std::vector<size_t> placed;
	uint64_t size = 0;

	for (const size_t member : order) {
		Region &region = plan_.regions[member];
		std::vector<const Region *> others;
		for (const size_t other : placed) {
			if (!mayShare(other, member, sharing))
				others.push_back(&plan_.regions[other]);
		}
		std::ranges::sort(others, {}, &Region::offset);
		uint64_t offset = 0;
		for (const Region *other : others) {
			if (offset + region.bytes <= other->offset)
				break;
			offset = std::max(offset, alignUp(other->offset + other->bytes, alignment));
		}
		region.offset = offset;
		size = std::max(size, offset + region.bytes);
		placed.push_back(member);
	}
	return size;
}

/*
 * Tries first fit with several orders of the regions: as given, by size, by lifetime, and by the
 * product of both. No single order is the best for all graphs.
 */
uint64_t Packing::smallest(const std::vector<size_t> &members, Sharing sharing)
{
	auto by = [&](auto key) {
		std::vector<size_t> order = members;
		std::ranges::stable_sort(order, std::ranges::greater(), key);
		return order;
	};
	auto bytes = [&](size_t member) { return plan_.regions[member].bytes; };
	auto duration = [&](size_t member) { return times_[member].last - times_[member].first; };
	std::vector<size_t> best = members;
	uint64_t least = firstFit(members, sharing);

	if (sharing == Sharing::None)
		return least;
	for (const auto &order : { by(bytes), by(duration), by([&](size_t member) {
					   return bytes(member) * (duration(member) + 1);
				   }) }) {
		const uint64_t size = firstFit(order, sharing);
		if (size >= least)
			continue;
		least = size;
		best = order;
	}
	return firstFit(best, sharing);
}

uint64_t Packing::pack(const std::vector<size_t> &members, uint64_t forBranches)
{
	if (!reuse_)
		return smallest(members, Sharing::None);
	const uint64_t shared = smallest(members, Sharing::All);
	const uint64_t apart = smallest(members, Sharing::InOrder);

	return apart <= std::max(shared, forBranches) ? apart : smallest(members, Sharing::All);
}

} /* namespace nvdla::assembly */

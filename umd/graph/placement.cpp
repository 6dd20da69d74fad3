/* SPDX-License-Identifier: MIT */
/*
 * Placement of surfaces and constants in memories.
 */
#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "loadable/cubes.h"
#include "packing.h"

namespace nvdla::assembly
{

namespace
{

constexpr uint32_t memoryAlignment = 4096;

/*
 * Returns surfaces that may move to on-chip memory. Surfaces that BDMA or the CPU access stay: all
 * inputs of a BDMA operation have to be in the same type of memory, and so do its outputs; the CPU
 * cannot access on-chip memory.
 */
std::vector<size_t> movable(const Plan &plan, const std::vector<Lifetime> &times)
{
	std::vector<double> uses(plan.regions.size());
	std::set<size_t> fixed;
	std::vector<size_t> found;

	for (const Node &node : plan.nodes) {
		for (const std::vector<int> *regions : { &node.reads, &node.writes }) {
			for (const int region : *regions) {
				const int whole = plan.regions[static_cast<size_t>(region)].whole;
				const auto place =
					static_cast<size_t>(whole == none ? region : whole);
				uses[place] += 1;
				if (node.cpu || node.type == NVDLA_OP_BDMA)
					fixed.insert(place);
			}
		}
	}
	for (size_t i = 0; i < plan.regions.size(); i++) {
		if (plan.regions[i].mayBeOnChip && !fixed.contains(i) && uses[i] > 0)
			found.push_back(i);
	}
	/*
	 * Sort by accesses divided by lifetime, the best first. The size is no criterion: it
	 * increases both the benefit and the cost.
	 */
	std::ranges::stable_sort(found, std::ranges::greater(), [&](size_t i) {
		return uses[i] / static_cast<double>(times[i].last - times[i].first + 1);
	});
	return found;
}

class Placement
{
public:
	Placement(Plan &plan, const AssembleOptions &options, bool apart)
		: plan_(plan),
		  packing_(plan, options.reuseMemory), limits_{ apart ? UINT64_MAX : 0,
								apart ? options.sramBytes : 0 }
	{
	}

	std::vector<Memory> place()
	{
		placeConstants();
		placeIntermediates(MemoryDomain::System);
		placeIntermediates(MemoryDomain::Sram);
		placeBound(RegionKind::Input, MemoryInput);
		placeBound(RegionKind::Output, MemoryOutput);
		placeParts();
		return std::move(memories_);
	}

private:
	std::vector<size_t> members(RegionKind kind, MemoryDomain domain) const
	{
		std::vector<size_t> found;

		for (size_t i = 0; i < plan_.regions.size(); i++) {
			if (plan_.regions[i].kind == kind && plan_.regions[i].domain == domain)
				found.push_back(i);
		}
		return found;
	}

	Memory &add(uint16_t flags, uint64_t size)
	{
		Memory memory;

		memory.id = static_cast<uint16_t>(memories_.size());
		memory.flags = flags;
		memory.size = size;
		memory.alignment = memoryAlignment;
		memories_.push_back(memory);
		return memories_.back();
	}

	void assign(const std::vector<size_t> &regions, uint16_t memory)
	{
		for (size_t region : regions)
			plan_.regions[region].memory = memory;
	}

	void placeConstants()
	{
		const auto constants = members(RegionKind::Constant, MemoryDomain::System);
		if (constants.empty())
			return;
		Memory &memory = add(MemoryAlloc | MemorySet, 0);
		for (size_t i : constants) {
			Region &region = plan_.regions[i];
			region.offset = alignUp(memory.size, Packing::alignment);
			memory.size = region.offset + region.bytes;
			memory.contents.push_back(
				{ fmt::format("{}-{}", i, region.name), region.offset });
		}
		assign(constants, memory.id);
	}

	void placeIntermediates(MemoryDomain domain)
	{
		const auto found = members(RegionKind::Intermediate, domain);
		if (found.empty())
			return;
		Memory &memory = add(MemoryAlloc,
				     packing_.pack(found, limits_[static_cast<size_t>(domain)]));
		memory.domain = domain;
		assign(found, memory.id);
	}

	void placeBound(RegionKind kind, MemoryFlags direction)
	{
		for (size_t i : members(kind, MemoryDomain::System)) {
			const Memory &memory = add(static_cast<uint16_t>(MemoryAlloc | direction),
						   plan_.regions[i].bytes);
			plan_.regions[i].memory = memory.id;
		}
	}

	void placeParts()
	{
		for (Region &region : plan_.regions) {
			if (region.whole == none)
				continue;
			const Region &whole = plan_.regions[static_cast<size_t>(region.whole)];
			region.memory = whole.memory;
			region.offset = whole.offset + region.offsetInWhole;
		}
	}

	Plan &plan_;
	Packing packing_;
	const std::array<uint64_t, 2> limits_; /* by domain: forBranches of Packing::pack() */
	std::vector<Memory> memories_;
};

RangeKind kindOf(RegionKind kind)
{
	switch (kind) {
	case RegionKind::Constant:
		return RangeKind::Constant;
	case RegionKind::Input:
		return RangeKind::Input;
	case RegionKind::Output:
		return RangeKind::Output;
	case RegionKind::Intermediate:
	case RegionKind::Part:
		break;
	}
	return RangeKind::Intermediate;
}

} /* namespace */

void placeOnChip(Plan &plan, const AssembleOptions &options)
{
	if (options.sramBytes == 0)
		return;
	Packing packing(plan, options.reuseMemory);
	const std::vector<Lifetime> times = lifetimes(plan);
	std::vector<size_t> there;

	for (size_t i = 0; i < plan.regions.size(); i++) {
		const Region &region = plan.regions[i];
		if (region.domain == MemoryDomain::Sram && region.whole == none)
			there.push_back(i);
	}
	for (const size_t region : movable(plan, times)) {
		/* Keep the regions sorted: the final packing gets them in this order, too. */
		const auto place = there.insert(std::ranges::lower_bound(there, region), region);
		if (packing.pack(there) <= options.sramBytes)
			plan.regions[region].domain = MemoryDomain::Sram;
		else
			there.erase(place);
	}
	for (Region &region : plan.regions) {
		if (region.whole != none)
			region.domain = plan.regions[static_cast<size_t>(region.whole)].domain;
	}
	for (Node &node : plan.nodes) {
		if (node.cpu)
			continue;
		forEachCube(node.type, node.surface, [&](nvdla_data_cube &cube) {
			if (cube.type != NVDLA_MEM_HW && cube.address > 0 &&
			    plan.regions[regionOf(cube.address)].domain == MemoryDomain::Sram)
				cube.type = NVDLA_MEM_CV;
		});
	}
}

std::vector<Memory> placeRegions(Plan &plan, const AssembleOptions &options, bool apart)
{
	return Placement(plan, options, apart).place();
}

std::vector<AssembledRange> rangesOf(const Plan &plan)
{
	const std::vector<Lifetime> times = lifetimes(plan);
	std::vector<AssembledRange> ranges;

	for (size_t i = 0; i < plan.regions.size(); i++) {
		const Region &region = plan.regions[i];
		if (region.kind == RegionKind::Part || times[i].first == SIZE_MAX)
			continue;
		ranges.push_back({ region.name, kindOf(region.kind), region.domain, region.memory,
				   region.offset, region.bytes, times[i].first, times[i].last });
	}
	return ranges;
}

} /* namespace nvdla::assembly */

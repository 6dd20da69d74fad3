/* SPDX-License-Identifier: MIT */
/*
 * Constants that engines read from on-chip memory: BDMA copies them from system memory first
 * (programming guide, "BDMA programming").
 */
#include <algorithm>

#include <fmt/core.h>

#include "plan.h"

namespace nvdla::assembly
{

namespace
{

/* A BDMA line is a multiple of lineUnit bytes, and at most longestLine bytes. */
constexpr uint64_t lineUnit = 32;
constexpr uint64_t longestLine = 262144;
/* Length in bytes of the lines into which a constant longer than longestLine is divided. */
constexpr uint64_t usualLine = 4096;

/* Adds an on-chip region for a copy of a constant; rounds the size of both up to whole lines. */
int addCopy(Plan &plan, int constant)
{
	Region &from = plan.regions[static_cast<size_t>(constant)];
	Region copy;

	from.bytes = alignUp(from.bytes, from.bytes > longestLine ? usualLine : lineUnit);
	from.data.resize(from.bytes);
	copy.name = from.name + " on the chip";
	copy.domain = MemoryDomain::Sram;
	copy.bytes = from.bytes;
	plan.regions.push_back(std::move(copy));
	return static_cast<int>(plan.regions.size()) - 1;
}

Node copying(const Plan &plan, int constant, int copy)
{
	const Region &from = plan.regions[static_cast<size_t>(constant)];
	Node node;

	node.name = from.name;
	node.kind = "copy of a constant";
	node.type = NVDLA_OP_BDMA;
	node.operation.bdma.num_transfers = 1;
	nvdla_bdma_surface_desc &surface = node.surface.bdma;
	surface.src_type = NVDLA_MEM_MC;
	surface.dst_type = NVDLA_MEM_CV;
	surface.num_transfers = 1;
	nvdla_bdma_transfer &transfer = surface.transfers[0];
	transfer.src_address = addressOf(constant);
	transfer.dst_address = addressOf(copy);
	transfer.line_size = static_cast<__u32>(from.bytes > longestLine ? usualLine : from.bytes);
	transfer.line_repeat = static_cast<__u32>(from.bytes / transfer.line_size);
	transfer.src_line = transfer.dst_line = transfer.line_size;
	transfer.surf_repeat = 1;
	transfer.src_surf = transfer.dst_surf = transfer.line_size;
	node.reads = { constant };
	node.writes = { copy };
	node.cubes = { { "transfers[0].src", from.name }, { "transfers[0].dst", from.name } };
	return node;
}

/* Makes an operation read the copy instead of the constant. */
void redirect(Node &node, int constant, int copy)
{
	std::ranges::replace(node.reads, constant, copy);
	auto one = [&](auto &...cubes) {
		for (nvdla_data_cube *cube : { &cubes... }) {
			if (cube->type != NVDLA_MEM_MC || cube->address != addressOf(constant))
				continue;
			cube->type = NVDLA_MEM_CV;
			cube->address = addressOf(copy);
		}
	};
	if (node.type == NVDLA_OP_CONV)
		one(node.surface.conv.weight_data, node.surface.conv.wmb_data,
		    node.surface.conv.wgs_data);
	else
		one(node.surface.sdp.x1_data, node.surface.sdp.x2_data, node.surface.sdp.y_data);
}

/*
 * Returns the first node of the chain of streams that ends with \a node. A copy for \a node is
 * inserted before the chain, because nothing may come between the nodes of a chain.
 */
size_t chainStart(const std::vector<Node> &nodes, size_t node)
{
	while (nodes[node].producer != none)
		node = static_cast<size_t>(nodes[node].producer);
	return node;
}

} /* namespace */

Result<void> stageConstants(Plan &plan)
{
	std::vector<std::vector<Node>> before(plan.nodes.size());
	const size_t regions = plan.regions.size();
	bool any = false;

	for (size_t i = 0; i < regions; i++) {
		const int constant = static_cast<int>(i);
		if (plan.regions[i].kind != RegionKind::Constant || !plan.regions[i].staged)
			continue;
		if (plan.regions.size() >= maxRegions)
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("constants '{}'", plan.regions[i].name),
				    tooManyRegions());
		const int copy = addCopy(plan, constant);
		size_t first = plan.nodes.size();
		for (size_t n = plan.nodes.size(); n-- > 0;) {
			if (std::ranges::count(plan.nodes[n].reads, constant) == 0)
				continue;
			redirect(plan.nodes[n], constant, copy);
			first = chainStart(plan.nodes, n);
		}
		before.at(first).push_back(copying(plan, constant, copy));
		any = true;
	}
	if (!any)
		return {};

	std::vector<Node> nodes;
	std::vector<int> moved; /* new index of each node */
	for (size_t i = 0; i < plan.nodes.size(); i++) {
		std::ranges::move(before[i], std::back_inserter(nodes));
		moved.push_back(static_cast<int>(nodes.size()));
		nodes.push_back(std::move(plan.nodes[i]));
		int &producer = nodes.back().producer;
		if (producer != none)
			producer = moved[static_cast<size_t>(producer)];
	}
	plan.nodes = std::move(nodes);
	return {};
}

} /* namespace nvdla::assembly */

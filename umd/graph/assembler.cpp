/* SPDX-License-Identifier: MIT */
#include "assembler.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <nvdla/fixed_point.h>

#include "descriptors.h"
#include "expansion.h"
#include "strategy/trial.h"

namespace nvdla::assembly
{

namespace
{

tl::unexpected<Error> bad(std::string where, std::string why)
{
	return fail(ErrorCode::InvalidArgument, what, std::move(where), std::move(why));
}

} /* namespace */

Result<void> Assembler::collectNames()
{
	auto twice = [](const char *thing, const std::string &name) {
		return bad(fmt::format("{} '{}'", thing, name), "is there twice");
	};

	symbols_.outputs = graph_.outputs_;
	for (const Surface &surface : graph_.surfaces_) {
		if (!symbols_.declared.emplace(surface.name, surface).second)
			return twice("surface", surface.name);
	}
	for (const GraphWeights &weights : graph_.weights_) {
		if (!symbols_.weights.emplace(weights.name, &weights).second)
			return twice("weights", weights.name);
	}
	for (const GraphOperands &operands : graph_.operands_) {
		if (!symbols_.operands.emplace(operands.name, &operands).second)
			return twice("operands", operands.name);
		if (symbols_.declared.contains(operands.name))
			return bad(fmt::format("operands '{}'", operands.name),
				   "have the name of a surface");
	}
	for (const auto &[name, tables] : graph_.luts_) {
		if (!symbols_.luts.emplace(name, static_cast<int>(plan_.luts.size())).second)
			return twice("look-up table", name);
		plan_.luts.push_back(descriptor(tables));
	}
	std::set<std::string> names;
	for (const op::Any &operation : graph_.operations_) {
		if (!names.insert(operationName(operation)).second)
			return twice("operation", operationName(operation));
	}
	return {};
}

Result<void> Assembler::addInputs()
{
	for (const std::string &name : graph_.inputs_) {
		const Surface &surface = symbols_.declared.at(name);
		if (surface.place == Place::Stream)
			return bad(fmt::format("input '{}'", name),
				   "is a stream; the application writes memory");
		if (surface.place == Place::Sram)
			return bad(fmt::format("input '{}'", name),
				   "is in on-chip memory, which the application cannot reach");
		auto desc = layOut(surface, symbols_.core);
		if (!desc)
			return forward(desc);
		if (plan_.regions.size() == maxRegions)
			return bad(fmt::format("input '{}'", name),
				   fmt::format("is one of more than {}; a loadable has no "
					       "addresses for them",
					       maxRegions));
		SurfaceState &state = symbols_.surfaces[name];
		state.desc = *desc;
		state.planar = surface.planar;
		state.place = surface.place;
		state.region = static_cast<int>(plan_.regions.size());
		Region region;
		region.name = name;
		region.kind = RegionKind::Input;
		region.bytes = desc->size;
		region.window.shape = { desc->c, desc->h, desc->w, desc->n };
		plan_.regions.push_back(std::move(region));
	}
	return {};
}

Result<void> Assembler::checkUses() const
{
	if (plan_.nodes.empty())
		return bad("graph", "has no operations");
	for (const auto &[name, state] : symbols_.surfaces) {
		if (state.place == Place::Stream && state.taker == none)
			return bad(where(plan_.nodes[static_cast<size_t>(state.producer)]),
				   fmt::format("no operation takes its stream '{}'", name));
		if (state.missing)
			return bad(fmt::format("surface '{}'", name),
				   fmt::format("{} of its elements are in no part that is written",
					       state.missing));
	}
	for (const std::string &name : graph_.outputs_) {
		const auto state = symbols_.surfaces.find(name);
		if (state == symbols_.surfaces.end() || state->second.producer == none)
			return bad(fmt::format("output '{}'", name), "is written by no operation");
		if (std::count(graph_.outputs_.begin(), graph_.outputs_.end(), name) > 1)
			return bad(fmt::format("output '{}'", name), "is there twice");
	}
	for (const auto &[name, surface] : symbols_.declared) {
		if (!symbols_.surfaces.contains(name))
			return bad(fmt::format("surface '{}'", name), "is written by no operation");
	}
	return {};
}

Result<std::vector<ExplicitEdge>> Assembler::findEdges() const
{
	std::vector<ExplicitEdge> edges;
	const std::vector<Node> &nodes = plan_.nodes;
	auto first = [&](const std::string &name) {
		return static_cast<size_t>(
			std::find_if(nodes.begin(), nodes.end(),
				     [&](const Node &node) { return node.name == name; }) -
			nodes.begin());
	};
	auto last = [&](const std::string &name) {
		size_t i = nodes.size();
		while (i > 0 && nodes[i - 1].name != name)
			i--;
		return i > 0 ? i - 1 : nodes.size();
	};

	for (const GraphEdge &edge : graph_.edges_) {
		const size_t before = last(edge.before);
		const size_t after = first(edge.after);
		const std::string name =
			fmt::format("edge from '{}' to '{}'", edge.before, edge.after);
		if (before == nodes.size() || after == nodes.size())
			return bad(name, "the graph has no such operation");
		if (before >= after)
			return bad(name, "operations wait for those that were added before them");
		edges.push_back({ before, after, descriptor(edge.event) });
	}
	return edges;
}

std::vector<const SurfaceState *> Assembler::bound(const std::vector<std::string> &names) const
{
	std::vector<const SurfaceState *> states;

	for (const std::string &name : names)
		states.push_back(&symbols_.surfaces.at(name));
	return states;
}

Result<Assembly> Assembler::place(bool apart, const std::vector<ExplicitEdge> &edges)
{
	std::vector<Memory> memories = placeRegions(plan_, options_, apart);
	auto loadable = writeLoadable({ symbols_.core, plan_, std::move(memories),
					bound(graph_.inputs_), bound(graph_.outputs_), edges });
	if (!loadable)
		return forward(loadable);
	return Assembly{ std::move(*loadable), stepsOf(plan_), rangesOf(plan_) };
}

bool Assembler::takeMoreApart()
{
	const auto bytes = [this](bool apart) {
		uint64_t sum = 0;
		for (const Memory &memory : placeRegions(plan_, options_, apart))
			sum += memory.size;
		return sum;
	};

	return bytes(true) > bytes(false);
}

Result<Assembly> Assembler::placeBranches(const std::vector<ExplicitEdge> &edges)
{
	auto chip = chipOf(*options_.strategy);
	if (!chip)
		return forward(chip);
	if (!takeMoreApart())
		return place(false, edges);
	auto apart = place(true, edges);
	auto shared = place(false, edges);
	if (!apart || !shared)
		return shared;
	const auto timeApart = timeOf(apart->loadable, *chip);
	const auto timeShared = timeOf(shared->loadable, *chip);
	const bool gains = timeApart && timeShared && timeApart->cycles < timeShared->cycles;
	return std::move(gains ? apart : shared);
}

/* The loadable's first blobs are those of the constants, in the order of the constants' regions. */
Result<Assembly> Assembler::withConstants(Assembly assembly)
{
	auto blob = assembly.loadable.blobs.begin();

	for (Region &region : plan_.regions) {
		if (region.kind == RegionKind::Constant)
			(blob++)->data = std::move(region.data);
	}
	if (auto checked = assembly.loadable.check(); !checked)
		return forward(checked);
	return assembly;
}

Result<Assembly> Assembler::run(const std::map<std::string, uint32_t> &fixedFormats)
{
	if (options_.sramBytes > 0 && !options_.core.hasOnChipMemory)
		return bad("on-chip memory",
			   fmt::format("{} has none that the driver can use", options_.core.name));
	auto done = collectNames()
			    .and_then([&] { return addInputs(); })
			    .and_then([&] {
				    return Expansion(graph_.operations_, plan_, symbols_).run();
			    })
			    .and_then([&] { return checkUses(); })
			    .and_then([&] { return stageConstants(plan_); })
			    .and_then([&] { return divideIntoTasks(plan_, options_); });
	if (!done)
		return forward(done);
	for (const auto &[name, bits] : fixedFormats)
		symbols_.surfaces.at(name).desc.quantization =
			FixedFormat{ DataType::Int16, bits }.quantization();
	auto edges = findEdges();
	if (!edges)
		return forward(edges);
	linkConvolutions(plan_);
	placeOnChip(plan_, options_);
	const Choice branches = options_.strategy ? options_.strategy->branches : Choice::Never;
	auto placed = branches == Choice::Auto ? placeBranches(*edges)
					       : place(branches == Choice::Always, *edges);
	return std::move(placed).and_then(
		[this](Assembly &&made) { return withConstants(std::move(made)); });
}

Result<std::map<std::string, Surface>> Assembler::shapes()
{
	symbols_.shapesOnly = true;
	auto done = collectNames().and_then([&] { return addInputs(); }).and_then([&] {
		return Expansion(graph_.operations_, plan_, symbols_).run();
	});
	std::map<std::string, Surface> shapes;

	if (!done)
		return forward(done);
	for (const auto &[name, state] : symbols_.surfaces)
		shapes[name] = { .name = name,
				 .type = state.desc.type,
				 .c = state.desc.c,
				 .h = state.desc.h,
				 .w = state.desc.w,
				 .n = state.desc.n,
				 .format = state.desc.format,
				 .planar = state.planar };
	return shapes;
}

} /* namespace nvdla::assembly */

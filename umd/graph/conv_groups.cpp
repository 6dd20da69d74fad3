/* SPDX-License-Identifier: MIT */
#include "conv_groups.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "conv_layer.h"
#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

std::string nameOf(const GroupTile &tile)
{
	return fmt::format("groups {} to {}", tile.firstGroup, tile.firstGroup + tile.groups - 1);
}

/* Makes weights of a tile, with zeros where kernels of one group meet channels of another. Returns
 * their name. */
std::string weightsOf(Symbols &symbols, const GraphWeights &whole, const GroupTile &tile)
{
	const size_t kernel =
		size_t{ whole.c } * whole.r * whole.s * elementBytes(whole.elements.type);
	const std::string name = fmt::format("{} [{}]", whole.name, nameOf(tile));

	/* The cubes of a batch share the weights. */
	if (symbols.weights.contains(name))
		return name;
	GraphWeights some = weightsLike(whole, name, tile.k, tile.c);
	some.elements.bytes.resize(tile.k * tile.groups * kernel);
	for (uint32_t k = 0; k < tile.k; k++) {
		const uint32_t group = k / (tile.k / tile.groups);
		const auto from = whole.elements.bytes.begin() +
				  static_cast<ptrdiff_t>((tile.firstK + k) * kernel);
		std::copy_n(from, kernel,
			    some.elements.bytes.begin() +
				    static_cast<ptrdiff_t>((k * tile.groups + group) * kernel));
	}
	symbols.derivedWeights.push_back(std::move(some));
	symbols.weights[name] = &symbols.derivedWeights.back();
	return name;
}

} /* namespace */

uint32_t groupsTogether(const GraphWeights &weights, uint32_t groups, const CoreGeometry &core)
{
	const uint32_t atom = core.atomChannels(weights.elements.type);
	const uint32_t kernels = weights.k / groups;
	const uint32_t forC = std::lcm(weights.c, atom) / weights.c;
	const uint32_t forK = std::lcm(kernels, atom) / kernels;

	return std::min(std::lcm(forC, forK), groups);
}

std::optional<GroupedLayer> groupedLayer(Lowering &lowering, const op::Convolution &conv)
{
	const SurfaceState &in = lowering.input("input", conv.input);
	const auto weights = lowering.symbols().weights.find(conv.weights);
	const uint32_t groups = conv.groups;

	lowering.need(groups > 0, "groups", "are 0; 1 stands for an ordinary convolution");
	lowering.need(weights != lowering.symbols().weights.end(), "weights",
		      fmt::format("the graph has no weights '{}'", conv.weights));
	if (lowering.failed())
		return {};
	const GraphWeights &given = *weights->second;
	checkElements(lowering, given);
	lowering.need(uint64_t{ given.c } * groups == in.desc.c, "weights",
		      fmt::format("'{}' have {} channels in each of {} groups, '{}' has {} in all",
				  conv.weights, given.c, groups, conv.input, in.desc.c));
	lowering.need(groups == 1 || given.packed.empty(), "weights",
		      fmt::format("'{}' are packed as one group", conv.weights));
	lowering.need(given.k % groups == 0, "weights",
		      fmt::format("'{}' have {} kernels, which is no multiple of {} groups",
				  conv.weights, given.k, groups));
	if (lowering.failed())
		return {};
	GroupedLayer layer{ given, {}, in.desc.n };
	const uint32_t together = groupsTogether(given, groups, lowering.geometry());
	const uint32_t k = given.k / groups;
	for (uint32_t first = 0; first < groups; first += together) {
		const uint32_t count = std::min(together, groups - first);
		layer.tiles.push_back(
			{ first, count, first * given.c, count * given.c, first * k, count * k });
	}
	lowering.need(
		layer.tiles.size() == 1 || !(conv.reuseData || conv.reuseWeights),
		conv.reuseData ? "reuseData" : "reuseWeights",
		fmt::format("{} groups are made in {} hardware layers, of which none has what "
			    "another one leaves",
			    groups, layer.tiles.size()));
	return layer;
}

op::Convolution convolutionOf(Symbols &symbols, const op::Convolution &conv,
			      const GroupedLayer &layer, const GroupTile &tile)
{
	op::Convolution one = conv;

	one.groups = 1;
	one.weights = weightsOf(symbols, layer.weights, tile);
	if (layer.tiles.size() == 1)
		return one;
	one.input = describePart(symbols, { .name = conv.input }, channelsFrom(tile.firstC, tile.c),
				 { .c = tile.c, .atChannel = tile.firstC });
	one.output = fmt::format("{} [{}]", conv.output, nameOf(tile));
	return one;
}

/*
 * Lowers a grouped convolution at once if it takes one hardware layer. If it takes several, each
 * needs an SDP operation, so the convolution is kept until addGroups() gets its SDP operation.
 */
Result<void> Expansion::addGrouped(const op::Convolution &conv)
{
	Lowering lowering = begin(conv);
	const auto layer = groupedLayer(lowering, conv);

	if (!layer || lowering.failed())
		return lowering.result();
	if (layer->tiles.size() == 1)
		return add(derived_.emplace_back(
			convolutionOf(symbols_, conv, *layer, layer->tiles.front())));
	return wait(derived_.emplace_back(conv));
}

Result<void> Expansion::addGroups(const op::Convolution &conv, const op::Sdp &sdp)
{
	Lowering lowering = begin(sdp);
	const auto layer = groupedLayer(lowering, conv);
	const auto out = shapeOf(lowering, conv);

	if (!layer || !out)
		return lowering.result();
	const DataType type =
		lowering.outputType(sdp.output, sdp.type, layer->weights.elements.type);
	const Surface whole = lowering.describe(sdp.output, type, *out);
	lowering.need(whole.place != Place::Stream, "output",
		      fmt::format("'{}' is a stream, but '{}' is made in {} hardware layers, which "
				  "PDP cannot take on the fly",
				  whole.name, conv.output, layer->tiles.size()));
	if (lowering.failed())
		return lowering.result();
	if (whole.within.empty())
		symbols_.declared[whole.name] = whole;
	if (whole.n > 1)
		return addCubes(conv, sdp, whole);
	for (const GroupTile &tile : layer->tiles) {
		const std::string name = nameOf(tile), made = channelsFrom(tile.firstK, tile.k);
		const OperandRange range{ { 0, 1, out->h },
					  { 0, 1, out->w },
					  *out,
					  made,
					  OperandRange::Axis{ tile.firstK, 1, tile.k } };
		const op::Convolution one = convolutionOf(symbols_, conv, *layer, tile);
		op::Sdp behind = withOperands(lowering, symbols_, sdp, range);
		behind.input = one.output;
		behind.type = type;
		behind.output = describePart(symbols_, whole, made, { .atChannel = tile.firstK });
		auto added = lowering.result().and_then([&] { return addPair(one, behind, name); });
		if (!added)
			return added;
	}
	lowering.finish(whole);
	return {};
}

} /* namespace nvdla::assembly */

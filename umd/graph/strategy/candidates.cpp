/* SPDX-License-Identifier: MIT */
/* The alternatives for a layer: one function of Chooser for each choice, such as Winograd. */
#include <algorithm>
#include <tuple>

#include <fmt/core.h>
#include <nvdla/weights.h>

#include "chooser.h"
#include "graph/conv_groups.h"
#include "graph/graph_parts.h"
#include "graph/operation_names.h"

namespace nvdla::assembly
{

namespace
{

op::Convolution &convOf(Graph &graph, size_t place)
{
	return std::get<op::Convolution>(GraphParts::operations(graph)[place]);
}

auto weightsOf(auto &graph, const op::Convolution &conv)
{
	auto &all = GraphParts::weights(graph);

	return std::ranges::find(all, conv.weights, &GraphWeights::name);
}

/* Counts elements that are zero in all their bits, which compression leaves out. */
size_t zeros(const Elements &elements)
{
	const size_t bytes = elementBytes(elements.type);
	size_t count = 0;

	for (size_t i = 0; i + bytes <= elements.bytes.size(); i += bytes)
		count += std::all_of(&elements.bytes[i], &elements.bytes[i] + bytes,
				     [](std::byte byte) { return byte == std::byte{ 0 }; });
	return count;
}

/* Returns a pixel format with at least \a channels channels whose elements need no conversion. */
std::optional<PixelFormat> pixelsOf(DataType type, uint32_t channels)
{
	if (channels < 1 || channels > 4)
		return std::nullopt;
	switch (type) {
	case DataType::Int8:
		return channels == 1 ? PixelFormat::R8 : PixelFormat::A8B8G8R8;
	case DataType::Int16:
		return channels == 1 ? PixelFormat::R16I : PixelFormat::A16B16G16R16;
	case DataType::Half:
		return channels == 1 ? PixelFormat::R16F : PixelFormat::A16B16G16R16F;
	default:
		return std::nullopt;
	}
}

/*
 * Returns the number of groups in one hardware layer. Returns 1 for impossible numbers, which
 * assembly of the graph reports.
 */
uint32_t groupsIn(const GraphWeights &weights, const op::Convolution &conv,
		  const CoreGeometry &core)
{
	const bool right = conv.groups > 0 && weights.c > 0 && weights.k >= conv.groups;

	return right ? groupsTogether(weights, conv.groups, core) : 1;
}

} /* namespace */

void Chooser::winograd(const Layer &layer)
{
	const op::Convolution &conv = convOf(chosen_.graph, layer.conv);
	const auto weights = weightsOf(chosen_.graph, conv);

	if (winograd_.choice == Choice::Never || conv.winograd || conv.bands ||
	    weights == GraphParts::weights(chosen_.graph).end() ||
	    weights->elements.type != DataType::Half)
		return;
	/*
	 * Winograd is no candidate for integers, because the core would cut the transformed input
	 * to the bits of the type. So only FP16 gets here.
	 */
	const WeightDesc desc{ DataType::Half, weights->k, weights->c, weights->r, weights->s };
	const WinogradParams params{ conv.stride.x, conv.stride.y };
	if (desc.elements() != weights->elements.count() || !winogradKernel(core_, desc, params))
		return;
	const auto scale =
		winogradScale(core_, desc, params,
			      elementsToFloat(weights->elements.type, weights->elements.bytes));
	if (!scale || *scale != 1)
		return;
	consider(winograd_, layer.members(), { { "Winograd", [&](Graph &graph) {
							convOf(graph, layer.conv).winograd = true;
						} } });
}

/*
 * Weights have one form for all convolutions that use them. If these convolutions are alike, as for
 * the samples of a batch, the best form for one convolution is the best for all.
 */
bool Chooser::areWeightsUsedAlike(const op::Convolution &conv) const
{
	const auto shape = shapes_.find(conv.input);
	const auto isAlike = [&](const op::Convolution &other) {
		const auto read = shapes_.find(other.input);
		const auto how = [](const op::Convolution &one) {
			return std::tuple(one.stride.x, one.stride.y, one.dilation.x,
					  one.dilation.y, one.padding.left, one.padding.right,
					  one.padding.top, one.padding.bottom, one.groups,
					  one.winograd, one.bands, one.postExtension);
		};
		const auto extents = [](const Surface &surface) {
			return std::tuple(surface.n, surface.c, surface.h, surface.w, surface.type);
		};
		return how(other) == how(conv) && shape != shapes_.end() && read != shapes_.end() &&
		       extents(read->second) == extents(shape->second);
	};

	return std::ranges::all_of(chosen_.graph.operations(), [&](const op::Any &any) {
		const auto *other = std::get_if<op::Convolution>(&any);
		const auto *deconvolution = std::get_if<op::Deconvolution>(&any);
		if (deconvolution)
			return deconvolution->weights != conv.weights;
		return !other || other->weights != conv.weights || isAlike(*other);
	});
}

void Chooser::compression(const Layer &layer)
{
	const op::Convolution &conv = convOf(chosen_.graph, layer.conv);
	const auto weights = weightsOf(chosen_.graph, conv);

	if (compression_.choice == Choice::Never ||
	    weights == GraphParts::weights(chosen_.graph).end() || weights->compressed ||
	    !weights->packed.empty() || !areWeightsUsedAlike(conv))
		return;
	/*
	 * Compression adds a mask with a bit for each stored element. Uncompressed, a layer of
	 * several groups also stores zeros where kernels of one group meet channels of another.
	 */
	const size_t count = weights->elements.count();
	const size_t stored = count * groupsIn(*weights, conv, core_);
	const size_t saved =
		(stored - count + zeros(weights->elements)) * elementBytes(weights->elements.type);
	if (compression_.choice == Choice::Auto && saved <= stored / 8)
		return;
	consider(compression_, layer.members(),
		 { { "compressed weights", [&](Graph &graph) {
			    weightsOf(graph, convOf(graph, layer.conv))->compressed = true;
		    } } });
}

std::optional<std::set<std::string>> Chooser::withParts(const Surface &whole) const
{
	const std::vector<Surface> &surfaces = GraphParts::surfaces(chosen_.graph);
	std::set<std::string> names{ whole.name };

	for (size_t before = 0; before < names.size();) {
		before = names.size();
		for (const Surface &part : surfaces) {
			if (!names.contains(part.within))
				continue;
			if (part.turned || part.atChannel || (part.c && part.c != whole.c))
				return std::nullopt;
			names.insert(part.name);
		}
	}
	return names;
}

std::optional<std::vector<size_t>> Chooser::layersReading(const std::set<std::string> &names) const
{
	const std::vector<op::Any> &operations = chosen_.graph.operations();
	std::vector<size_t> members;

	for (size_t i = 0; i < operations.size(); i++) {
		const auto isOne = [&](const std::string &read) { return names.contains(read); };
		if (std::ranges::none_of(namesOf(operations[i]).reads, isOne))
			continue;
		const auto *conv = std::get_if<op::Convolution>(&operations[i]);
		const auto layer = conv ? layerOf(i) : std::nullopt;
		if (!layer)
			return std::nullopt;
		const std::vector<size_t> more = layer->members();
		members.insert(members.end(), more.begin(), more.end());
	}
	std::ranges::sort(members);
	return members;
}

/*
 * Tries pixel formats of an input. This happens at the first layer that reads the input or a part
 * of it, such as a sample of a batch.
 */
void Chooser::pixels(const Layer &layer)
{
	auto &surfaces = GraphParts::surfaces(chosen_.graph);
	const auto described = [&](const std::string &name) {
		return std::ranges::find(surfaces, name, &Surface::name);
	};
	auto input = described(convOf(chosen_.graph, layer.conv).input);

	while (input != surfaces.end() && !input->within.empty())
		input = described(input->within);
	if (pixels_.choice == Choice::Never || input == surfaces.end() || !input->mayBePixels ||
	    std::ranges::count(GraphParts::inputs(chosen_.graph), input->name) == 0 ||
	    !isFeature(input->format) || input->planar || input->lineStride)
		return;
	const auto format = pixelsOf(input->type, input->c);
	const auto names = format ? withParts(*input) : std::nullopt;
	const auto members = names ? layersReading(*names) : std::nullopt;
	if (!members || members->front() != layer.conv)
		return;
	const auto place = static_cast<size_t>(input - surfaces.begin());
	consider(pixels_, *members, { { "input as pixels", [&](Graph &graph) {
					       GraphParts::surfaces(graph)[place].format = *format;
				       } } });
	for (const std::string &name : *names) {
		if (const auto shape = shapes_.find(name); shape != shapes_.end())
			shape->second.format = input->format;
	}
}

void Chooser::postExtension(const Layer &layer)
{
	const op::Convolution &conv = convOf(chosen_.graph, layer.conv);
	const auto shape = shapes_.find(conv.input);

	if (conv.postExtension != 1 || shape == shapes_.end() || isFeature(shape->second.format))
		return;
	std::vector<Candidate> candidates;
	for (const uint32_t lines : { 2U, 4U })
		candidates.push_back({ fmt::format("post-extension by {} lines", lines),
				       [&layer, lines](Graph &graph) {
					       convOf(graph, layer.conv).postExtension = lines;
				       } });
	consider(postExtension_, layer.members(), candidates);
}

void Chooser::bands(const Layer &layer)
{
	const op::Convolution &conv = convOf(chosen_.graph, layer.conv);
	const auto weights = weightsOf(chosen_.graph, conv);

	if (bands_.choice == Choice::Never || conv.bands || (!best_ && !begin(layer.members())) ||
	    weights == GraphParts::weights(chosen_.graph).end())
		return;
	const uint32_t tiles = divideUp(conv.groups, groupsIn(*weights, conv, core_));
	const uint32_t usual = static_cast<uint32_t>(best_->convolutions) / tiles;
	const auto made =
		shapes_.find(std::get<op::Sdp>(chosen_.graph.operations()[layer.sdp]).output);
	/* If one line takes several operations, the operations divide kernels and are no bands. */
	if (usual < 2 || (made != shapes_.end() && made->second.h == 1))
		return;
	std::vector<Candidate> candidates;
	for (const uint32_t count : { usual - 1, usual + 1, 2 * usual })
		candidates.push_back(
			{ fmt::format("{} bands", count), [&layer, count](Graph &graph) {
				 convOf(graph, layer.conv).bands = count;
			 } });
	consider(bands_, layer.members(), candidates);
}

void Chooser::fusedPooling(const Layer &layer)
{
	if (!layer.pooling || fusedPooling_.choice == Choice::Never)
		return;
	const auto &pooling = std::get<op::Pooling>(chosen_.graph.operations()[*layer.pooling]);
	const std::string name = pooling.input;
	const auto &surfaces = GraphParts::surfaces(chosen_.graph);
	const auto declared = std::ranges::find(surfaces, name, &Surface::name);

	if (pooling.parts ||
	    (declared != surfaces.end() &&
	     ((declared->place != Place::Memory && declared->place != Place::Auto) ||
	      !declared->within.empty() || declared->lineStride || declared->surfaceStride)))
		return;
	/*
	 * consider() changes and restores the surface's description, so the surface needs one. A
	 * description that consists of the name has no other effect.
	 */
	if (declared == surfaces.end())
		GraphParts::surfaces(chosen_.graph).push_back({ .name = name });
	auto stream = [&](Graph &graph) {
		std::ranges::find(GraphParts::surfaces(graph), name, &Surface::name)->place =
			Place::Stream;
	};
	/* Assembly puts the stream into memory after all if it needs several hardware layers. */
	auto flies = [](const TrialResult &result) { return result.fusedPoolings > 0; };
	consider(fusedPooling_, layer.members(), { { "pooling on the fly", stream, flies } });
}

bool Chooser::movesChannels(size_t first, size_t last) const
{
	const std::vector<Surface> &surfaces = GraphParts::surfaces(chosen_.graph);
	/* Name of the whole that a surface is a part of; a whole returns its own name. */
	const auto wholeOf = [&](const std::string &name) {
		const auto declared = std::ranges::find(surfaces, name, &Surface::name);
		return declared == surfaces.end() || declared->within.empty() ? name
									      : declared->within;
	};
	const auto isWithinAtom = [&](const Surface &part) {
		const auto shape = shapes_.find(part.name);
		const DataType type = shape == shapes_.end() ? DataType::Int8 : shape->second.type;
		return part.atChannel % core_.atomChannels(type) != 0;
	};
	const auto moves = [&](const std::string &name) {
		const std::string whole = wholeOf(name);
		return std::ranges::any_of(surfaces, [&](const Surface &part) {
			return part.within == whole && isWithinAtom(part);
		});
	};

	/* A whole is complete when all of its parts are written. */
	const std::vector<op::Any> &operations = chosen_.graph.operations();
	const auto isWrittenLater = [&](const std::string &name) {
		const std::string whole = wholeOf(name);
		return std::any_of(operations.begin() + static_cast<ptrdiff_t>(last),
				   operations.end(), [&](const op::Any &any) {
					   return std::ranges::count(namesOf(any).writes, whole,
								     wholeOf) > 0;
				   });
	};
	for (size_t i = first; i <= last; i++) {
		const OperationNames names = namesOf(operations[i]);
		if (std::ranges::any_of(names.reads, moves) ||
		    std::ranges::any_of(names.writes, [&](const std::string &name) {
			    return moves(name) && !isWrittenLater(name);
		    }))
			return true;
	}
	return false;
}

void Chooser::reuse(const Layer &layer)
{
	const op::Convolution &conv = convOf(chosen_.graph, layer.conv);
	const auto &operations = chosen_.graph.operations();
	size_t before = layer.conv;

	if (reuse_.choice == Choice::Never || conv.bands)
		return;
	do {
		if (before == 0)
			return;
		before--;
		if (std::holds_alternative<op::Deconvolution>(operations[before]))
			return;
	} while (!std::holds_alternative<op::Convolution>(operations[before]));
	const op::Convolution &other = convOf(chosen_.graph, before);
	const bool sameData = other.input == conv.input && other.winograd == conv.winograd;
	const bool sameWeights = other.weights == conv.weights;
	const auto earlier = layerOf(before);
	std::vector<Candidate> candidates;
	if (sameData)
		candidates.push_back({ "input of the convolution before it", [&](Graph &graph) {
					      convOf(graph, layer.conv).reuseData = true;
				      } });
	if (sameWeights)
		candidates.push_back({ "weights of the convolution before it", [&](Graph &graph) {
					      convOf(graph, layer.conv).reuseWeights = true;
				      } });
	/* Convolutions that assembly adds between the two layers would overwrite the buffer. */
	if (candidates.empty() || !earlier || movesChannels(before, layer.conv))
		return;
	std::vector<size_t> members = chainOf(*earlier);
	for (const size_t member : layer.members())
		members.push_back(member);
	std::ranges::sort(members);
	consider(reuse_, members, candidates);
}

} /* namespace nvdla::assembly */

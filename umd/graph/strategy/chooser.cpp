/* SPDX-License-Identifier: MIT */
#include "chooser.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "graph/assembler.h"
#include "graph/graph_parts.h"
#include "graph/operation_names.h"

namespace nvdla::assembly
{

namespace
{

constexpr size_t several = SIZE_MAX;

/*
 * Returns, by name of a surface or constant, the index of the only operation that reads it; for
 * an output, a surface with parts, or more than one reader: `several`.
 */
std::unordered_map<std::string, size_t> readersOf(const Graph &graph)
{
	const std::vector<op::Any> &operations = graph.operations();
	std::unordered_map<std::string, size_t> readers;

	for (const std::string &name : GraphParts::outputs(graph))
		readers[name] = several;
	for (const Surface &surface : GraphParts::surfaces(graph))
		readers[surface.within] = several;
	for (size_t i = 0; i < operations.size(); i++) {
		for (const std::string &name : namesOf(operations[i]).reads) {
			const auto [reader, isFirst] = readers.try_emplace(name, i);
			if (!isFirst && reader->second != i)
				reader->second = several;
		}
	}
	return readers;
}

} /* namespace */

Chooser::Snapshot::Snapshot(const Graph &graph, const std::vector<size_t> &members)
{
	for (const size_t member : members)
		operations.emplace_back(member, graph.operations()[member]);
	for (const Surface &surface : GraphParts::surfaces(graph))
		surfaces.emplace_back(surface.place, surface.format);
	for (const GraphWeights &weights : GraphParts::weights(graph))
		compressed.push_back(weights.compressed);
}

void Chooser::Snapshot::restore(Graph &graph) const
{
	std::vector<Surface> &all = GraphParts::surfaces(graph);

	for (const auto &[member, operation] : operations)
		GraphParts::operations(graph)[member] = operation;
	for (size_t i = 0; i < surfaces.size(); i++)
		std::tie(all[i].place, all[i].format) = surfaces[i];
	for (size_t i = 0; i < compressed.size(); i++)
		GraphParts::weights(graph)[i].compressed = compressed[i];
}

std::optional<size_t> Chooser::onlyReader(const std::string &name) const
{
	const auto reader = readers_.find(name);

	return reader == readers_.end() || reader->second == several
		       ? std::nullopt
		       : std::optional(reader->second);
}

std::vector<size_t> Chooser::Layer::members() const
{
	std::vector<size_t> all{ conv, sdp };

	if (pooling)
		all.push_back(*pooling);
	return all;
}

bool Chooser::sharesBuffer(size_t conv) const
{
	const std::vector<op::Any> &operations = chosen_.graph.operations();
	const auto next = std::find_if(
		operations.begin() + static_cast<ptrdiff_t>(conv) + 1, operations.end(),
		[](const op::Any &any) { return std::holds_alternative<op::Convolution>(any); });
	auto reuses = [](const op::Any &any) {
		const auto &one = std::get<op::Convolution>(any);
		return one.reuseData || one.reuseWeights;
	};

	return reuses(operations[conv]) || (next != operations.end() && reuses(*next));
}

std::optional<Chooser::Layer> Chooser::layerOf(size_t conv) const
{
	const std::vector<op::Any> &operations = chosen_.graph.operations();
	const auto sdp = onlyReader(std::get<op::Convolution>(operations[conv]).output);

	if (!sdp || *sdp < conv || !std::holds_alternative<op::Sdp>(operations[*sdp]))
		return std::nullopt;
	Layer layer{ conv, *sdp, {} };
	const auto pooling = onlyReader(std::get<op::Sdp>(operations[*sdp]).output);
	/*
	 * A pooling that is not next to its SDP operation would be moved. Edges that the user has
	 * added forbid that, because they refer to operations by position.
	 */
	if (pooling && std::holds_alternative<op::Pooling>(operations[*pooling]) &&
	    (*pooling == *sdp + 1 || GraphParts::edges(chosen_.graph).empty()))
		layer.pooling = pooling;
	return layer;
}

std::vector<size_t> Chooser::chainOf(const Layer &layer) const
{
	const std::vector<op::Any> &operations = chosen_.graph.operations();
	std::vector<size_t> members = layer.members();
	size_t first = layer.conv;

	for (size_t i = layer.conv + 1; i-- > 0;) {
		const auto *conv = std::get_if<op::Convolution>(&operations[i]);
		if (!conv)
			continue;
		if (i != first) {
			const auto before = layerOf(i);
			if (!before)
				break;
			const std::vector<size_t> more = before->members();
			members.insert(members.end(), more.begin(), more.end());
			first = i;
		}
		if (!conv->reuseData && !conv->reuseWeights && i != layer.conv)
			break;
	}
	std::ranges::sort(members);
	return members;
}

bool Chooser::begin(const std::vector<size_t> &members)
{
	best_ = tryOperations(chosen_.graph, shapes_, members, core_, parameters_);
	if (!best_)
		return false;
	if (report_.candidates.empty())
		report_.candidates.push_back({ "as it is", best_->cycles });
	return true;
}

void Chooser::consider(Subject &subject, const std::vector<size_t> &members,
		       const std::vector<Candidate> &candidates)
{
	Graph &graph = chosen_.graph;
	std::optional<Snapshot> fastest;
	std::optional<TrialResult> least;

	if (subject.choice == Choice::Never || (!best_ && !begin(members)))
		return;
	const Snapshot before(graph, members);
	/* Choose reuse even if it gains no time, because it saves memory traffic: it may be up to
	 * half a cycle slower. */
	const double most = best_->cycles + (&subject == &reuse_ ? 0.5 : 0);
	const std::string soFar =
		report_.chosen ? report_.candidates[report_.chosen].what + ", " : "";
	for (const Candidate &candidate : candidates) {
		candidate.apply(graph);
		const auto result = tryOperations(graph, shapes_, members, core_, parameters_);
		if (result && (!candidate.became || candidate.became(*result))) {
			report_.candidates.push_back({ soFar + candidate.what, result->cycles });
			const bool taken =
				least ? result->cycles < least->cycles
				      : subject.choice == Choice::Always || result->cycles < most;
			if (taken) {
				report_.chosen = report_.candidates.size() - 1;
				fastest.emplace(graph, members);
				least = result;
			}
		}
		before.restore(graph);
	}
	if (!fastest)
		return;
	fastest->restore(graph);
	best_ = least;
	subject.taken = true;
}

void Chooser::chooseFor(const Layer &layer)
{
	report_ = { operationName(chosen_.graph.operations()[layer.conv]), {}, 0 };
	pixels(layer);
	keepReport();
	/* Fuse poolings first: this changes the convolution's share of the layer's time. */
	fusedPooling(layer);
	winograd(layer);
	compression(layer);
	postExtension(layer);
	bands(layer);
	keepReport();
	/* Choose reuse last: it depends on the choices for this layer and the one before. */
	reuse(layer);
	keepReport();
}

void Chooser::keepReport()
{
	if (report_.candidates.size() > 1)
		chosen_.layers.push_back(report_);
	report_.candidates.clear();
	report_.chosen = 0;
	best_.reset();
}

void Chooser::movePoolings()
{
	std::vector<op::Any> &operations = GraphParts::operations(chosen_.graph);

	for (size_t i = 0; i < operations.size(); i++) {
		const auto *sdp = std::get_if<op::Sdp>(&operations[i]);
		if (!sdp)
			continue;
		const auto surface = std::ranges::find(GraphParts::surfaces(chosen_.graph),
						       sdp->output, &Surface::name);
		if (surface == GraphParts::surfaces(chosen_.graph).end() ||
		    surface->place != Place::Stream)
			continue;
		readers_ = readersOf(chosen_.graph);
		const auto reader = onlyReader(sdp->output);
		if (!reader || *reader <= i + 1)
			continue;
		std::rotate(operations.begin() + static_cast<ptrdiff_t>(i) + 1,
			    operations.begin() + static_cast<ptrdiff_t>(*reader),
			    operations.begin() + static_cast<ptrdiff_t>(*reader) + 1);
	}
}

Result<ChosenGraph> Chooser::run()
{
	auto chip = chipOf(strategy_);
	if (!chip)
		return forward(chip);
	parameters_ = *chip;
	auto shapes = Assembler(chosen_.graph, { .core = core_ }).shapes();
	if (!shapes)
		return forward(shapes);
	shapes_ = std::move(*shapes);
	readers_ = readersOf(chosen_.graph);
	for (size_t i = 0; i < chosen_.graph.operations().size(); i++) {
		if (!std::holds_alternative<op::Convolution>(chosen_.graph.operations()[i]) ||
		    sharesBuffer(i))
			continue;
		if (const auto layer = layerOf(i))
			chooseFor(*layer);
	}
	movePoolings();
	for (const Subject *subject : { &winograd_, &compression_, &pixels_, &postExtension_,
					&bands_, &fusedPooling_, &reuse_ }) {
		if (subject->choice == Choice::Always && !subject->taken)
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("strategy, {}", subject->name),
				    fmt::format("is to be chosen, but no layer of the graph can be "
						"made so: {}",
						subject->remedy));
	}
	return std::move(chosen_);
}

} /* namespace nvdla::assembly */

namespace nvdla
{

Result<ChosenGraph> chooseStrategy(const Graph &graph, const Strategy &strategy,
				   const CoreGeometry &core)
{
	return assembly::Chooser(graph, strategy, core).run();
}

} /* namespace nvdla */

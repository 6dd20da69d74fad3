/* SPDX-License-Identifier: MIT */
#include "planner.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "cpu_interpreter.h"
#include "model_writer.h"

namespace nvdla::delegate
{

namespace
{

/* Largest number of partitions on the device. Each partition costs a transfer to the device and
 * back. */
constexpr size_t mostPartitions = 16;

/* Makes the contents of a TfLiteIntArray: the number of entries, then the entries. */
std::vector<int> listOf(const std::vector<int> &numbers)
{
	std::vector<int> list{ static_cast<int>(numbers.size()) };

	list.insert(list.end(), numbers.begin(), numbers.end());
	return list;
}

std::vector<int> listed(std::span<const int> indices)
{
	return { indices.begin(), indices.end() };
}

class Planner
{
public:
	Planner(TfLiteContext *context, GraphView graph, std::shared_ptr<plugin::Session> session)
		: context_(context), graph_(std::move(graph)), session_(std::move(session))
	{
	}

	Result<Plan> run();

private:
	struct Candidate {
		std::vector<int> nodes;
		std::vector<int> outputs;
	};

	bool isReal(int tensor) const;
	bool makesConstants(int node) const;
	Result<void> judge(int node) const;
	Result<std::map<int, std::string>> ask(const std::vector<int> &nodes) const;
	std::map<int, std::string> askAll(const std::vector<int> &nodes) const;
	std::vector<int> possibleNodes();
	Result<std::vector<Candidate>> candidates(const std::vector<int> &nodes) const;
	void refuse(const Candidate &candidate, const std::vector<LayerReport> &layers);
	Result<PlacedPartition> place(const Candidate &candidate);
	std::set<int> own(const Part &part) const;
	std::vector<int> placeAll(const std::vector<Candidate> &candidates);
	bool refusedAny(const Candidate &candidate) const;
	std::string describe(const Candidate &candidate) const;
	void logLeft(const std::string &what, const std::string &reason) const;

	TfLiteContext *context_;
	GraphView graph_;
	std::shared_ptr<plugin::Session> session_;
	Plan plan_;
	/* Nodes that the compiler put on the CPU when it compiled a partition, although
	 * possibleNodes() had returned them. */
	std::set<int> refused_;
	/* Number of nodes that only compute constants. Each partition contains copies of those that
	 * it needs, so the log counts them neither as computed by the device nor as left to
	 * TensorFlow Lite. */
	size_t constantMakers_ = 0;
};

bool Planner::isReal(int tensor) const
{
	const TfLiteType type = graph_.tensor(tensor).type;

	return type == kTfLiteFloat32 || type == kTfLiteFloat16;
}

bool Planner::makesConstants(int node) const
{
	const auto outputs = indices(graph_.node(node).outputs);

	return !outputs.empty() && graph_.isConstant(outputs.front());
}

/* Checks a node without the compiler, which askAll() asks later. Fails with the reason if the
 * node's tensors or the options rule out the device, or if the node cannot be written to a file. */
Result<void> Planner::judge(int node) const
{
	const auto refuse = [&](const char *why) {
		return fail(ErrorCode::Unsupported, "", "", why);
	};
	const auto inputs = indices(graph_.node(node).inputs);
	const auto outputs = indices(graph_.node(node).outputs);
	bool computesReal = std::any_of(outputs.begin(), outputs.end(),
					[this](int tensor) { return isReal(tensor); });
	bool hasSmallConstant = false;

	for (const int tensor : inputs) {
		if (tensor < 0)
			continue;
		const TfLiteType type = graph_.tensor(tensor).type;
		const bool constant = graph_.isConstant(tensor);
		if (!constant && (type == kTfLiteInt32 || type == kTfLiteInt64))
			return refuse("reads shapes or indices that are computed");
		computesReal |= !constant && isReal(tensor);
		hasSmallConstant |=
			graph_.isStored(tensor) && (type == kTfLiteInt8 || type == kTfLiteUInt8);
	}
	if (computesReal && session_->options().precision == plugin::Precision::Integer)
		return refuse("works on real numbers, precision=integer leaves them");
	if (computesReal && hasSmallConstant)
		return refuse("has integers as weights and real numbers as activations, which "
			      "TensorFlow Lite quantizes on the way");
	auto model = writeModel(graph_, graph_.part(std::span(&node, 1), listed(outputs)));
	if (!model)
		return forward(model);
	return {};
}

/* Writes the nodes to one model file, and asks the compiler which of them it refuses or would put
 * on the CPU.
 * \return the reason for each of these nodes; an error if a node cannot be written to the file */
Result<std::map<int, std::string>> Planner::ask(const std::vector<int> &nodes) const
{
	std::vector<int> outputs;
	for (const int node : nodes) {
		const auto made = indices(graph_.node(node).outputs);
		outputs.insert(outputs.end(), made.begin(), made.end());
	}
	const Part all = graph_.part(nodes, outputs);
	auto model = writeModel(graph_, all);
	if (!model)
		return forward(model);
	auto supported = supportedOperators(*model, session_->core());
	if (!supported)
		return forward(supported);
	std::map<int, std::string> reasons;
	for (const OperatorSupport &one : *supported) {
		if (!one.reason.empty())
			reasons.emplace(all.nodes.at(one.index), one.reason);
		else if (!one.cpu.empty())
			reasons.emplace(all.nodes.at(one.index),
					"would run on the CPU: " + one.cpu);
	}
	return reasons;
}

/*
 * Returns the reason for each node that the compiler refuses. Asks about all nodes together; if
 * that fails, about each node separately, so that a node that cannot be written to a file does not
 * affect other nodes.
 */
std::map<int, std::string> Planner::askAll(const std::vector<int> &nodes) const
{
	std::map<int, std::string> reasons;

	if (nodes.empty())
		return reasons;
	if (auto answers = ask(nodes))
		return std::move(*answers);
	for (const int node : nodes) {
		auto answer = ask({ node });
		if (answer)
			reasons.merge(*answer);
		else
			reasons.emplace(node, answer.error().message());
	}
	return reasons;
}

/*
 * Returns the nodes that the device can compute, in the order of the graph. Nodes that only compute
 * constants are left out.
 */
std::vector<int> Planner::possibleNodes()
{
	std::map<int, std::string> reasons;
	std::vector<int> asked, possible;

	for (const int node : graph_.plan()) {
		if (makesConstants(node)) {
			constantMakers_++;
			continue;
		}
		if (auto judged = judge(node); !judged)
			reasons.emplace(node, judged.error().message());
		else
			asked.push_back(node);
	}
	reasons.merge(askAll(asked));
	for (const auto &[node, reason] : reasons)
		logLeft(graph_.describe(node), reason);
	std::copy_if(asked.begin(), asked.end(), std::back_inserter(possible),
		     [&](int node) { return !reasons.contains(node); });
	return possible;
}

Result<std::vector<Planner::Candidate>> Planner::candidates(const std::vector<int> &nodes) const
{
	std::vector<int> list = listOf(nodes);
	TfLiteDelegateParams *partitions = nullptr;
	int count = 0;
	std::vector<Candidate> candidates;

	/* TensorFlow Lite owns the array of partitions and frees it. */
	if (context_->PreviewDelegatePartitioning(context_,
						  reinterpret_cast<TfLiteIntArray *>(list.data()),
						  &partitions, &count) != kTfLiteOk)
		return fail(ErrorCode::Unsupported, "choose partitions", "",
			    "TensorFlow Lite does not say which nodes can be together");
	for (int i = 0; i < count; i++) {
		candidates.push_back({ listed(indices(partitions[i].nodes_to_replace)),
				       listed(indices(partitions[i].output_tensors)) });
	}
	std::stable_sort(candidates.begin(), candidates.end(),
			 [](const Candidate &a, const Candidate &b) {
				 return a.nodes.size() > b.nodes.size();
			 });
	return candidates;
}

/* Leaves those nodes of the candidate that are in \a layers to TensorFlow Lite. */
void Planner::refuse(const Candidate &candidate, const std::vector<LayerReport> &layers)
{
	for (const int node : candidate.nodes) {
		const std::string name = graph_.layerName(node);
		for (const LayerReport &layer : layers) {
			if (layer.name == name && refused_.insert(node).second)
				logLeft(graph_.describe(node),
					"would run on the CPU: " + layer.cpu);
		}
	}
}

Result<PlacedPartition> Planner::place(const Candidate &candidate)
{
	const Part part = graph_.part(candidate.nodes, candidate.outputs);
	auto model = writeModel(graph_, part);
	if (!model)
		return forward(model);
	auto compiled = plugin::compilePartition(*session_, *model);
	if (!compiled)
		return forward(compiled);
	if (auto layers = plugin::layersOnCpu(compiled->report); !layers.empty()) {
		refuse(candidate, layers);
		return fail(ErrorCode::Unsupported, "compile partition", "",
			    "some of its nodes would run on the CPU");
	}
	auto cpu = std::make_unique<CpuInterpreter>(std::move(*model),
						    context_->recommended_num_threads);
	auto loaded =
		plugin::Partition::load(session_, *compiled, describe(candidate), std::move(cpu));
	if (!loaded)
		return forward(loaded);
	return PlacedPartition{ std::move(*loaded), part.inputs, part.outputs, own(part) };
}

std::set<int> Planner::own(const Part &part) const
{
	const std::set<int> inside(part.nodes.begin(), part.nodes.end());
	std::set<int> own(part.inputs.begin(), part.inputs.end());

	own.insert(part.outputs.begin(), part.outputs.end());
	for (const int node : graph_.plan()) {
		if (inside.contains(node))
			continue;
		for (const TfLiteIntArray *tensors :
		     { graph_.node(node).inputs, graph_.node(node).outputs }) {
			for (const int tensor : indices(tensors))
				own.erase(tensor);
		}
	}
	return own;
}

/* Puts the candidates on the device. A candidate that is on the device already stays there;
 * partitions that are no candidates any more are removed. Returns the nodes from which run() forms
 * the next candidates: the nodes of all partitions on the device and, from each candidate with
 * refused nodes, the nodes that are not refused. */
std::vector<int> Planner::placeAll(const std::vector<Candidate> &candidates)
{
	std::map<std::vector<int>, PlacedPartition> before;
	std::set<int> taken;
	std::vector<int> nodes;

	std::swap(before, plan_.partitions);
	for (const Candidate &candidate : candidates) {
		if (plan_.partitions.size() == mostPartitions) {
			logLeft(describe(candidate), "there are larger partitions");
			continue;
		}
		auto known = before.extract(candidate.nodes);
		if (known) {
			plan_.partitions.insert(std::move(known));
		} else {
			auto placed = place(candidate);
			if (placed)
				plan_.partitions.emplace(candidate.nodes, std::move(*placed));
			else if (!refusedAny(candidate)) {
				logLeft(describe(candidate), placed.error().message());
				continue;
			}
		}
		taken.insert(candidate.nodes.begin(), candidate.nodes.end());
	}
	std::copy_if(graph_.plan().begin(), graph_.plan().end(), std::back_inserter(nodes),
		     [&](int node) { return taken.contains(node) && !refused_.contains(node); });
	return nodes;
}

bool Planner::refusedAny(const Candidate &candidate) const
{
	return std::any_of(candidate.nodes.begin(), candidate.nodes.end(),
			   [this](int node) { return refused_.contains(node); });
}

std::string Planner::describe(const Candidate &candidate) const
{
	const size_t count = candidate.nodes.size();

	if (count == 1)
		return graph_.describe(candidate.nodes.front());
	return fmt::format("{} nodes from {} on", count, graph_.describe(candidate.nodes.front()));
}

void Planner::logLeft(const std::string &what, const std::string &reason) const
{
	session_->log(fmt::format("leaves {} to TensorFlow Lite: {}", what, reason));
}

Result<Plan> Planner::run()
{
	std::vector<int> nodes = possibleNodes();

	/* Repeat until nothing changes: leaving some nodes to TensorFlow Lite may change how other
	 * nodes are grouped. */
	while (nodes != plan_.nodes) {
		plan_.nodes = nodes;
		auto found = candidates(nodes);
		if (!found)
			return forward(found);
		nodes = placeAll(*found);
	}
	const size_t all = graph_.plan().size() - constantMakers_;
	session_->logTaken(plan_.nodes.size(), all, plan_.partitions.size());
	return std::move(plan_);
}

} /* namespace */

Result<Plan> makePlan(TfLiteContext *context, std::shared_ptr<plugin::Session> session)
{
	auto graph = GraphView::read(context);
	if (!graph)
		return forward(graph);
	return Planner(context, std::move(*graph), std::move(session)).run();
}

} /* namespace nvdla::delegate */

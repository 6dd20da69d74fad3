/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

namespace
{

std::string reasonOf(const Error &error)
{
	return fmt::format("{}: {}", error.where, error.why);
}

using Numbers = std::vector<float>;

/* Runs a part on the host. \a numbers has the numbers of the part's inputs, by the tensors' names;
 * those of the outputs are added. */
void runPart(const ModelGraph &graph, const ModelPart &part, const HostModel &model,
	     std::map<std::string, Numbers> &numbers)
{
	std::vector<std::vector<std::byte>> bytes;
	std::vector<HostArray> arrays;
	const size_t count = part.inputs.size();

	for (const auto *names : { &part.inputs, &part.outputs }) {
		for (const std::string &name : *names) {
			const TensorDesc desc = *graph.tensorOf(name);
			const std::vector<uint32_t> &shape = desc.signature->shape;
			bytes.emplace_back(desc.size);
			arrays.push_back(
				{ { name, onnxType(desc.type), { shape.begin(), shape.end() } },
				  bytes.back() });
			if (names == &part.outputs)
				continue;
			/* One sample's numbers are repeated for all samples of a batch. */
			Numbers all = numbers[name];
			const size_t batch = shape.empty() ? 1 : shape.front();
			for (size_t i = 1; i < batch && all.size() < desc.elements(); i++)
				all.insert(all.end(), numbers[name].begin(), numbers[name].end());
			valueOf(packFloat(desc, all, bytes.back(), desc.order()));
		}
	}
	valueOf(model.run(std::span(arrays).first(count), std::span(arrays).subspan(count)));
	for (size_t i = 0; i < part.outputs.size(); i++) {
		const TensorDesc desc = *graph.tensorOf(part.outputs[i]);
		numbers[desc.name] = *unpackFloat(desc, bytes[count + i], desc.order());
	}
}

/*
 * Returns a reader of samples of a part's inputs: the host runs the nodes of all parts before this
 * one each time that a sample is read. Its errors name the fault of a sample, or are the host's.
 */
SampleReader readSamples(const ModelGraph &graph, const std::vector<std::vector<Numbers>> &samples,
			 std::span<const size_t> before, const std::vector<std::string> &inputs)
{
	std::optional<HostModel> model;
	ModelPart part;

	if (!before.empty() && !samples.empty()) {
		part = graph.part(before);
		model = valueOf(HostModel::open(std::exchange(part.file, {})));
	}
	return [=, &graph, &samples](size_t sample) -> Result<std::vector<Numbers>> {
		std::map<std::string, Numbers> numbers;
		std::vector<Numbers> chosen;

		if (samples[sample].size() != graph.inputs().size())
			return fail(ErrorCode::InvalidArgument, "calibrate model",
				    fmt::format("sample {}", sample),
				    fmt::format("has {} inputs, the model {}",
						samples[sample].size(), graph.inputs().size()));
		for (size_t i = 0; i < graph.inputs().size(); i++)
			numbers[graph.inputs()[i]] = samples[sample][i];
		if (model) {
			auto ran = resultOf([&] { runPart(graph, part, *model, numbers); });
			if (!ran) {
				ran.error().where =
					fmt::format("sample {}, {}", sample, ran.error().where);
				return forward(ran);
			}
		}
		for (const std::string &name : inputs)
			chosen.push_back(std::move(numbers[name]));
		return chosen;
	};
}

class Partitioner
{
public:
	Partitioner(const ModelGraph &graph, const CompileOptions &options)
		: graph_(graph), options_(options), possible_(size(), true), reasons_(size())
	{
		options_.shapes.clear();
		/* The division of a model depends neither on samples and tables nor on the
		 * strategy. So leave them out: they take time. */
		if (options_.calibration) {
			options_.calibration = { .type = options_.calibration->type };
			options_.strategy.reset();
		}
	}

	/* Finds the parts. If the model is to be calibrated, integers have arbitrary ranges until
	 * calibrate(). */
	std::vector<MergedPart> run();
	/* Compile the parts for the core anew, with the samples. */
	void calibrate(std::vector<MergedPart> &parts, const CompileOptions &options);
	const std::vector<std::string> &reasons() const { return reasons_; }

private:
	size_t size() const { return graph_.nodes().size(); }
	void leave(size_t node, const std::string &reason);
	const Result<MergedPart> &compile(const std::vector<size_t> &nodes);
	MergedPart compileNow(const std::vector<size_t> &nodes, const CompileOptions &options,
			      const SampleReader &samples = {}) const;
	bool leaveRefused(const std::vector<size_t> &nodes);
	bool place(size_t step, const std::vector<size_t> &nodes);
	bool placeAll();
	void addHost();

	const ModelGraph &graph_;
	CompileOptions options_;
	std::vector<bool> possible_;
	std::vector<std::string> reasons_; /* why a node is left to the host; empty: not left */
	std::map<std::vector<size_t>, Result<MergedPart>> compiled_;
	std::vector<MergedPart> parts_;
};

void Partitioner::leave(size_t node, const std::string &reason)
{
	possible_[node] = false;
	if (reasons_[node].empty())
		reasons_[node] = reason;
}

MergedPart Partitioner::compileNow(const std::vector<size_t> &nodes, const CompileOptions &options,
				   const SampleReader &samples) const
{
	ModelPart part = graph_.part(nodes);
	Model model = valueOf(importModel(std::exchange(part.file, {})));
	const bool hasProducts = std::ranges::any_of(
		model.operators, [](const Operator &one) { return traitsOf(one.kind).isProduct; });
	/* The importer leaves out inputs that only give shapes. */
	if (model.givenInputs() != part.inputs.size())
		refuse(ErrorCode::Unsupported, divideModel,
		       graph_.nodes()[nodes.front()].describe(),
		       "and what goes with it reads shapes that are computed");
	auto compiled = valueOf(compileInMemory(std::move(model), options, samples));
	return { std::move(part), 0, nodes, std::make_shared<CompiledModel>(std::move(compiled)),
		 hasProducts };
}

/* Compiles a group. Results are kept, because the same group recurs when nodes of other groups are
 * left to the host. */
const Result<MergedPart> &Partitioner::compile(const std::vector<size_t> &nodes)
{
	const auto known = compiled_.find(nodes);

	if (known != compiled_.end())
		return known->second;
	return compiled_.emplace(nodes, resultOf([&] { return compileNow(nodes, options_); }))
		.first->second;
}

/*
 * Leaves nodes to the host that the compiler refuses one by one; if it cannot even read the group,
 * all nodes count as refused. The compiler may refuse a node in this group and accept it as a part
 * of its own, so a node is left only if it is refused alone, too. \return whether any was left
 */
bool Partitioner::leaveRefused(const std::vector<size_t> &nodes)
{
	const auto part = resultOf([&] { return graph_.part(nodes); });
	const auto model = part.and_then([](const auto &cut) { return importModel(cut.file); });
	std::vector<size_t> refused = model ? std::vector<size_t>() : nodes;
	bool any = false;

	for (const auto &support :
	     model ? supportedOperators(*model, options_) : std::vector<OperatorSupport>()) {
		const size_t index = support.index - part->before;
		if (!support.reason.empty() && index < nodes.size())
			refused.push_back(nodes[index]);
	}
	for (const size_t node : refused) {
		const bool isConversion = graph_.nodeGraph().isConversion(node);
		const auto &alone = compile(isConversion ? std::vector{ node }
							 : graph_.nodeGraph().unitOf(node));
		if (alone || !possible_[node])
			continue;
		leave(node, reasonOf(alone.error()));
		any = true;
	}
	return any;
}

/* Adds a part of these nodes. \return false if nodes were left to the host: form new groups then */
bool Partitioner::place(size_t step, const std::vector<size_t> &nodes)
{
	const Result<MergedPart> &compiled = compile(nodes);

	if (compiled && (compiled->hasProducts || nodes.size() == size())) {
		parts_.emplace_back(*compiled).step = step;
		return true;
	}
	if (compiled || nodes.size() == 1) {
		for (const size_t node : nodes)
			leave(node, compiled ? "the way to the core and back is not worth it: no "
					       "convolution or product goes with it"
					     : reasonOf(compiled.error()));
		return false;
	}
	if (leaveRefused(nodes))
		return false;
	const auto middle = nodes.begin() + static_cast<ptrdiff_t>(nodes.size() / 2);
	const bool first = place(step, { nodes.begin(), middle });
	return place(step, { middle, nodes.end() }) && first;
}

bool Partitioner::placeAll()
{
	bool all = true;

	parts_.clear();
	graph_.nodeGraph().followOperators(possible_);
	for (size_t i = 0; i < size(); i++)
		possible_[i] = possible_[i] && reasons_[i].empty();
	for (const NodeGroup &group : graph_.nodeGraph().groupsOf(possible_))
		all &= place(group.step, group.nodes);
	return all;
}

void Partitioner::addHost()
{
	for (const NodeGroup &group : graph_.nodeGraph().groupsOf(possible_, false)) {
		ModelPart part = graph_.part(group.nodes);
		valueOf(HostModel::open(part.file));
		parts_.push_back({ std::move(part), group.step, group.nodes, {} });
	}
}

std::vector<MergedPart> Partitioner::run()
{
	for (size_t i = 0; i < size(); i++) {
		if (!graph_.wholeBecause().empty())
			leave(i, graph_.wholeBecause());
		for (const std::string &name : graph_.nodes()[i].outputs) {
			if (auto held = graph_.fixedTensor(name); !held)
				leave(i, reasonOf(held.error()));
		}
	}
	/* Each failed attempt leaves at least one more node to the host, so the loop ends. */
	while (!placeAll()) {
	}
	if (!resultOf([&] { addHost(); })) {
		/* A value between two parts has a type or size that no tensor can have: the host
		 * computes the whole model as one part. */
		parts_.clear();
		possible_.assign(size(), false);
		addHost();
	}
	std::ranges::stable_sort(parts_, {}, &MergedPart::step);
	return std::move(parts_);
}

void Partitioner::calibrate(std::vector<MergedPart> &parts, const CompileOptions &options)
{
	CompileOptions each = options;
	std::set<size_t> before;
	bool any = false;

	if (!graph_.states().empty())
		refuse(ErrorCode::Unsupported, "calibrate model", "model",
		       "keeps numbers from run to run, and the host computes a part of it; such "
		       "models are compiled without calibration");
	each.shapes.clear();
	compiled_.clear();
	for (MergedPart &part : parts) {
		const std::vector<size_t> nodes(before.begin(), before.end());
		before.insert(part.nodes.begin(), part.nodes.end());
		if (!part.model)
			continue;
		const SampleReader samples =
			readSamples(graph_, options.calibration->samples, nodes, part.inputs);
		part.model = compileNow(part.nodes, each, samples).model;
		any = true;
	}
	if (any)
		return;
	const auto reason =
		std::ranges::find_if(reasons_, [](const std::string &one) { return !one.empty(); });
	refuse(ErrorCode::Unsupported, "calibrate model", "model",
	       fmt::format("has no part that the core computes, so nothing is calibrated; {}",
			   reason == reasons_.end() ? "it has no operators" : *reason));
}

} /* namespace */

Result<CompiledModel> compileParts(std::span<const std::byte> file, const CompileOptions &options)
{
	return resultOf([&] {
		std::vector<std::byte> resized;
		if (isTfliteFile(file) && !options.shapes.empty())
			file = resized = valueOf(resizedTflite(file, options.shapes));
		const auto graph = isTfliteFile(file) ? readTfliteGraph(file)
						      : readOnnxGraph(file, options.shapes);
		Partitioner partitioner(*graph, options);
		std::vector<MergedPart> parts = partitioner.run();
		if (options.calibration)
			partitioner.calibrate(parts, options);
		return mergeParts(*graph, std::move(parts), partitioner.reasons());
	});
}

} /* namespace nvdla::compiler */

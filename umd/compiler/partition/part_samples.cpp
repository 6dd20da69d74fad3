/* SPDX-License-Identifier: MIT */
/*
 * Samples of a part's inputs: the host computes them from samples of the model's inputs.
 */
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

namespace
{

using Numbers = std::vector<float>;

/* The nodes that compute these values, in ascending order. */
std::vector<size_t> nodesBefore(const ModelGraph &graph, const std::vector<std::string> &values)
{
	std::set<std::string> needed(values.begin(), values.end());
	std::vector<size_t> nodes;

	for (size_t i = graph.nodes().nodes().size(); i-- > 0;) {
		const GraphNode &node = graph.nodes().nodes()[i];
		const auto isNeeded = [&](const auto &name) { return needed.contains(name); };
		if (std::ranges::none_of(node.outputs, isNeeded))
			continue;
		needed.insert(node.inputs.begin(), node.inputs.end());
		nodes.push_back(i);
	}
	std::ranges::reverse(nodes);
	return nodes;
}

/* Numbers of a sample as the elements of an input; one example is used for all of a batch. */
Result<std::vector<std::byte>> elementsFor(const TensorDesc &desc, const Numbers &one)
{
	const uint64_t batch = desc.signature->shape.empty() ? 1 : desc.signature->shape.front();
	const uint64_t wanted = desc.elements();
	Numbers all = one;

	if (one.size() != wanted && one.size() * batch != wanted)
		return fail(ErrorCode::InvalidArgument, "calibrate model", "samples",
			    fmt::format("one has {} numbers, the input '{}' needs {}", one.size(),
					desc.name, wanted));
	while (all.size() < wanted)
		all.insert(all.end(), one.begin(), one.end());
	return elementsFromFloat(desc.type, all);
}

/* Runs a part on the host. numbers: those of its inputs; those of its outputs are added. */
Result<void> runPart(const ModelGraph &graph, const ModelPart &part, const HostModel &model,
		     std::map<std::string, Numbers> &numbers)
{
	std::vector<std::vector<std::byte>> bytes;
	std::vector<HostArray> inputs, outputs;

	for (const auto *names : { &part.inputs, &part.outputs }) {
		const bool isInput = names == &part.inputs;
		for (const std::string &name : *names) {
			const TensorDesc desc = *graph.tensorOf(name);
			const std::vector<uint32_t> &shape = desc.signature->shape;
			auto elements = isInput ? elementsFor(desc, numbers[name])
						: std::vector<std::byte>(desc.size);
			if (!elements)
				return forward(elements);
			bytes.push_back(std::move(*elements));
			(isInput ? inputs : outputs)
				.push_back({ { name,
					       onnxType(desc.type),
					       { shape.begin(), shape.end() } },
					     bytes.back() });
		}
	}
	if (auto ran = model.run(inputs, outputs); !ran)
		return ran;
	for (const HostArray &output : outputs)
		numbers[output.what.name] =
			elementsToFloat(*typeOfOnnx(output.what.type), output.bytes);
	return {};
}

} /* namespace */

Result<SampleReader> readSamples(const ModelGraph &graph,
				 const std::vector<std::vector<Numbers>> &samples,
				 const std::vector<std::string> &inputs)
{
	const std::vector<size_t> nodes = nodesBefore(graph, inputs);
	std::optional<HostModel> model;
	ModelPart before;

	if (!nodes.empty() && !samples.empty()) {
		auto part = graph.part(nodes);
		auto opened = part ? HostModel::open(part->file) : forward(part);
		if (!opened)
			return forward(opened);
		part->file.clear(); /* the reader is copied */
		before = std::move(*part);
		model = std::move(*opened);
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
			if (auto ran = runPart(graph, before, *model, numbers); !ran)
				return forward(ran);
		}
		for (const std::string &name : inputs)
			chosen.push_back(std::move(numbers[name]));
		return chosen;
	};
}

} /* namespace nvdla::compiler */

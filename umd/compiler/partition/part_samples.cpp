/* SPDX-License-Identifier: MIT */
/*
 * Samples of a part's inputs: the host computes them from samples of the model's inputs.
 */
#include <map>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

namespace
{

using Numbers = std::vector<float>;

/* Runs a part on the host. numbers: those of its inputs; those of its outputs are added. */
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
			/* One example is used for all of a batch. */
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

} /* namespace */

SampleReader readSamples(const ModelGraph &graph, const std::vector<std::vector<Numbers>> &samples,
			 std::span<const size_t> before, const std::vector<std::string> &inputs)
{
	std::optional<HostModel> model;
	ModelPart part;

	if (!before.empty() && !samples.empty()) {
		part = valueOf(graph.part(before));
		model = valueOf(HostModel::open(part.file));
		part.file.clear(); /* frees memory: the model has its own copy */
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

} /* namespace nvdla::compiler */

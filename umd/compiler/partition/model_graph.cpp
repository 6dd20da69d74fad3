/* SPDX-License-Identifier: MIT */
#include "model_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

uint64_t elementsOf(const FileShape &shape)
{
	return std::accumulate(shape.begin(), shape.end(), uint64_t{ 1 },
			       [](uint64_t a, int64_t b) { return a * static_cast<uint64_t>(b); });
}

uint64_t macsOf(const std::string &type, const std::vector<FileShape> &inputs,
		const FileShape &made, size_t channels)
{
	const auto is = [&](const char *word) { return type.find(word) != type.npos; };
	const bool isQLinear = type.starts_with("QLinear");
	const auto eachPlace = [](FileShape places, size_t axis, uint64_t weights) {
		places[std::min(axis, places.size() - 1)] = 1;
		return elementsOf(places) * weights;
	};

	if (inputs.size() < (isQLinear ? 4U : 2U) || inputs[0].empty() || made.empty())
		return 0;
	/* Gemm's attribute transA is ignored, because exporters do not set it. */
	if (is("MatMul") || is("MATMUL") || type == "Gemm")
		return elementsOf(made) * static_cast<uint64_t>(inputs[0].back());
	if (is("LSTM") || is("GRU") || is("RNN") || type == "SVDF") {
		/* ONNX has two matrices for all gates, TensorFlow Lite has some for each gate. */
		const size_t most = is("_LSTM") ? inputs.size() : 3;
		uint64_t weights = 0;
		for (size_t i = 1; i < std::min(inputs.size(), most); i++)
			weights += inputs[i].size() > 1 ? elementsOf(inputs[i]) : 0;
		return eachPlace(inputs[0], inputs[0].size() - 1, weights);
	}
	if (!is("Conv") && !is("CONV") && type != "FULLY_CONNECTED")
		return 0;
	/* QLinear operators have a scale and a zero point behind each operand. */
	const FileShape &weights = inputs[isQLinear ? 3 : 1];
	const FileShape &places = is("Transpose")   ? inputs[0]
				  : is("TRANSPOSE") ? inputs[std::min<size_t>(inputs.size() - 1, 2)]
						    : made;
	return weights.empty() ? 0 : eachPlace(places, channels, elementsOf(weights));
}

Result<TensorDesc> ModelGraph::plainTensor(const std::string &name, std::optional<DataType> type,
					   const std::vector<int64_t> &shape)
{
	constexpr uint64_t most = UINT32_MAX / 8; /* number of elements, of up to 8 bytes */
	std::vector<int64_t> lengths = shape;
	std::ranges::replace(lengths, -1, 1);
	auto extents = shapeFrom(lengths, most);

	if (!type || !extents || !elementCount(*extents))
		return fail(ErrorCode::Unsupported, divideModel, fmt::format("'{}'", name),
			    type ? "has no elements, or too many"
				 : "has elements of a type that no tensor has");
	for (size_t i = 0; i < shape.size(); i++) {
		if (shape[i] < 0)
			(*extents)[i] = openAxis;
	}
	return TensorDesc::plain(name, *type, *extents);
}

Result<TensorDesc> ModelGraph::fixedTensor(const std::string &name) const
{
	auto desc = tensorOf(name);

	if (desc && desc->isOpen())
		return fail(ErrorCode::Unsupported, divideModel, fmt::format("'{}'", name),
			    differentSizes);
	return desc;
}

ModelPart ModelGraph::bound(std::span<const size_t> nodes) const
{
	const std::vector<GraphNode> &all = this->nodes();
	std::set<std::string> inside, elsewhere;
	ModelPart part;

	for (size_t i = 0; i < all.size(); i++) {
		const std::vector<std::string> &inputs = all[i].inputs;
		if (!std::ranges::binary_search(nodes, i))
			elsewhere.insert(inputs.begin(), inputs.end());
	}
	for (const size_t node : nodes) {
		for (const std::string &name : all[node].inputs) {
			if (inside.insert(name).second)
				part.inputs.push_back(name);
		}
		for (const std::string &name : all[node].outputs) {
			inside.insert(name);
			if (elsewhere.contains(name) || isOutput(name))
				part.outputs.push_back(name);
		}
	}
	/* Only the application can take a tensor with an open axis: inputs, and outputs that
	 * another part reads, need a fixed size. */
	elsewhere.insert(part.inputs.begin(), part.inputs.end());
	for (const std::vector<std::string> *names : { &part.inputs, &part.outputs }) {
		for (const std::string &name : *names)
			valueOf(elsewhere.contains(name) ? fixedTensor(name) : tensorOf(name));
	}
	return part;
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */

/*
 * The graph of an ONNX file, with types and shapes of all tensors; nodes of constants are computed.
 */
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "compiler/import/onnx/file_shapes.h"
#include "compiler/import/onnx/node_reader.h"
#include "compiler/partition/compared_numbers.h"
#include "compiler/partition/model_graph.h"
#include "onnx.pb.h"

namespace nvdla::compiler
{

namespace
{

namespace pb = nvdla::onnx;

/* \return names of the values that a node reads; those that its bodies define are left out */
std::vector<std::string> readBy(const pb::Node &node)
{
	std::vector<std::string> names;
	const auto addBody = [&](const pb::Graph &body) {
		std::set<std::string> own;
		const auto add = [&](const std::string &name) {
			if (!own.contains(name))
				names.push_back(name);
		};
		for (const pb::ValueInfo &input : body.input())
			own.insert(input.name());
		for (const pb::Tensor &tensor : body.initializer())
			own.insert(tensor.name());
		for (const pb::Node &inner : body.node()) {
			std::ranges::for_each(readBy(inner), add);
			own.insert(inner.output().begin(), inner.output().end());
		}
		for (const pb::ValueInfo &output : body.output())
			add(output.name());
	};

	for (const std::string &name : node.input()) {
		if (!name.empty())
			names.push_back(name);
	}
	for (const pb::Attribute &attribute : node.attribute()) {
		if (attribute.has_g())
			addBody(attribute.g());
		std::ranges::for_each(attribute.graphs(), addBody);
	}
	return names;
}

std::vector<std::byte> bytesOf(const pb::Model &model)
{
	std::vector<std::byte> bytes(model.ByteSizeLong());

	if (!model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())))
		bytes.clear();
	return bytes;
}

/* All tensors are its outputs, so that it says what they are. */
pb::Model withAllOutputs(const pb::Model &header, const pb::Graph &graph)
{
	pb::Model model = header;
	std::set<std::string> outputs;

	*model.mutable_graph() = graph;
	for (const pb::ValueInfo &output : graph.output())
		outputs.insert(output.name());
	for (const pb::Node &node : graph.node()) {
		for (const std::string &name : node.output()) {
			if (!name.empty() && outputs.insert(name).second)
				model.mutable_graph()->add_output()->set_name(name);
		}
	}
	return model;
}

/**
 * \brief An ONNX file's graph
 *
 * ONNX Runtime says what each tensor is, and computes what does not depend on inputs. It runs the
 * model for that with different numbers: a tensor that has another shape then is not known.
 */
class OnnxGraph : public ModelGraph
{
public:
	/**
	 * \param[in] shapes as CompileOptions::shapes
	 * \return an error if there is no ONNX Runtime, or it cannot run the model
	 */
	static Result<OnnxGraph> read(std::span<const std::byte> file,
				      std::span<const InputShape> shapes);

	Result<TensorDesc> tensorOf(const std::string &name) const override;
	Result<ModelPart> part(std::span<const size_t> nodes) const override;
	bool isComputed(const std::string &name) const override
	{
		return !constants_.contains(name);
	}
	/* As the standard defines these operators. */
	uint64_t macsOf(size_t node) const override;
	/* The whole model as a file. */
	std::vector<std::byte> file() const;

private:
	OnnxGraph() = default;
	Result<void> readInputs(std::span<const InputShape> shapes);
	Result<void> askHost();
	/* number: with which the model can run */
	Result<void> fold(const HostModel &model, std::optional<float> number);
	bool isFoldable(const nvdla::onnx::Node &node,
			const std::set<std::string> &constants) const;
	void forgetIfCounted(const nvdla::onnx::Node &node, std::set<std::string> &counted);
	/* Numbers for the inputs: something between 0 and 1, or if given that number. */
	std::vector<HostArray> numbers(std::optional<float> number);
	std::set<std::string> divisors() const;
	const HostValue *find(const std::string &name) const;
	void fill(const std::string &name, nvdla::onnx::ValueInfo &to) const;

	nvdla::onnx::Model header_; /* without its graph */
	nvdla::onnx::Graph graph_;
	std::map<std::string, HostValue> known_;
	std::map<std::string, int> constants_;	      /* indices of initializers */
	std::vector<std::vector<std::byte>> numbers_; /* that inputs are given */
};

Result<OnnxGraph> OnnxGraph::read(std::span<const std::byte> file,
				  std::span<const InputShape> shapes)
{
	OnnxGraph graph;

	if (!graph.header_.ParseFromArray(file.data(), static_cast<int>(file.size())))
		return fail(ErrorCode::InvalidFile, divideModel, "file", "is no ONNX file");
	graph.graph_.Swap(graph.header_.mutable_graph());
	graph.header_.clear_graph();
	/* Before that, files list constants as inputs. */
	constexpr int64_t withConstants = 4;
	graph.header_.set_ir_version(std::max(graph.header_.ir_version(), withConstants));
	for (const pb::ValueInfo &output : graph.graph_.output())
		graph.outputs_.push_back(output.name());
	for (int i = 0; i < graph.graph_.initializer_size(); i++)
		graph.constants_[graph.graph_.initializer(i).name()] = i;
	auto read = graph.readInputs(shapes).and_then([&] { return graph.askHost(); });
	if (!read)
		return forward(read);
	std::vector<GraphNode> nodes;
	for (const pb::Node &node : graph.graph_.node()) {
		GraphNode &to = nodes.emplace_back();
		to.type = node.op_type();
		to.inputs = readBy(node);
		for (const std::string &name : node.output()) {
			if (!name.empty())
				to.outputs.push_back(name);
			to.makesOutput |= std::ranges::count(graph.outputs_, name) != 0;
		}
	}
	graph.nodes_.emplace(std::move(nodes));
	return graph;
}

/* Sizes that the file leaves open get those that are given. */
Result<void> OnnxGraph::readInputs(std::span<const InputShape> shapes)
{
	google::protobuf::RepeatedPtrField<pb::ValueInfo> infos;
	std::vector<const pb::ValueInfo *> open;
	compiler::onnx::FileShapes fileShapes;

	for (pb::ValueInfo &info : *graph_.mutable_input()) {
		if (constants_.contains(info.name()))
			continue;
		inputs_.push_back(info.name());
		*infos.Add() = std::move(info);
	}
	for (const pb::ValueInfo &info : infos)
		open.push_back(&info);
	if (auto given = compiler::resultOf([&] { fileShapes.give(shapes, open); }); !given)
		return given;
	for (pb::ValueInfo &info : infos) {
		pb::TensorType &tensor = *info.mutable_type()->mutable_tensor_type();
		auto extents = compiler::resultOf([&] {
			return fileShapes.shapeOf(info, fmt::format("input '{}'", info.name()));
		});
		if (!extents)
			return forward(extents);
		tensor.mutable_shape()->clear_dim();
		for (const uint32_t extent : *extents)
			tensor.mutable_shape()->add_dim()->set_dim_value(extent);
		known_[info.name()] = HostValue{ info.name(),
						 tensor.elem_type(),
						 { extents->begin(), extents->end() } };
		if (auto held = tensorOf(info.name()); !held)
			return forward(held);
	}
	graph_.mutable_input()->Swap(&infos);
	return {};
}

/* Inputs that integers may be divided by, at which 0 ends the process. */
std::set<std::string> OnnxGraph::divisors() const
{
	std::set<std::string> names;

	for (auto node = graph_.node().rbegin(); node != graph_.node().rend(); node++) {
		const bool divides = node->op_type() == "Div" || node->op_type() == "Mod" ||
				     node->op_type() == "Col2Im";
		for (int i = 1; divides && i < node->input_size(); i++)
			names.insert(node->input(i));
		const auto leads = [&](const std::string &name) { return names.contains(name); };
		if (std::ranges::any_of(node->output(), leads))
			names.insert(node->input().begin(), node->input().end());
	}
	return names;
}

std::vector<HostArray> OnnxGraph::numbers(std::optional<float> number)
{
	const std::set<std::string> divisors = this->divisors();
	std::mt19937 random;
	std::vector<HostArray> arrays;

	numbers_.clear();
	for (const std::string &name : inputs_) {
		const HostValue &value = known_[name];
		const DataType type = typeOfOnnx(value.type).value_or(DataType::Float);
		std::vector<float> numbers(elementsOf(value.shape));
		for (float &one : numbers)
			one = number ? *number : static_cast<float>(random() % 1000) / 1000;
		if (divisors.contains(name) && type != DataType::Float && type != DataType::Half)
			std::ranges::fill(numbers, number ? 1.0f : 3.0f);
		numbers_.push_back(elementsFromFloat(type, numbers));
		arrays.push_back({ value, numbers_.back() });
	}
	return arrays;
}

Result<void> OnnxGraph::askHost()
{
	const pb::Model all = withAllOutputs(header_, graph_);
	std::vector<std::string> names;

	for (const pb::ValueInfo &output : all.graph().output())
		names.push_back(output.name());
	auto model = HostModel::open(bytesOf(all));
	if (!model)
		return forward(model);
	auto said = model->outputs();
	if (!said)
		return forward(said);
	for (const HostValue &value : *said) {
		if (std::ranges::none_of(value.shape, [](int64_t extent) { return extent < 0; }))
			known_[value.name] = value;
	}
	std::vector<std::optional<float>> tried = { 0.0f, std::nullopt };
	std::vector<std::vector<HostValue>> runs;
	std::optional<float> works = 0.0f;
	addComparedNumbers(graph_, tried);
	for (const std::optional<float> &number : tried) {
		auto run = model->shapes(numbers(number), names);
		if (!run)
			continue;
		runs.push_back(std::move(*run));
		if (runs.size() == 1)
			works = number;
	}
	for (size_t i = 0; !runs.empty() && i < names.size(); i++) {
		const HostValue &value = runs[0][i];
		if (value.type && std::ranges::all_of(runs, [&](const auto &run) {
			    return run[i].shape == value.shape;
		    }))
			known_.try_emplace(value.name, value);
	}
	return fold(*model, works);
}

bool OnnxGraph::isFoldable(const pb::Node &node, const std::set<std::string> &constants) const
{
	static const std::set<std::string> others = {
		"QuantizeLinear",    "DequantizeLinear", "RandomNormal", "RandomUniform",
		"RandomUniformLike", "RandomNormalLike", "Multinomial",	 "Bernoulli",
	};
	const bool isOfShape = node.op_type() == "Shape" || node.op_type() == "Size";

	for (const std::string &name : node.output()) {
		if (name.empty())
			continue;
		const HostValue *value = find(name);
		if (!value || !typeOfOnnx(value->type) || std::ranges::count(outputs_, name))
			return false;
	}
	if (others.contains(node.op_type()))
		return false;
	return std::ranges::all_of(readBy(node), [&](const std::string &name) {
		return constants.contains(name) || (isOfShape && find(name));
	});
}

/*
 * Forgets the shapes behind operators that count, as NonZero does: the host may have found the same
 * one with each of the numbers that it was given. An output keeps its shape, which a run checks.
 */
void OnnxGraph::forgetIfCounted(const pb::Node &node, std::set<std::string> &counted)
{
	static const std::set<std::string> count = { "Compress", "NonMaxSuppression", "NonZero",
						     "Unique" };
	std::vector<std::string> sources = readBy(node);

	/* Their result has the first input's shape. */
	if (node.op_type().starts_with("Scatter") && !sources.empty())
		sources.resize(1);
	if (!count.contains(node.op_type()) &&
	    std::ranges::none_of(sources, [&](const auto &name) { return counted.contains(name); }))
		return;
	for (const std::string &name : node.output()) {
		counted.insert(name);
		if (!std::ranges::count(outputs_, name))
			known_.erase(name);
	}
}

/* Nodes whose inputs are all constants are computed now, and become constants. */
Result<void> OnnxGraph::fold(const HostModel &model, std::optional<float> number)
{
	google::protobuf::RepeatedPtrField<pb::Node> rest;
	std::set<std::string> constants, counted, read;
	std::vector<HostArray> folded;
	std::vector<std::vector<std::byte>> bytes;

	for (const auto &[name, index] : constants_)
		constants.insert(name);
	for (pb::Node &node : *graph_.mutable_node()) {
		if (isFoldable(node, constants)) {
			constants.insert(node.output().begin(), node.output().end());
			continue;
		}
		forgetIfCounted(node, counted);
		for (const std::string &name : readBy(node))
			read.insert(name);
		*rest.Add() = std::move(node);
	}
	for (const std::string &name : constants) {
		if (!read.contains(name) || constants_.contains(name))
			continue;
		const HostValue &value = *find(name);
		bytes.emplace_back(elementsOf(value.shape) * elementBytes(*typeOfOnnx(value.type)));
		folded.push_back({ value, bytes.back() });
	}
	graph_.mutable_node()->Swap(&rest);
	if (!folded.empty()) {
		if (auto done = model.run(numbers(number), folded); !done)
			return done;
	}
	for (const HostArray &array : folded) {
		pb::Tensor &tensor = *graph_.add_initializer();
		constants_[array.what.name] = graph_.initializer_size() - 1;
		tensor.set_name(array.what.name);
		tensor.set_data_type(array.what.type);
		tensor.mutable_dims()->Add(array.what.shape.begin(), array.what.shape.end());
		tensor.set_raw_data(array.bytes.data(), array.bytes.size());
	}
	return {};
}

const HostValue *OnnxGraph::find(const std::string &name) const
{
	const auto found = known_.find(name);

	return found == known_.end() ? nullptr : &found->second;
}

Result<TensorDesc> OnnxGraph::tensorOf(const std::string &name) const
{
	const HostValue *value = find(name);

	if (!value)
		return fail(ErrorCode::Unsupported, divideModel, fmt::format("'{}'", name),
			    "has a size that depends on the inputs' numbers");
	return plainTensor(name, typeOfOnnx(value->type), value->shape);
}

void OnnxGraph::fill(const std::string &name, pb::ValueInfo &to) const
{
	pb::TensorType &tensor = *to.mutable_type()->mutable_tensor_type();

	to.set_name(name);
	tensor.set_elem_type(find(name)->type);
	tensor.mutable_shape();
	for (const int64_t extent : find(name)->shape)
		tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

Result<ModelPart> OnnxGraph::part(std::span<const size_t> nodes) const
{
	pb::Model model = header_;
	pb::Graph &graph = *model.mutable_graph();
	std::set<std::string> known;
	ModelPart part;

	if (auto done = bound(nodes, part); !done)
		return forward(done);
	graph.set_name("part");
	for (const std::string &name : part.inputs)
		fill(name, *graph.add_input());
	for (const std::string &name : part.outputs)
		fill(name, *graph.add_output());
	known.insert(part.outputs.begin(), part.outputs.end());
	for (const size_t node : nodes) {
		for (const std::string &name : nodes_->nodes()[node].inputs) {
			const auto constant = constants_.find(name);
			if (constant != constants_.end() && known.insert(name).second)
				*graph.add_initializer() = graph_.initializer(constant->second);
		}
		*graph.add_node() = graph_.node(static_cast<int>(node));
		for (const std::string &name : nodes_->nodes()[node].outputs) {
			if (!known.contains(name) && tensorOf(name))
				fill(name, *graph.add_value_info());
		}
	}
	part.file = bytesOf(model);
	if (part.file.empty())
		return fail(ErrorCode::Unsupported, divideModel, describe(nodes.front()),
			    "and what goes with it is larger than a file can be");
	return part;
}

std::vector<std::byte> OnnxGraph::file() const
{
	pb::Model model = header_;

	*model.mutable_graph() = graph_;
	return bytesOf(model);
}

uint64_t OnnxGraph::macsOf(size_t node) const
{
	const GraphNode &what = nodes_->nodes()[node];
	const auto shapeOf = [&](const std::string &name) -> std::vector<int64_t> {
		const auto constant = constants_.find(name);
		if (constant != constants_.end()) {
			const auto &dims = graph_.initializer(constant->second).dims();
			return { dims.begin(), dims.end() };
		}
		const HostValue *value = find(name);
		return value ? value->shape : std::vector<int64_t>();
	};

	if (what.inputs.size() < 2 || what.outputs.empty())
		return 0;
	/* Between them are scales and zero points. */
	const size_t second = what.type.starts_with("QLinear") && what.inputs.size() > 3 ? 3 : 1;
	const std::vector<int64_t> from = shapeOf(what.inputs[0]),
				   by = shapeOf(what.inputs[second]), to = shapeOf(what.outputs[0]);
	if (from.empty() || by.empty() || !by[0])
		return 0;
	if (what.type == "Conv" || what.type == "ConvInteger" || what.type == "QLinearConv")
		return elementsOf(to) * elementsOf(by) / static_cast<uint64_t>(by[0]);
	if (what.type == "ConvTranspose")
		return elementsOf(from) * elementsOf(by) / static_cast<uint64_t>(by[0]);
	if (what.type == "MatMul" || what.type == "MatMulInteger" || what.type == "QLinearMatMul")
		return elementsOf(to) * static_cast<uint64_t>(from.back());
	if (what.type == "Gemm")
		return elementsOf(from) * elementsOf(to) /
		       std::max<uint64_t>(static_cast<uint64_t>(to.empty() ? 1 : to[0]), 1);
	const bool isCell = what.type == "LSTM" || what.type == "GRU" || what.type == "RNN";
	if (isCell && what.inputs.size() > 2 && from.size() == 3)
		return static_cast<uint64_t>(from[0] * from[1]) *
		       (elementsOf(by) + elementsOf(shapeOf(what.inputs[2])));
	return 0;
}

} /* namespace */

Result<std::unique_ptr<ModelGraph>> readOnnxGraph(std::span<const std::byte> file,
						  std::span<const InputShape> shapes)
{
	return OnnxGraph::read(file, shapes).map([](auto &&graph) -> std::unique_ptr<ModelGraph> {
		return std::make_unique<OnnxGraph>(std::move(graph));
	});
}

Result<std::vector<std::byte>> computeConstants(std::span<const std::byte> file,
						std::span<const InputShape> shapes)
{
	return OnnxGraph::read(file, shapes).map([](const auto &graph) { return graph.file(); });
}

} /* namespace nvdla::compiler */

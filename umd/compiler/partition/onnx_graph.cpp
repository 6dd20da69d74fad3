/* SPDX-License-Identifier: MIT */

/*
 * The graph of an ONNX file, with types and shapes of all tensors. Nodes that read only constants
 * are computed.
 */
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/host/trial.h"
#include "compiler/import/onnx/node_reader.h"
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

/* The lengths of a tensor's axes in the file; -1 for open axes */
FileShape shapeOf(const pb::TensorType &tensor)
{
	FileShape shape;

	for (const pb::Dimension &axis : tensor.shape().dim())
		shape.push_back(axis.dim_value() > 0 ? axis.dim_value() : -1);
	return shape;
}

std::vector<std::byte> bytesOf(const pb::Model &model)
{
	std::vector<std::byte> bytes(model.ByteSizeLong());

	if (!model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())))
		bytes.clear();
	return bytes;
}

/*
 * Makes all tensors outputs, so that the host reports their types. Shapes that the file states for
 * outputs are left out: exporters write the shapes of one run. Returns the names of the outputs.
 */
std::set<std::string> makeAllOutputs(pb::Graph &graph)
{
	std::set<std::string> outputs;

	for (pb::ValueInfo &output : *graph.mutable_output()) {
		outputs.insert(output.name());
		if (output.type().has_tensor_type())
			output.mutable_type()->mutable_tensor_type()->clear_shape();
	}
	for (const pb::Node &node : graph.node()) {
		for (const std::string &name : node.output()) {
			if (!name.empty() && outputs.insert(name).second)
				graph.add_output()->set_name(name);
		}
	}
	return outputs;
}

/*
 * Adds the whole numbers with which a graph, or a graph in it, compares something: six at most,
 * each once. They are tried as inputs: with other numbers, trial runs may take only one branch of
 * the model, or fail, for instance if an input is a rate in hertz.
 */
void addComparedNumbers(const pb::Graph &graph, std::vector<std::optional<float>> &numbers)
{
	constexpr size_t most = 6;
	std::map<std::string, float> constants;
	const auto addConstant = [&](const std::string &name, const pb::Tensor &tensor) {
		auto value = compiler::onnx::readConstant(tensor);
		if (value && wholeNumbers(*value).size() == 1)
			constants[name] = static_cast<float>(wholeNumbers(*value)[0]);
	};

	for (const pb::Tensor &tensor : graph.initializer())
		addConstant(tensor.name(), tensor);
	for (const pb::Node &node : graph.node()) {
		for (const pb::Attribute &attribute : node.attribute()) {
			if (attribute.has_g())
				addComparedNumbers(attribute.g(), numbers);
			if (node.op_type() == "Constant" && attribute.has_t() && node.output_size())
				addConstant(node.output(0), attribute.t());
		}
		if (node.op_type() != "Equal")
			continue;
		for (const std::string &name : node.input()) {
			const auto found = constants.find(name);
			if (found != constants.end() && numbers.size() < most &&
			    !std::ranges::count(numbers, std::optional(found->second)))
				numbers.push_back(found->second);
		}
	}
}

/* Names of values by which the model may divide integers, and of values from which such divisors
 * are computed: a 0 in a divisor would end the process. */
std::set<std::string> divisorsOf(const pb::Graph &graph)
{
	std::set<std::string> names;

	for (auto node = graph.node().rbegin(); node != graph.node().rend(); node++) {
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

/**
 * \brief An ONNX file's graph
 *
 * ONNX Runtime reports the type and shape of each tensor, and computes values that do not depend on
 * inputs. The model is run with different numbers: a tensor whose shape then differs is not known,
 * and an output gets open axes.
 */
class OnnxGraph : public ModelGraph
{
public:
	/* Throws as readOnnxGraph(). */
	OnnxGraph(std::span<const std::byte> file, std::span<const InputShape> shapes);

	Result<TensorDesc> tensorOf(const std::string &name) const override;
	ModelPart cut(std::span<const size_t> nodes, ModelPart part) const override;
	/* Turns the whole model into a file, and frees its memory. */
	std::vector<std::byte> takeFile();

private:
	/* Parses the file into header_ and graph_. */
	void read(std::span<const std::byte> file);
	void readInputs(std::span<const InputShape> shapes);
	void askHost(std::span<const std::byte> file, std::span<const InputShape> shapes);
	/* number: an input value with which the model can run */
	void fold(const HostModel &model, std::optional<float> number);
	bool isFoldable(const pb::Node &node) const;
	/* value: from trial runs; lengths that differed are -1 */
	void learn(HostValue value);
	void forgetIfCounted(const pb::Node &node, std::set<std::string> &counted);
	/* A tensor without open axes, if it is known. */
	const HostValue *find(const std::string &name) const;
	/* The shape of a constant or tensor; empty if it is not known. */
	FileShape shapeKnown(const std::string &name) const;
	void fill(const std::string &name, pb::ValueInfo &to) const;

	pb::Model header_; /* the file's model without its graph */
	pb::Graph graph_;
	std::vector<HostValue> inputValues_;
	std::map<std::string, HostValue> known_; /* shapes of outputs may have -1, for open axes */
	std::map<std::string, std::vector<int64_t>> said_; /* ONNX Runtime's shapes; -1: open */
	std::map<std::string, HostValue> stated_;	   /* outputs whose shape the file has */
	/* Indices of initializers, by name; -1 for constants that no node reads */
	std::map<std::string, int> constants_;
};

void OnnxGraph::read(std::span<const std::byte> file)
{
	if (!header_.ParseFromArray(file.data(), static_cast<int>(file.size())))
		refuse(ErrorCode::InvalidFile, divideModel, "file", "is no ONNX file");
	graph_.Swap(header_.mutable_graph());
	header_.clear_graph();
	/* Versions of the format before 4 require that constants are listed as inputs, too. */
	constexpr int64_t withConstants = 4;
	header_.set_ir_version(std::max(header_.ir_version(), withConstants));
}

OnnxGraph::OnnxGraph(std::span<const std::byte> file, std::span<const InputShape> shapes)
{
	read(file);
	for (const pb::ValueInfo &output : graph_.output()) {
		const pb::TensorType &tensor = output.type().tensor_type();
		outputs_.push_back(output.name());
		if (tensor.shape().dim_size() > 0)
			stated_[output.name()] = { output.name(), tensor.elem_type(),
						   shapeOf(tensor) };
	}
	for (int i = 0; i < graph_.initializer_size(); i++)
		constants_[graph_.initializer(i).name()] = i;
	readInputs(shapes);
	askHost(file, shapes);
	std::vector<GraphNode> nodes;
	for (const pb::Node &node : graph_.node()) {
		GraphNode &to = nodes.emplace_back();
		to.type = node.op_type();
		std::vector<FileShape> shapes;
		for (const std::string &name : readBy(node)) {
			shapes.push_back(shapeKnown(name));
			if (!constants_.contains(name))
				to.inputs.push_back(name);
		}
		for (const std::string &name : node.output()) {
			if (!name.empty())
				to.outputs.push_back(name);
			to.makesOutput |= isOutput(name);
		}
		if (!to.outputs.empty())
			to.macs = macsOf(to.type, shapes, shapeKnown(to.outputs.front()), 1);
	}
	nodes_.emplace(std::move(nodes));
}

/* Reads the inputs; sizes that the file leaves open get those of \a shapes. */
void OnnxGraph::readInputs(std::span<const InputShape> shapes)
{
	compiler::onnx::closeShapes(graph_, shapes);
	for (const pb::ValueInfo &info : graph_.input()) {
		const pb::TensorType &tensor = info.type().tensor_type();
		if (!tensor.has_shape())
			refuse(ErrorCode::Unsupported, divideModel,
			       fmt::format("input '{}'", info.name()), "has no shape");
		inputs_.push_back(info.name());
		inputValues_.push_back({ info.name(), tensor.elem_type(), shapeOf(tensor) });
		known_[info.name()] = inputValues_.back();
		valueOf(tensorOf(info.name()));
	}
}

void OnnxGraph::askHost(std::span<const std::byte> file, std::span<const InputShape> shapes)
{
	const std::set<std::string> outputs = makeAllOutputs(graph_);
	const HostModel model = valueOf(HostModel::open(takeFile()));
	std::vector<std::string> names;

	/* takeFile() freed the graph, because opening a file takes much memory. Read it again. */
	read(file);
	compiler::onnx::closeShapes(graph_, shapes);
	for (const HostValue &value : valueOf(model.outputs())) {
		said_[value.name] = value.shape;
		/* A shape without axes is that of a single number, or unknown: trial runs tell. */
		if (!value.shape.empty() && !std::ranges::count(value.shape, -1))
			known_[value.name] = value;
	}
	/* Ask only for outputs and unknown tensors: the host keeps all that it is asked for. */
	std::ranges::copy_if(outputs, std::back_inserter(names), [&](const std::string &name) {
		return !known_.contains(name) || isOutput(name);
	});
	std::vector<std::optional<float>> tried = { 0.0f, std::nullopt };
	addComparedNumbers(graph_, tried);
	TrialRuns trial = tryNumbers(model, inputValues_, names, tried, divisorsOf(graph_));
	for (HostValue &value : trial.outputs)
		learn(std::move(value));
	fold(model, trial.number);
}

/*
 * Notes a shape that the trial runs found. Only outputs may have open axes: those whose sizes
 * differ between runs or from the file's shape, or are 0 because a run found nothing.
 */
void OnnxGraph::learn(HostValue value)
{
	if (const auto stated = stated_.find(value.name); stated != stated_.end()) {
		const auto common = commonShape(value.shape, stated->second.shape);
		value = value.type && common ? HostValue{ value.name, value.type, *common }
					     : stated->second;
	}
	if (isOutput(value.name))
		std::ranges::replace(value.shape, 0, -1);
	else if (std::ranges::count(value.shape, -1))
		return;
	if (value.type)
		known_.try_emplace(value.name, std::move(value));
}

bool OnnxGraph::isFoldable(const pb::Node &node) const
{
	static const std::set<std::string> others = {
		"QuantizeLinear",    "DequantizeLinear", "RandomNormal", "RandomUniform",
		"RandomUniformLike", "RandomNormalLike", "Multinomial",	 "Bernoulli",
	};
	const bool isOfShape = node.op_type() == "Shape" || node.op_type() == "Size";
	const auto mayBeConstant = [&](const std::string &name) {
		const HostValue *value = find(name);
		return name.empty() || (value && typeOfOnnx(value->type) && !isOutput(name));
	};
	const auto isConstant = [&](const std::string &name) {
		return constants_.contains(name) || (isOfShape && find(name));
	};

	return !others.contains(node.op_type()) &&
	       std::ranges::all_of(node.output(), mayBeConstant) &&
	       std::ranges::all_of(readBy(node), isConstant);
}

/*
 * Forgets the shapes behind operators that count, such as NonZero: the trial runs may have had the
 * same size by chance. An output keeps the sizes that are known without a run; its other axes are
 * open.
 */
void OnnxGraph::forgetIfCounted(const pb::Node &node, std::set<std::string> &counted)
{
	static const std::set<std::string> count = { "Compress", "NonMaxSuppression", "NonZero",
						     "Unique" };
	std::vector<std::string> sources = readBy(node);

	/* The result of a Scatter has the first input's shape: no other input can change it. */
	if (node.op_type().starts_with("Scatter") && !sources.empty())
		sources.resize(1);
	if (!count.contains(node.op_type()) &&
	    std::ranges::none_of(sources, [&](const auto &name) { return counted.contains(name); }))
		return;
	for (const std::string &name : node.output()) {
		counted.insert(name);
		const auto known = known_.find(name);
		if (known == known_.end())
			continue;
		std::vector<int64_t> &shape = known->second.shape;
		if (!isOutput(name))
			known_.erase(known);
		else if (said_[name].size() == shape.size())
			shape = said_[name];
		else
			std::ranges::fill(shape, -1);
	}
}

/* Nodes whose inputs are all constants are computed now, and become constants. */
void OnnxGraph::fold(const HostModel &model, std::optional<float> number)
{
	google::protobuf::RepeatedPtrField<pb::Node> rest;
	std::set<std::string> counted, read;
	std::vector<HostArray> folded;
	std::vector<std::vector<std::byte>> bytes;

	for (pb::Node &node : *graph_.mutable_node()) {
		if (isFoldable(node)) {
			for (const std::string &name : node.output())
				constants_.emplace(name, -1);
			continue;
		}
		forgetIfCounted(node, counted);
		std::ranges::copy(readBy(node), std::inserter(read, read.end()));
		*rest.Add() = std::move(node);
	}
	for (const auto &[name, index] : constants_) {
		if (!read.contains(name) || index >= 0)
			continue;
		const HostValue &value = *find(name);
		bytes.emplace_back(elementsOf(value.shape) * elementBytes(*typeOfOnnx(value.type)));
		folded.push_back({ value, bytes.back() });
	}
	graph_.mutable_node()->Swap(&rest);
	if (!folded.empty())
		valueOf(model.run(TrialInputs(inputValues_, number, divisorsOf(graph_)).arrays(),
				  folded));
	for (const HostArray &array : folded) {
		pb::Tensor &tensor = *graph_.add_initializer();
		constants_[array.what.name] = graph_.initializer_size() - 1;
		tensor.set_name(array.what.name);
		tensor.set_data_type(array.what.type);
		tensor.mutable_dims()->Add(array.what.shape.begin(), array.what.shape.end());
		tensor.set_raw_data(array.bytes.data(), array.bytes.size());
	}
}

const HostValue *OnnxGraph::find(const std::string &name) const
{
	const auto found = known_.find(name);

	return found == known_.end() || std::ranges::count(found->second.shape, -1)
		       ? nullptr
		       : &found->second;
}

Result<TensorDesc> OnnxGraph::tensorOf(const std::string &name) const
{
	const auto value = known_.find(name);

	if (value == known_.end())
		return fail(ErrorCode::Unsupported, divideModel, fmt::format("'{}'", name),
			    differentSizes);
	return plainTensor(name, typeOfOnnx(value->second.type), value->second.shape);
}

void OnnxGraph::fill(const std::string &name, pb::ValueInfo &to) const
{
	pb::TensorType &tensor = *to.mutable_type()->mutable_tensor_type();

	to.set_name(name);
	tensor.set_elem_type(known_.at(name).type);
	tensor.mutable_shape();
	for (const int64_t extent : known_.at(name).shape) {
		auto &dim = *tensor.mutable_shape()->add_dim();
		if (extent >= 0)
			dim.set_dim_value(extent);
	}
}

ModelPart OnnxGraph::cut(std::span<const size_t> nodes, ModelPart part) const
{
	pb::Model model = header_;
	pb::Graph &graph = *model.mutable_graph();
	std::set<std::string> known;

	graph.set_name("part");
	for (const std::string &name : part.inputs)
		fill(name, *graph.add_input());
	for (const std::string &name : part.outputs)
		fill(name, *graph.add_output());
	known.insert(part.outputs.begin(), part.outputs.end());
	for (const size_t node : nodes) {
		const pb::Node &source = graph_.node(static_cast<int>(node));
		for (const std::string &name : readBy(source)) {
			const auto constant = constants_.find(name);
			if (constant != constants_.end() && known.insert(name).second)
				*graph.add_initializer() = graph_.initializer(constant->second);
		}
		*graph.add_node() = source;
		for (const std::string &name : this->nodes()[node].outputs) {
			if (!known.contains(name) && tensorOf(name))
				fill(name, *graph.add_value_info());
		}
	}
	part.file = bytesOf(model);
	if (part.file.empty())
		refuse(ErrorCode::Unsupported, divideModel, this->nodes()[nodes.front()].describe(),
		       "and what goes with it is larger than a file can be");
	return part;
}

std::vector<std::byte> OnnxGraph::takeFile()
{
	pb::Model model = header_;

	model.mutable_graph()->Swap(&graph_);
	return bytesOf(model);
}

FileShape OnnxGraph::shapeKnown(const std::string &name) const
{
	if (const auto constant = constants_.find(name); constant != constants_.end()) {
		const auto &dims = graph_.initializer(constant->second).dims();
		return { dims.begin(), dims.end() };
	}
	const HostValue *value = find(name);
	return value ? value->shape : FileShape();
}

} /* namespace */

std::unique_ptr<ModelGraph> readOnnxGraph(std::span<const std::byte> file,
					  std::span<const InputShape> shapes)
{
	return std::make_unique<OnnxGraph>(file, shapes);
}

Result<std::vector<std::byte>> computeConstants(std::span<const std::byte> file,
						std::span<const InputShape> shapes)
{
	return resultOf([&] { return OnnxGraph(file, shapes).takeFile(); });
}

} /* namespace nvdla::compiler */

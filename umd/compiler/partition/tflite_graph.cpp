/* SPDX-License-Identifier: MIT */

/* The graph of a TensorFlow Lite file, for its division between core and host. */
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/host/trial.h"
#include "compiler/import/import.h"
#include "compiler/import/tflite/file.h"
#include "compiler/partition/model_graph.h"

namespace nvdla::compiler
{

namespace
{

namespace fb = nvdla::tflite;
using enum fb::BuiltinOperator;

std::optional<DataType> dataTypeOf(fb::TensorType type)
{
	/* In the order of ElementType. */
	constexpr DataType types[] = { DataType::Float, DataType::Half,	 DataType::Int8,
				       DataType::UInt8, DataType::Int16, DataType::Int32,
				       DataType::Int64, DataType::Bool };
	const auto known = tflite::elementTypeOf(type);

	return known ? std::optional(types[static_cast<size_t>(*known)]) : std::nullopt;
}

/* Whether an operator uses state of the interpreter that it shares with other operators. */
bool sharesState(fb::BuiltinOperator kind)
{
	constexpr fb::BuiltinOperator kinds[] = { HASHTABLE, HASHTABLE_FIND, HASHTABLE_IMPORT,
						  HASHTABLE_SIZE };

	return std::ranges::count(kinds, kind) != 0 || tflite::isOfVariable(kind);
}

/**
 * \brief A TensorFlow Lite file's first graph
 *
 * Values that do not depend on inputs belong to no node: each part that reads one computes it
 * itself, or has it as a constant.
 */
class TfliteGraph : public ModelGraph
{
public:
	/* Throws as readTfliteGraph(). */
	explicit TfliteGraph(std::span<const std::byte> file);

	Result<TensorDesc> tensorOf(const std::string &name) const override;
	ModelPart cut(std::span<const size_t> nodes, ModelPart part) const override;

private:
	using Tensors = std::vector<int32_t>;

	const Value &value(int32_t id) const { return model_.values[static_cast<size_t>(id)]; }
	void nameTensors();
	void addStates();
	void addOperators();
	void findShapes();
	const tflite::fb::SubGraph &graph() const { return *file_.model().subgraphs()->Get(0); }
	const tflite::fb::Operator &source(size_t index) const;
	tflite::fb::BuiltinOperator kindOf(const tflite::fb::Operator &source) const;
	/* The valid ones of some tensor ids: an input that is left out has the id -1. */
	Tensors tensors(const flatbuffers::Vector<int32_t> *ids) const;
	bool isConstant(const tflite::fb::Operator &source) const;
	/* Adds the operators that compute the constants which operator \a index reads. */
	void addConstants(size_t index, std::set<int32_t> &operators) const;

	std::span<const std::byte> bytes_;
	tflite::File file_;
	Model model_; /* values are the file's tensors, with unique names */
	std::map<std::string, int32_t> numbers_;   /* ids of tensors, by name */
	std::map<int32_t, size_t> constantMakers_; /* operator's index, by id of its output */
	std::map<int32_t, FileShape> shapes_;	   /* shapes of all tensors; -1: an open axis */
	std::set<int32_t> computed_;		   /* tensors that are inputs or nodes' outputs */
	std::vector<size_t> operators_; /* each node's operator, as an index into the file */
};

/*
 * Finds the shapes of all tensors. TensorFlow Lite learns the sizes of some tensors only while the
 * model runs. Their axes are open if sizes differ from run to run, or from the file. If the model
 * cannot run, the shapes remain those of the file, and its parts are refused later.
 */
void TfliteGraph::findShapes()
{
	TfliteSelection all{ {}, tensors(graph().inputs()), {} };
	std::vector<HostValue> inputs;

	for (size_t i = 0; graph().operators() && i < graph().operators()->size(); i++) {
		const Tensors made = tensors(source(i).outputs());
		all.operators.push_back(static_cast<int32_t>(i));
		all.outputs.insert(all.outputs.end(), made.begin(), made.end());
	}
	const auto model = selectOperators(bytes_, all).and_then([](const auto &file) {
		return HostModel::open(file);
	});
	const auto said = model ? model->outputs() : Result<std::vector<HostValue>>();
	const auto isOpen = [](const HostValue &value) {
		return std::ranges::count(value.shape, -1) != 0;
	};
	if (!said)
		return;
	std::vector<HostValue> found = *said;
	if (std::ranges::any_of(found, isOpen)) {
		for (const int32_t id : all.inputs) {
			const auto desc = tensorOf(value(id).name);
			inputs.push_back(
				{ value(id).name, desc ? onnxType(desc->type) : 0, shapes_[id] });
		}
		found = tryNumbers(*model, inputs, {}, { 0.0f, std::nullopt }).outputs;
		found.resize(said->size());
	}
	for (size_t i = 0; i < found.size(); i++) {
		FileShape &shape = shapes_[all.outputs[i]];
		/* Take known shapes from TensorFlow Lite, too: the file may lack some of them. */
		if (!isOpen((*said)[i])) {
			shape = (*said)[i].shape;
		} else if (found[i].type) {
			shape = commonShape(found[i].shape, shape).value_or(found[i].shape);
			std::ranges::replace(shape, 0, -1);
		}
	}
}

TfliteGraph::TfliteGraph(std::span<const std::byte> file)
	: bytes_(file), file_(file), model_(valueOf(importTflite(file)))
{
	/* Fails before anything is compiled if TensorFlow Lite is not there. */
	valueOf(selectOperators(file, {}));
	nameTensors();
	for (const int32_t id : tensors(graph().inputs())) {
		inputs_.push_back(value(id).name);
		computed_.insert(id);
	}
	for (const int32_t id : tensors(graph().outputs()))
		outputs_.push_back(value(id).name);
	addStates();
	addOperators();
	findShapes();
	for (Value &value : model_.values)
		value.data = {}; /* the file has the constants */
}

/* Appends a tensor's number to its name if the name is empty, or another tensor has it. */
void TfliteGraph::nameTensors()
{
	for (size_t i = 0; i < graph().tensors()->size(); i++) {
		std::string &name = model_.values[i].name;
		const Extents &shape = model_.values[i].shape;
		if (name.empty() || numbers_.contains(name))
			name += fmt::format("#{}", i);
		numbers_[name] = static_cast<int32_t>(i);
		shapes_[numbers_[name]] = { shape.begin(), shape.end() };
	}
}

/* Makes each variable an input and an output; none, if a variable's new value is an output of the
 * model or is computed by no operator, or if operators share other state, such as hash tables.
 * Variable tensors stay in operators. */
void TfliteGraph::addStates()
{
	const size_t inputs = inputs_.size(), outputs = outputs_.size();

	for (size_t i = 0; graph().operators() && i < graph().operators()->size(); i++) {
		if (sharesState(kindOf(source(i))) && !tflite::isOfVariable(kindOf(source(i))))
			return;
	}
	for (const State &state : model_.states) {
		const ValueId input = model_.inputs[state.input],
			      output = model_.outputs[state.output];
		const std::string &name = model_.values[output].name;
		if (graph().tensors()->Get(static_cast<uint32_t>(input))->is_variable())
			continue;
		if (isOutput(name) || !model_.writer(output)) {
			inputs_.resize(inputs);
			outputs_.resize(outputs);
			return states_.clear();
		}
		states_.push_back({ inputs_.size(), outputs_.size(), state.first });
		inputs_.push_back(model_.values[input].name);
		outputs_.push_back(name);
		computed_.insert(static_cast<int32_t>(input));
	}
}

const fb::Operator &TfliteGraph::source(size_t index) const
{
	return *graph().operators()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

fb::BuiltinOperator TfliteGraph::kindOf(const fb::Operator &source) const
{
	return tflite::builtinCode(*file_.model().operator_codes()->Get(source.opcode_index()));
}

TfliteGraph::Tensors TfliteGraph::tensors(const flatbuffers::Vector<int32_t> *ids) const
{
	Tensors known;

	std::ranges::copy_if(tflite::numbersOf(ids), std::back_inserter(known), [&](int32_t id) {
		return id >= 0 && static_cast<size_t>(id) < graph().tensors()->size();
	});
	return known;
}

bool TfliteGraph::isConstant(const fb::Operator &source) const
{
	const fb::BuiltinOperator kind = kindOf(source);
	const Tensors inputs = tensors(source.inputs()), outputs = tensors(source.outputs());

	return !sharesState(kind) && kind != RANDOM_STANDARD_NORMAL && kind != RANDOM_UNIFORM &&
	       kind != MULTINOMIAL &&
	       std::ranges::all_of(inputs,
				   [&](int32_t id) {
					   return value(id).isConstant ||
						  constantMakers_.contains(id);
				   }) &&
	       std::ranges::none_of(outputs, [&](int32_t id) { return isOutput(value(id).name); });
}

void TfliteGraph::addOperators()
{
	std::vector<GraphNode> nodes;
	const size_t count = graph().operators() ? graph().operators()->size() : 0;

	for (size_t i = 0; i < count; i++) {
		const fb::Operator &operation = source(i);
		const Tensors outputs = tensors(operation.outputs());
		if (!states_.empty() && tflite::isOfVariable(kindOf(operation)))
			continue;
		if (isConstant(operation)) {
			for (const int32_t id : outputs)
				constantMakers_[id] = i;
			continue;
		}
		if (sharesState(kindOf(operation)))
			wholeBecause_ = "the model keeps numbers in variables or tables: "
					"TensorFlow Lite has them for the whole model";
		GraphNode &to = nodes.emplace_back();
		to.type = tflite::typeName(
			*file_.model().operator_codes()->Get(operation.opcode_index()));
		std::vector<FileShape> shapes;
		for (const int32_t id : tensors(operation.inputs())) {
			shapes.push_back(shapes_[id]);
			/* Leave out constants, and tensors with the operator's own state. */
			if (computed_.contains(id))
				to.inputs.push_back(value(id).name);
		}
		for (const int32_t id : outputs) {
			to.outputs.push_back(value(id).name);
			to.makesOutput |= isOutput(to.outputs.back());
		}
		if (!outputs.empty())
			to.macs = macsOf(to.type, shapes, shapes_[outputs[0]], SIZE_MAX);
		computed_.insert(outputs.begin(), outputs.end());
		operators_.push_back(i);
	}
	nodes_.emplace(std::move(nodes));
}

void TfliteGraph::addConstants(size_t index, std::set<int32_t> &operators) const
{
	for (const int32_t id : tensors(source(index).inputs())) {
		const auto maker = constantMakers_.find(id);
		if (maker != constantMakers_.end() &&
		    operators.insert(static_cast<int32_t>(maker->second)).second)
			addConstants(maker->second, operators);
	}
}

Result<TensorDesc> TfliteGraph::tensorOf(const std::string &name) const
{
	const int32_t id = numbers_.at(name);
	const auto type =
		dataTypeOf(graph().tensors()->Get(static_cast<flatbuffers::uoffset_t>(id))->type());
	auto desc = plainTensor(name, type, shapes_.at(id));

	/* A network's tensor has one scale. Only kernels have several, and no part has kernels as
	 * input or output. */
	const TensorQuantization &steps = value(id).quantization;
	if (desc && steps.values().size() == 1 && steps.channel(0).scale > 0 &&
	    (type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16))
		desc->quantization = steps;
	return desc;
}

ModelPart TfliteGraph::cut(std::span<const size_t> nodes, ModelPart part) const
{
	std::set<int32_t> constants;
	TfliteSelection selection;

	for (const std::string &name : part.inputs)
		selection.inputs.push_back(numbers_.at(name));
	for (const std::string &name : part.outputs)
		selection.outputs.push_back(numbers_.at(name));
	for (const size_t node : nodes)
		addConstants(operators_[node], constants);
	selection.operators.assign(constants.begin(), constants.end());
	part.before = constants.size();
	for (const size_t node : nodes)
		selection.operators.push_back(static_cast<int32_t>(operators_[node]));
	part.file = valueOf(selectOperators(bytes_, selection));
	return part;
}

} /* namespace */

std::unique_ptr<ModelGraph> readTfliteGraph(std::span<const std::byte> file)
{
	return std::make_unique<TfliteGraph>(file);
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "operator_reader.h"

namespace nvdla::compiler
{

namespace tflite
{

namespace
{

using enum fb::BuiltinOperator;

constexpr size_t maxRank = 6;

/* A resource variable */
struct Variable {
	std::optional<Value> first;	 /* value before the first run */
	std::optional<ValueId> read;	 /* output of READ_VARIABLE */
	std::optional<ValueId> assigned; /* value that is assigned last */
	bool isReadLate = false;	 /* read twice, or after an assignment in the same run */
};

class Reader : private Rules
{
public:
	explicit Reader(const fb::Model &source) : Rules(reading), source_(source) {}

	Model read();

private:
	void readQuantization(const fb::QuantizationParameters &from, Value &value,
			      const std::string &where) const;
	Value readValue(const fb::Tensor &tensor, const std::string &where) const;
	void readTensor(const fb::Tensor &tensor, size_t index);
	void readOperator(const fb::Operator &operation, size_t index);
	void followVariables(const fb::SubGraph &graph, bool isFirst);
	void addVariables();
	const fb::OperatorCode &codeOf(const fb::Operator &operation, size_t index) const;
	std::vector<ValueId> readIds(const flatbuffers::Vector<int32_t> *ids,
				     const char *field) const;

	const fb::Model &source_;
	legalize::Building building_;
	Model &model_ = building_.model;
	std::map<ValueId, Error> unknownTensors_; /* variables, and tensors of unsupported types */
	std::map<std::string, Variable> variables_;
	Result<void> haveStates_; /* an error if the variables are no states */
};

void Reader::readQuantization(const fb::QuantizationParameters &from, Value &value,
			      const std::string &where) const
{
	const auto given = numbersOf(from.scale());
	const std::vector<double> scales(given.begin(), given.end());
	const std::vector<int64_t> zeroPoints = numbersOf(from.zero_point());

	/* Other importers accept an axis beyond the shape, and use axis 0, that of kernels. */
	const auto axis = static_cast<uint32_t>(from.quantized_dimension());
	value.quantizedAxis = axis < value.shape.size() ? axis : 0;
	const size_t channels = value.shape.empty() ? 1 : value.shape[value.quantizedAxis];
	need(scales.size() <= 1 || scales.size() == channels, where,
	     fmt::format("{} scales for {} channels", scales.size(), channels));
	const auto quantization = quantizationFrom(scales, zeroPoints);
	need(quantization.has_value(), where,
	     fmt::format("scale {} with zero point {}", fmt::join(scales, ", "),
			 fmt::join(zeroPoints, ", ")));
	value.quantization = *quantization;
}

/* The value for a tensor of any graph in the file; without elements if its type is unsupported */
Value Reader::readValue(const fb::Tensor &tensor, const std::string &where) const
{
	Value value;

	value.name = tensor.name() ? tensor.name()->str() : "";
	const auto extents = numbersOf(tensor.shape());
	const auto shape = shapeFrom({ extents.begin(), extents.end() });
	need(shape && shape->size() <= maxRank, where,
	     fmt::format("of {} has too many axes or elements, or fewer than 0",
			 fmt::join(extents, " x ")));
	value.shape = *shape;
	const auto type = elementTypeOf(tensor.type());
	value.type = type.value_or(ElementType::Int64);
	if (!type)
		return value;
	if (tensor.quantization())
		readQuantization(*tensor.quantization(), value, where);
	const auto *buffers = source_.buffers();
	const size_t count = buffers ? buffers->size() : 0;
	need(!tensor.buffer() || tensor.buffer() < count, where,
	     fmt::format("names buffer {}, there are {}", tensor.buffer(), count));
	const auto *buffer = tensor.buffer() ? buffers->Get(tensor.buffer()) : nullptr;
	if (buffer && buffer->data() && buffer->data()->size()) {
		const auto *data = reinterpret_cast<const std::byte *>(buffer->data()->data());
		value.data = std::vector(data, data + buffer->data()->size());
		value.isConstant = true;
		if (tensor.sparsity())
			value.data =
				valueOf(densified(*tensor.sparsity(), value.data,
						  elementBytes(value.type), value.shape, where));
	}
	return value;
}

void Reader::readTensor(const fb::Tensor &tensor, size_t index)
{
	const std::string where =
		fmt::format("tensor {} '{}'", index, tensor.name() ? tensor.name()->str() : "");

	if (tensor.is_variable())
		unknownTensors_[index] = { ErrorCode::Unsupported, reading, where,
					   "keeps its numbers from run to run" };
	else if (!elementTypeOf(tensor.type()))
		unknownTensors_[index] = {
			ErrorCode::Unsupported, reading, where,
			fmt::format("tensor type {} is no type that tensors of the core have; use "
				    "integers of 8 or 16 bits, or float",
				    static_cast<int>(tensor.type()))
		};
	model_.values.push_back(readValue(tensor, where));
}

const fb::OperatorCode &Reader::codeOf(const fb::Operator &operation, size_t index) const
{
	const auto *codes = source_.operator_codes();
	const uint32_t code = operation.opcode_index(), count = codes ? codes->size() : 0;

	need(code < count, fmt::format("operator {}", index),
	     fmt::format("names code {}, there are {}", code, count));
	return *codes->Get(code);
}

void Reader::readOperator(const fb::Operator &operation, size_t index)
{
	const fb::OperatorCode &code = codeOf(operation, index);
	const bool isOfState = isOfVariable(builtinCode(code));
	const bool keepsTensors = stateOperators.contains(builtinCode(code));
	const size_t before = model_.operators.size(), states = building_.states.size();
	std::vector<int32_t> ids = numbersOf(operation.inputs());

	std::ranges::copy(numbersOf(operation.outputs()), std::back_inserter(ids));
	OperatorReader reader(building_, operation, typeName(code));
	const auto done = resultOf([&] {
		if (isOfState)
			return valueOf(haveStates_);
		reader.begin();
		for (const int32_t id : ids) {
			const auto found = unknownTensors_.find(static_cast<ValueId>(id));
			if (!keepsTensors && found != unknownTensors_.end())
				throw BrokenRule{ found->second };
		}
		reader.finish(compiler::tflite::readOperator(reader, code));
	});
	/* An unknown operator is no error yet: nothing may need it, or a report will name it. */
	if (!done) {
		model_.operators.resize(before);
		building_.states.resize(states);
		reader.addUnknown(done.error());
	}
	for (size_t i = before; i < model_.operators.size(); i++)
		model_.operators[i].index = index;
}

/* Collects the variables' values in the order of the operators, in which TensorFlow Lite runs them.
 * The graph that CALL_ONCE runs assigns the first values. */
void Reader::followVariables(const fb::SubGraph &graph, bool isFirst)
{
	std::map<int32_t, std::string> names; /* of variables, by id of the handle's tensor */

	for (uint32_t i = 0; graph.operators() && i < graph.operators()->size(); i++) {
		const fb::Operator &operation = *graph.operators()->Get(i);
		const fb::BuiltinOperator kind = builtinCode(codeOf(operation, i));
		const auto inputs = numbersOf(operation.inputs());
		const auto outputs = numbersOf(operation.outputs());
		const auto *handle = operation.builtin_options_as_VarHandleOptions();
		const auto *call = operation.builtin_options_as_CallOnceOptions();
		const auto callee = static_cast<uint32_t>(call ? call->init_subgraph_index() : 0);
		if (kind == CALL_ONCE && isFirst && callee && callee < source_.subgraphs()->size())
			followVariables(*source_.subgraphs()->Get(callee), false);
		if (handle && handle->shared_name() && outputs.size() == 1)
			names[outputs.front()] = handle->shared_name()->str();
		if (!isOfVariable(kind) || inputs.empty())
			continue;
		Variable &variable = variables_[names[inputs.front()]];
		if (kind == READ_VARIABLE && isFirst && outputs.size() == 1) {
			variable.isReadLate |= variable.read || variable.assigned;
			variable.read = static_cast<ValueId>(outputs.front());
		}
		if (kind == ASSIGN_VARIABLE && inputs.size() == 2) {
			const auto id = static_cast<uint32_t>(inputs[1]);
			if (isFirst)
				variable.assigned = id;
			else if (graph.tensors() && id < graph.tensors()->size())
				variable.first = readValue(*graph.tensors()->Get(id), "variable");
		}
	}
}

/* Makes variables states; throws if one cannot be a state. */
void Reader::addVariables()
{
	for (const auto &[name, variable] : variables_) {
		const auto isKnown = [this](ValueId id) {
			return id < model_.values.size() && !unknownTensors_.contains(id);
		};
		const std::string where = fmt::format("variable '{}'", name);
		if (!variable.read)
			continue;
		const ValueId before = *variable.read, after = variable.assigned.value_or(before);
		support(!variable.isReadLate, where, "is read twice, or after an assignment");
		support(variable.first && variable.first->isConstant, where, "has no first value");
		support(isKnown(before) && isKnown(after), where,
			"is of a type that no tensor has");
		const Value &value = model_.values[before], &next = model_.values[after];
		Value first = *variable.first;
		support(first.type == value.type && next.type == value.type &&
				next.shape == value.shape &&
				next.quantization == value.quantization,
			where, "gets values of different types or shapes");
		first.shape = value.shape;
		first.quantization = value.quantization;
		support(!bytesError(first), where, "has a first value of another size");
		const auto numbers = realNumbers(first);
		building_.states.push_back({ before, after, { numbers.begin(), numbers.end() } });
	}
}

std::vector<ValueId> Reader::readIds(const flatbuffers::Vector<int32_t> *ids,
				     const char *field) const
{
	std::vector<ValueId> values;

	for (const int32_t id : numbersOf(ids)) {
		need(id >= 0 && static_cast<size_t>(id) < model_.values.size(), field,
		     fmt::format("name tensor {}", id));
		values.push_back(static_cast<ValueId>(id));
	}
	need(!values.empty(), field, "the model has none");
	return values;
}

Model Reader::read()
{
	need(source_.subgraphs() && source_.subgraphs()->size(), "subgraphs", "there is none");
	const fb::SubGraph &graph = *source_.subgraphs()->Get(0);

	for (flatbuffers::uoffset_t i = 0; graph.tensors() && i < graph.tensors()->size(); i++)
		readTensor(*graph.tensors()->Get(i), i);
	const std::vector<ValueId> inputs = readIds(graph.inputs(), "inputs");
	model_.outputs = readIds(graph.outputs(), "outputs");
	followVariables(graph, true);
	haveStates_ = resultOf([&] { addVariables(); });
	if (!haveStates_)
		building_.states.clear();
	for (flatbuffers::uoffset_t i = 0; graph.operators() && i < graph.operators()->size(); i++)
		readOperator(*graph.operators()->Get(i), i);
	/* Leave out inputs that only gave a shape: the tensors have their shapes already. */
	std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(model_.inputs),
		     [this](ValueId id) {
			     return model_.values[id].type != ElementType::Int32 ||
				    !model_.readers(id).empty();
		     });
	for (legalize::KeptValue &state : building_.states) {
		model_.states.push_back(
			{ model_.inputs.size(), model_.outputs.size(), std::move(state.first) });
		model_.inputs.push_back(state.before);
		model_.outputs.push_back(state.after);
	}
	valueOf(model_.setAsideInvalid());
	return std::move(model_);
}

std::vector<std::byte> resized(std::span<const std::byte> bytes, std::span<const InputShape> shapes)
{
	const File file(bytes);
	const Model model = valueOf(importTflite(bytes));
	std::vector<std::string> names;
	std::vector<TfliteShape> changed;
	std::string where;

	/* The model lacks inputs that nothing reads, so look indices up in the file's inputs. */
	const auto &inputs = *file.model().subgraphs()->Get(0)->inputs();
	for (size_t i = 0; i < model.givenInputs(); i++)
		names.push_back(model.values[model.inputs[i]].name);
	const GivenShapes given = valueOf(givenShapes(shapes, names));
	for (size_t i = 0; i < names.size(); i++) {
		const auto shape = given.find(names[i]);
		const Extents &known = model.values[model.inputs[i]].shape;
		if (shape == given.end() || shape->second == known)
			continue;
		const auto place = std::ranges::find(inputs, model.inputs[i]) - inputs.begin();
		changed.push_back({ static_cast<int32_t>(place),
				    { shape->second.begin(), shape->second.end() } });
		if (where.empty())
			where = fmt::format("input '{}' as {}, not {}", names[i],
					    toString(shape->second), toString(known));
	}
	if (changed.empty())
		return { bytes.begin(), bytes.end() };
	auto made = resizeTensors(bytes, changed);
	if (!made)
		refuse(made.error().code, reading, where,
		       fmt::format("only TensorFlow Lite knows the sizes of everything behind it: "
				   "{}",
				   made.error().message()));
	return std::move(*made);
}

} /* namespace */

} /* namespace tflite */

Result<Model> importTflite(std::span<const std::byte> bytes)
{
	return resultOf([&] { return tflite::Reader(tflite::File(bytes).model()).read(); });
}

Result<std::vector<std::byte>> resizedTflite(std::span<const std::byte> bytes,
					     std::span<const InputShape> shapes)
{
	return resultOf([&] { return tflite::resized(bytes, shapes); });
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "file.h"
#include "operator_reader.h"

namespace nvdla::compiler
{

namespace tflite
{

namespace
{

using enum fb::BuiltinOperator;

constexpr size_t maxRank = 6;

[[noreturn]] void damaged(const std::string &where, const std::string &why)
{
	refuse(ErrorCode::InvalidFile, reading, where, why);
}

/* Copies the elements, which may be unaligned: FlatBuffers checks only a vector's length. */
std::vector<int64_t> copyOf(const flatbuffers::Vector<int64_t> *from)
{
	std::vector<int64_t> numbers(from ? from->size() : 0);

	if (!numbers.empty())
		std::memcpy(numbers.data(), from->Data(), numbers.size() * sizeof(int64_t));
	return numbers;
}

void readQuantization(const fb::QuantizationParameters &from, Value &value,
		      const std::string &where)
{
	std::vector<double> scales;
	const std::vector<int64_t> zeroPoints = copyOf(from.zero_point());

	if (from.scale())
		scales.assign(from.scale()->begin(), from.scale()->end());
	/* Other importers accept an axis beyond the shape, and take the axis of kernels for it. */
	const auto axis = static_cast<uint32_t>(from.quantized_dimension());
	value.quantizedAxis = axis < value.shape.size() ? axis : 0;
	const size_t channels = value.shape.empty() ? 1 : value.shape[value.quantizedAxis];
	if (scales.size() > 1 && scales.size() != channels)
		damaged(where, fmt::format("{} scales for {} channels", scales.size(), channels));
	const auto quantization = quantizationFrom(scales, zeroPoints);
	if (!quantization)
		damaged(where, fmt::format("scale {} with zero point {}", fmt::join(scales, ", "),
					   fmt::join(zeroPoints, ", ")));
	value.quantization = *quantization;
}

/* A resource variable */
struct Variable {
	std::optional<Value> first;	 /* what it is before the first run */
	std::optional<ValueId> read;	 /* what READ_VARIABLE makes */
	std::optional<ValueId> assigned; /* what is assigned last */
	bool isReadLate = false;	 /* a second time, or after an assignment */
};

class Reader
{
public:
	explicit Reader(const fb::Model &source) : source_(source) {}

	Model read();

private:
	Value readValue(const fb::Tensor &tensor, const std::string &where) const;
	void readTensor(const fb::Tensor &tensor, size_t index);
	void readOperator(const fb::Operator &operation, size_t index);
	void followVariables(const fb::SubGraph &graph, bool isFirst);
	void addVariables();
	const fb::OperatorCode &codeOf(const fb::Operator &operation, size_t index) const;
	/* Throws the error of the first unknown tensor that an operator reads or writes. */
	void needKnownTensors(const fb::Operator &operation) const;
	std::vector<ValueId> readIds(const flatbuffers::Vector<int32_t> *ids,
				     const char *field) const;

	const fb::Model &source_;
	legalize::Building building_;
	Model &model_ = building_.model;
	std::map<ValueId, Error> unknownTensors_; /* of types that nothing computes with */
	std::map<std::string, Variable> variables_;
	Result<void> haveStates_; /* an error if the variables are no states */
};

/* A tensor of any graph; without elements if nothing computes with its type */
Value Reader::readValue(const fb::Tensor &tensor, const std::string &where) const
{
	Value value;

	value.name = tensor.name() ? tensor.name()->str() : "";
	const auto extents = numbersOf(tensor.shape());
	const auto shape = shapeFrom({ extents.begin(), extents.end() });
	if (!shape || shape->size() > maxRank)
		damaged(where, fmt::format("of {} has too many axes or elements, or fewer than 0",
					   fmt::join(extents, " x ")));
	value.shape = *shape;
	const auto type = elementTypeOf(tensor.type());
	value.type = type.value_or(ElementType::Int64);
	if (!type)
		return value;
	if (tensor.quantization())
		readQuantization(*tensor.quantization(), value, where);
	const auto *buffers = source_.buffers();
	if (tensor.buffer() && (!buffers || tensor.buffer() >= buffers->size()))
		damaged(where, fmt::format("names buffer {}, there are {}", tensor.buffer(),
					   buffers ? buffers->size() : 0));
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

void Reader::needKnownTensors(const fb::Operator &operation) const
{
	for (const auto *ids : { operation.inputs(), operation.outputs() }) {
		for (const int32_t id : numbersOf(ids)) {
			const auto found = unknownTensors_.find(static_cast<ValueId>(id));
			if (found != unknownTensors_.end())
				throw BrokenRule{ found->second };
		}
	}
}

const fb::OperatorCode &Reader::codeOf(const fb::Operator &operation, size_t index) const
{
	const auto *codes = source_.operator_codes();
	const uint32_t code = operation.opcode_index();

	if (!codes || code >= codes->size())
		damaged(fmt::format("operator {}", index),
			fmt::format("names code {}, there are {}", code,
				    codes ? codes->size() : 0));
	return *codes->Get(code);
}

void Reader::readOperator(const fb::Operator &operation, size_t index)
{
	const fb::OperatorCode &code = codeOf(operation, index);
	const bool isOfState = isOfVariable(builtinCode(code));
	const size_t before = model_.operators.size(), states = building_.states.size();

	if (isOfState && haveStates_)
		return;
	OperatorReader reader(building_, operation, typeName(code));
	const auto done = resultOf([&] {
		if (isOfState)
			throw BrokenRule{ haveStates_.error() };
		reader.begin();
		if (!stateOperators.contains(builtinCode(code)))
			needKnownTensors(operation);
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

/* In the order of the operators, in which TensorFlow Lite runs them; CALL_ONCE runs another graph.
 */
void Reader::followVariables(const fb::SubGraph &graph, bool isFirst)
{
	std::map<int32_t, std::string> names; /* by the handle's tensor */

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
		const auto support = [&name](bool fulfilled, const char *why) {
			if (!fulfilled)
				refuse(ErrorCode::Unsupported, reading,
				       fmt::format("variable '{}'", name), why);
		};
		if (!variable.read)
			continue;
		const ValueId before = *variable.read, after = variable.assigned.value_or(before);
		support(!variable.isReadLate, "is read twice, or after an assignment");
		support(variable.first && variable.first->isConstant, "has no first value");
		support(isKnown(before) && isKnown(after), "is of a type that no tensor has");
		const Value &value = model_.values[before], &next = model_.values[after];
		Value first = *variable.first;
		support(first.type == value.type && next.type == value.type &&
				next.shape == value.shape &&
				next.quantization == value.quantization,
			"gets values of different types or shapes");
		first.shape = value.shape;
		first.quantization = value.quantization;
		support(!bytesError(first), "has a first value of another size");
		const auto numbers = realNumbers(first);
		building_.states.push_back({ before, after, { numbers.begin(), numbers.end() } });
	}
}

std::vector<ValueId> Reader::readIds(const flatbuffers::Vector<int32_t> *ids,
				     const char *field) const
{
	std::vector<ValueId> values;

	for (const int32_t id : numbersOf(ids)) {
		if (id < 0 || static_cast<size_t>(id) >= model_.values.size())
			damaged(field, fmt::format("name tensor {}", id));
		values.push_back(static_cast<ValueId>(id));
	}
	if (values.empty())
		damaged(field, "the model has none");
	return values;
}

Model Reader::read()
{
	if (!source_.subgraphs() || !source_.subgraphs()->size())
		damaged("subgraphs", "there is none");
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

	/* The model may have fewer: those that nothing reads are left out. */
	const auto &inputs = *file.model().subgraphs()->Get(0)->inputs();
	for (const ValueId id : model.inputs)
		names.push_back(model.values[id].name);
	const GivenShapes given = valueOf(givenShapes(shapes, names));
	for (size_t i = 0; i < names.size(); i++) {
		const auto shape = given.find(names[i]);
		const Extents &known = model.values[model.inputs[i]].shape;
		if (shape == given.end() || Extents(shape->second) == known)
			continue;
		const auto place = std::ranges::find(inputs, model.inputs[i]) - inputs.begin();
		changed.push_back({ static_cast<int32_t>(place),
				    { shape->second.begin(), shape->second.end() } });
		if (where.empty())
			where = fmt::format("input '{}' as {}, not {}", names[i],
					    toString(Extents(shape->second)), toString(known));
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

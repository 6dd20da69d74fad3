/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <cstring>
#include <map>

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

class Reader
{
public:
	explicit Reader(const fb::Model &source) : source_(source) {}

	Model read();

private:
	void readTensor(const fb::Tensor &tensor, size_t index);
	void readOperator(const fb::Operator &operation, size_t index);
	/* Throws the error of the first unknown tensor that an operator reads or writes. */
	void needKnownTensors(const fb::Operator &operation) const;
	std::vector<ValueId> readIds(const flatbuffers::Vector<int32_t> *ids,
				     const char *field) const;

	const fb::Model &source_;
	legalize::Building building_;
	Model &model_ = building_.model;
	std::map<ValueId, Error> unknownTensors_; /* of types that nothing computes with */
};

void Reader::readTensor(const fb::Tensor &tensor, size_t index)
{
	Value value;

	value.name = tensor.name() ? tensor.name()->str() : "";
	const std::string where = fmt::format("tensor {} '{}'", index, value.name);
	const auto extents = numbersOf(tensor.shape());
	const auto shape = shapeFrom({ extents.begin(), extents.end() });
	if (!shape || shape->size() > maxRank)
		damaged(where, fmt::format("of {} has too many axes or elements, or fewer than 0",
					   fmt::join(extents, " x ")));
	value.shape = *shape;
	const auto type = elementTypeOf(tensor.type());
	value.type = type.value_or(ElementType::Int64);
	if (!type || tensor.is_variable()) {
		const std::string why =
			tensor.is_variable()
				? "keeps its numbers from run to run"
				: fmt::format("tensor type {} is no type that tensors of the core "
					      "have; use integers of 8 or 16 bits, or float",
					      static_cast<int>(tensor.type()));
		unknownTensors_[index] = { ErrorCode::Unsupported, reading, where, why };
		model_.values.push_back(std::move(value));
		return;
	}
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
	model_.values.push_back(std::move(value));
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

void Reader::readOperator(const fb::Operator &operation, size_t index)
{
	const auto *codes = source_.operator_codes();
	const uint32_t code = operation.opcode_index();

	if (!codes || code >= codes->size())
		damaged(fmt::format("operator {}", index),
			fmt::format("names code {}, there are {}", code,
				    codes ? codes->size() : 0));
	const auto *entry = codes->Get(code);
	const size_t before = model_.operators.size();
	OperatorReader reader(building_, operation, typeName(*entry));
	const auto done = resultOf([&] {
		reader.begin();
		needKnownTensors(operation);
		reader.finish(compiler::tflite::readOperator(reader, *entry));
	});
	/* An unknown operator is no error yet: nothing may need it, or a report will name it. */
	if (!done) {
		model_.operators.resize(before);
		reader.addUnknown(done.error());
	}
	for (size_t i = before; i < model_.operators.size(); i++)
		model_.operators[i].index = index;
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
	for (flatbuffers::uoffset_t i = 0; graph.operators() && i < graph.operators()->size(); i++)
		readOperator(*graph.operators()->Get(i), i);
	/* Leave out inputs that only gave a shape: the tensors have their shapes already. */
	std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(model_.inputs),
		     [this](ValueId id) {
			     return model_.values[id].type != ElementType::Int32 ||
				    !model_.readers(id).empty();
		     });
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

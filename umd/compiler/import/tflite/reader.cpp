/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <cmath>
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

tl::unexpected<Error> damaged(const std::string &where, const std::string &why)
{
	return fail(ErrorCode::InvalidFile, reading, where, why);
}

/* FlatBuffers checks only the alignment of a vector's length: copy the elements, which may be
 * unaligned. */
std::vector<int64_t> copyOf(const flatbuffers::Vector<int64_t> *from)
{
	std::vector<int64_t> numbers(from ? from->size() : 0);

	if (!numbers.empty())
		std::memcpy(numbers.data(), from->Data(), numbers.size() * sizeof(int64_t));
	return numbers;
}

Result<void> readQuantization(const fb::QuantizationParameters &from, Value &value,
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
		return damaged(where,
			       fmt::format("{} scales for {} channels", scales.size(), channels));
	const auto quantization = quantizationFrom(scales, zeroPoints);
	if (!quantization)
		return damaged(where,
			       fmt::format("scale {} with zero point {}", fmt::join(scales, ", "),
					   fmt::join(zeroPoints, ", ")));
	value.quantization = *quantization;
	return {};
}

class Reader
{
public:
	explicit Reader(const fb::Model &source) : source_(source) {}

	Result<Model> read();

private:
	Result<void> readTensor(const fb::Tensor &tensor, size_t index);
	Result<void> readOperator(const fb::Operator &operation, size_t index);
	/* Replaces the operators made of an unsupported one by an Unknown with the reason. */
	Result<void> setAside(OperatorReader &reader, size_t before, size_t index,
			      const Error &why);
	/* Error of the first unknown tensor that an operator reads or writes. */
	const Error *unknownTensor(const fb::Operator &operation) const;
	Result<std::vector<ValueId>> readIds(const flatbuffers::Vector<int32_t> *ids,
					     const char *field) const;

	const fb::Model &source_;
	legalize::Building building_;
	Model &model_ = building_.model;
	std::map<ValueId, Error> unknownTensors_; /* of types that nothing computes with */
};

Result<void> Reader::readTensor(const fb::Tensor &tensor, size_t index)
{
	Value value;

	value.name = tensor.name() ? tensor.name()->str() : "";
	const std::string where = fmt::format("tensor {} '{}'", index, value.name);
	const auto extents = numbersOf(tensor.shape());
	const auto shape = shapeFrom({ extents.begin(), extents.end() });
	if (!shape || shape->size() > maxRank)
		return damaged(where,
			       fmt::format("of {} has too many axes or elements, or fewer than 0",
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
		return {};
	}
	if (tensor.quantization()) {
		auto done = readQuantization(*tensor.quantization(), value, where);
		if (!done)
			return done;
	}
	const auto *buffers = source_.buffers();
	if (tensor.buffer() && (!buffers || tensor.buffer() >= buffers->size()))
		return damaged(where, fmt::format("names buffer {}, there are {}", tensor.buffer(),
						  buffers ? buffers->size() : 0));
	const auto *buffer = tensor.buffer() ? buffers->Get(tensor.buffer()) : nullptr;
	if (buffer && buffer->data() && buffer->data()->size()) {
		const auto *data = reinterpret_cast<const std::byte *>(buffer->data()->data());
		value.data.assign(data, data + buffer->data()->size());
		value.isConstant = true;
		if (tensor.sparsity()) {
			auto dense = densified(*tensor.sparsity(), value.data,
					       elementBytes(value.type), value.shape, where);
			if (!dense)
				return forward(dense);
			value.data = std::move(*dense);
		}
	}
	model_.values.push_back(std::move(value));
	return {};
}

Result<void> Reader::setAside(OperatorReader &reader, size_t before, size_t index, const Error &why)
{
	model_.operators.resize(before);
	reader.addUnknown(why);
	model_.operators.back().index = index;
	return {};
}

const Error *Reader::unknownTensor(const fb::Operator &operation) const
{
	for (const auto *ids : { operation.inputs(), operation.outputs() }) {
		for (const int32_t id : numbersOf(ids)) {
			const auto found = unknownTensors_.find(static_cast<ValueId>(id));
			if (found != unknownTensors_.end())
				return &found->second;
		}
	}
	return nullptr;
}

Result<void> Reader::readOperator(const fb::Operator &operation, size_t index)
{
	const auto *codes = source_.operator_codes();
	const uint32_t code = operation.opcode_index();

	if (!codes || code >= codes->size())
		return damaged(fmt::format("operator {}", index),
			       fmt::format("names code {}, there are {}", code,
					   codes ? codes->size() : 0));
	const auto *entry = codes->Get(code);
	const size_t before = model_.operators.size();
	OperatorReader reader(building_, operation, typeName(*entry));
	if (!reader.failed())
		reader.finish(compiler::tflite::readOperator(reader, *entry));
	if (const Error *why = unknownTensor(operation))
		return setAside(reader, before, index, *why);
	/* An unknown operator is no error yet: nothing may need it, or a report will name it. */
	if (const auto done = reader.result(); !done)
		return setAside(reader, before, index, done.error());
	for (size_t i = before; i < model_.operators.size(); i++)
		model_.operators[i].index = index;
	return {};
}

Result<std::vector<ValueId>> Reader::readIds(const flatbuffers::Vector<int32_t> *ids,
					     const char *field) const
{
	std::vector<ValueId> values;

	for (const int32_t id : numbersOf(ids)) {
		if (id < 0 || static_cast<size_t>(id) >= model_.values.size())
			return damaged(field, fmt::format("name tensor {}", id));
		values.push_back(static_cast<ValueId>(id));
	}
	if (values.empty())
		return damaged(field, "the model has none");
	return values;
}

Result<Model> Reader::read()
{
	if (!source_.subgraphs() || !source_.subgraphs()->size())
		return damaged("subgraphs", "there is none");
	const fb::SubGraph &graph = *source_.subgraphs()->Get(0);

	for (flatbuffers::uoffset_t i = 0; graph.tensors() && i < graph.tensors()->size(); i++) {
		if (auto done = readTensor(*graph.tensors()->Get(i), i); !done)
			return forward(done);
	}
	auto inputs = readIds(graph.inputs(), "inputs");
	if (!inputs)
		return forward(inputs);
	auto outputs = readIds(graph.outputs(), "outputs");
	if (!outputs)
		return forward(outputs);
	for (flatbuffers::uoffset_t i = 0; graph.operators() && i < graph.operators()->size();
	     i++) {
		if (auto done = readOperator(*graph.operators()->Get(i), i); !done)
			return forward(done);
	}
	/* Leave out inputs that only gave a shape: the tensors have their shapes already. */
	std::copy_if(inputs->begin(), inputs->end(), std::back_inserter(model_.inputs),
		     [this](ValueId id) {
			     return model_.values[id].type != ElementType::Int32 ||
				    !model_.readers(id).empty();
		     });
	model_.outputs = std::move(*outputs);
	if (auto checked = model_.setAsideInvalid(); !checked)
		return forward(checked);
	return std::move(model_);
}

} /* namespace */

} /* namespace tflite */

Result<Model> importTflite(std::span<const std::byte> bytes)
{
	auto file = tflite::File::open(bytes);

	if (!file)
		return forward(file);
	return tflite::Reader(file->model()).read();
}

Result<std::vector<std::byte>> resizedTflite(std::span<const std::byte> bytes,
					     std::span<const InputShape> shapes)
{
	auto file = tflite::File::open(bytes);
	auto model = importTflite(bytes);
	std::vector<std::string> names;
	std::vector<TfliteShape> changed;
	std::string where;

	if (!model)
		return forward(model);
	/* The model may have fewer: those that nothing reads are left out. */
	const auto &inputs = *file->model().subgraphs()->Get(0)->inputs();
	for (const ValueId id : model->inputs)
		names.push_back(model->values[id].name);
	auto given = givenShapes(shapes, names);
	if (!given)
		return forward(given);
	for (size_t i = 0; i < names.size(); i++) {
		const auto shape = given->find(names[i]);
		const Extents &known = model->values[model->inputs[i]].shape;
		if (shape == given->end() || Extents(shape->second) == known)
			continue;
		const auto place = std::ranges::find(inputs, model->inputs[i]) - inputs.begin();
		changed.push_back({ static_cast<int32_t>(place),
				    { shape->second.begin(), shape->second.end() } });
		if (where.empty())
			where = fmt::format("input '{}' as {}, not {}", names[i],
					    toString(Extents(shape->second)), toString(known));
	}
	if (changed.empty())
		return std::vector(bytes.begin(), bytes.end());
	auto resized = resizeTensors(bytes, changed);
	if (!resized)
		return fail(
			resized.error().code, tflite::reading, where,
			fmt::format(
				"only TensorFlow Lite knows the sizes of everything behind it: {}",
				resized.error().message()));
	return resized;
}

} /* namespace nvdla::compiler */

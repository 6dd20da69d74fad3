/* SPDX-License-Identifier: MIT */
#include "operator_reader.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla::compiler::tflite
{

OperatorReader::OperatorReader(legalize::Building &building, const fb::Operator &source,
			       const std::string &type)
	: OperandReader(reading, building, legalize::asInFile(4)), source_(source)
{
	setOperator(type, "");
}

void OperatorReader::begin()
{
	const Value &first = output(0);

	setOperator(type(), first.name);
	setResults({ first.type, first.quantization });
}

ValueId OperatorReader::id(const std::vector<int32_t> &ids, size_t index, const char *field)
{
	need(index < ids.size(), field,
	     fmt::format("has {} entries, entry {} is needed", ids.size(), index));
	const int32_t id = ids[index];
	need(id >= 0 && static_cast<size_t>(id) < model().values.size(), field,
	     fmt::format("entry {} is tensor {}, there are {}", index, id, model().values.size()));
	return static_cast<ValueId>(id);
}

Tensor OperatorReader::tensor(size_t index)
{
	const ValueId from = id(inputs_, index, "inputs");
	const Value &value = model().values[from];
	if (const auto error = bytesError(value))
		need(false, fmt::format("input {}", index),
		     fmt::format("'{}' {}", value.name, error->why));
	return { from, value.shape, legalize::asInFile(value.shape.size()) };
}

Tensor OperatorReader::state(size_t index, const Extents &shape)
{
	const ValueId from = id(inputs_, index, "inputs");
	Value &value = model().values[from];

	need(!value.isConstant && !writer(from), fmt::format("input {}", index),
	     "is no variable tensor");
	need(elementCount(value.shape) == elementCount(shape), fmt::format("input {}", index),
	     fmt::format("is {}; {} numbers are needed", toString(value.shape),
			 elementCount(shape)));
	value.shape = shape;
	return { from, shape, legalize::asInFile(shape.size()) };
}

const Value &OperatorReader::output(size_t index)
{
	return model().values[id(outputs_, index, "outputs")];
}

Clamp OperatorReader::clamp(fb::Activation activation)
{
	static const std::map<fb::Activation, Clamp> clamps = {
		{ fb::Activation::NONE, {} },
		{ fb::Activation::RELU, { .low = 0 } },
		{ fb::Activation::RELU_N1_TO_1, { -1, 1 } },
		{ fb::Activation::RELU6, { 0, 6 } },
	};
	const auto found = clamps.find(activation);

	support(found != clamps.end(), "fused activation",
		fmt::format("{} is not known; make it an operator of its own",
			    static_cast<int>(activation)));
	return found->second;
}

Clamp OperatorReader::activation()
{
	auto activation = fb::Activation::NONE;
	const auto take = [&](const auto *options) {
		activation = options ? options->activation() : activation;
	};

	take(source_.builtin_options_as_AddOptions());
	take(source_.builtin_options_as_SubOptions());
	take(source_.builtin_options_as_MulOptions());
	take(source_.builtin_options_as_DivOptions());
	take(source_.builtin_options_as_L2NormOptions());
	return clamp(activation);
}

void OperatorReader::write(const Tensor &result, size_t index)
{
	const auto sizesOf = [](Extents shape) {
		std::erase(shape, 1U);
		return shape;
	};
	const ValueId to = id(outputs_, index, "outputs");
	const Extents wanted = output(index).shape;
	const bool isAlike = sizesOf(result.shape) == sizesOf(wanted);
	const Tensor made = isAlike ? inShape(result, wanted) : result;

	need(made.shape == wanted, "shape",
	     fmt::format("the output is {}, the operator makes {}", toString(wanted),
			 toString(made.shape)));
	Tensor tensor = inOrder(made, legalize::asInFile(wanted.size()));
	/* A tensor that existed before is copied by an operator without effect, a Reshape. */
	if (!isConstant(tensor) && !newWriter(tensor.id))
		tensor = move(Reshape{}, tensor, tensor);
	const Value from = value(tensor);
	Value &value = model().values[to];
	if (from.isConstant) {
		const std::string name = value.name;
		value = from;
		value.name = name;
		return;
	}
	/* The core and the CPU's steps have at most 16 bits for integers such as indices. */
	if (value.type == ElementType::Int32 || value.type == ElementType::Int64) {
		value.type = from.type;
		value.quantization = from.quantization;
	}
	becomes(tensor.id, to);
}

void OperatorReader::addUnknown(const Error &why)
{
	const auto known = [this](const std::vector<int32_t> &ids) {
		std::vector<ValueId> found(ids.begin(), ids.end());
		std::erase_if(found, [this](ValueId id) { return id >= model().values.size(); });
		return found;
	};
	model().operators.push_back(
		{ name(), type(), Unknown{ why }, known(inputs_), known(outputs_) });
}

} /* namespace nvdla::compiler::tflite */

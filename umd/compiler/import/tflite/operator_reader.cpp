/* SPDX-License-Identifier: MIT */
#include "operator_reader.h"

#include <fmt/core.h>

namespace nvdla::compiler::tflite
{

OperatorReader::OperatorReader(Model &model, const fb::Operator &source, const char *type)
	: Rules(reading), model_(model), source_(source), type_(type)
{
	setOperator(type_, name_);
	const ValueId first = output(0);

	if (failed())
		return;
	name_ = model_.values[first].name;
	setOperator(type_, name_);
}

ValueId OperatorReader::id(const flatbuffers::Vector<int32_t> *ids, size_t index, const char *field)
{
	if (!need(ids && index < ids->size(), field,
		  fmt::format("has {} entries, entry {} is needed", ids ? ids->size() : 0, index)))
		return 0;
	const int32_t id = ids->Get(static_cast<flatbuffers::uoffset_t>(index));
	if (!need(id >= 0 && static_cast<size_t>(id) < model_.values.size(), field,
		  fmt::format("entry {} is tensor {}, there are {}", index, id,
			      model_.values.size())))
		return 0;
	return static_cast<ValueId>(id);
}

bool OperatorReader::hasInput(size_t index) const
{
	return index < inputs() &&
	       source_.inputs()->Get(static_cast<flatbuffers::uoffset_t>(index)) >= 0;
}

ValueId OperatorReader::input(size_t index)
{
	return id(source_.inputs(), index, "inputs");
}

ValueId OperatorReader::output(size_t index)
{
	return id(source_.outputs(), index, "outputs");
}

const Value &OperatorReader::value(ValueId id) const
{
	return failed() || id >= model_.values.size() ? none_ : model_.values[id];
}

const Value &OperatorReader::constant(size_t index)
{
	const ValueId id = input(index);

	if (failed())
		return none_;
	support(model_.values[id].isConstant, fmt::format("input {}", index),
		fmt::format("'{}' is computed by the model; it has to be a constant",
			    model_.values[id].name));
	const Value &constant = model_.values[id];
	const uint64_t bytes = elementCount(constant.shape) * elementBytes(constant.type);
	need(failed() || constant.data.size() == bytes, fmt::format("input {}", index),
	     fmt::format("'{}' has {} bytes, its shape and type need {}", constant.name,
			 constant.data.size(), bytes));
	return value(id);
}

void OperatorReader::supportElements(ValueId id)
{
	const ElementType type = value(id).type;

	support(failed() || (type != ElementType::Int32 && type != ElementType::Int64), "type",
		fmt::format("of '{}' is {}; int8, uint8, int16 and float are known", value(id).name,
			    elementTypeName(type)));
}

void OperatorReader::supportFloat(ValueId id)
{
	const ElementType type = value(id).type;

	support(failed() || isFloat(type), "type",
		fmt::format("of '{}' is {}; float is known", value(id).name,
			    elementTypeName(type)));
}

std::vector<int64_t> OperatorReader::numbers(size_t index)
{
	const Value &value = constant(index);

	need(value.type == ElementType::Int32 || value.type == ElementType::Int64 || failed(),
	     fmt::format("input {}", index),
	     fmt::format("is {}, int32 is needed", elementTypeName(value.type)));
	if (failed())
		return {};
	return wholeNumbers(value);
}

Clamp OperatorReader::clamp(fb::Activation activation)
{
	switch (activation) {
	case fb::Activation::NONE:
		return {};
	case fb::Activation::RELU:
		return { .low = 0 };
	case fb::Activation::RELU_N1_TO_1:
		return { -1, 1 };
	case fb::Activation::RELU6:
		return { 0, 6 };
	default:
		break;
	}
	support(false, "fused activation",
		fmt::format("{} is not known; make it an operator of its own",
			    static_cast<int>(activation)));
	return {};
}

ValueId OperatorReader::addConstant(Value value)
{
	value.isConstant = true;
	return model_.add(std::move(value));
}

ValueId OperatorReader::addBetween(ValueId like, const Extents &shape)
{
	Value between;

	if (failed())
		return 0;
	between.name = fmt::format("{} before {}", name_, model_.values.size());
	between.type = value(like).type;
	between.quantization = value(like).quantization;
	between.shape = shape;
	return model_.add(std::move(between));
}

void OperatorReader::add(Kind kind, std::vector<ValueId> inputs, std::vector<ValueId> outputs)
{
	if (!failed())
		model_.operators.push_back({ value(outputs.front()).name, type_, std::move(kind),
					     std::move(inputs), std::move(outputs) });
}

void OperatorReader::makeIndices(ValueId id)
{
	if (failed())
		return;
	model_.values[id].type = ElementType::Int16;
	model_.values[id].quantization = Quantization{ 1, 0 };
}

void OperatorReader::addUnknown(const Error &why)
{
	auto known = [this](const flatbuffers::Vector<int32_t> *ids) {
		std::vector<ValueId> found;
		for (const int32_t id :
		     ids ? std::vector<int32_t>(ids->begin(), ids->end()) : std::vector<int32_t>{})
			if (id >= 0 && static_cast<size_t>(id) < model_.values.size())
				found.push_back(static_cast<ValueId>(id));
		return found;
	};
	model_.operators.push_back({ name_, type_, Unknown{ why }, known(source_.inputs()),
				     known(source_.outputs()) });
}

void OperatorReader::alias(ValueId output, const Value &constant)
{
	if (failed())
		return;
	const Value same = constant;
	Value &value = model_.values[output];
	const std::string name = value.name;
	value = same;
	value.name = name;
}

} /* namespace nvdla::compiler::tflite */

/* SPDX-License-Identifier: MIT */
#include "node_reader.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla::compiler::onnx
{

legalize::AxisOrder channelsLast(size_t rank)
{
	constexpr size_t pictureRank = 4;

	return rank == pictureRank ? legalize::AxisOrder{ 0, 2, 3, 1 } : legalize::asInFile(rank);
}

NodeReader::NodeReader(Import &import, const pb::Node &node)
	: Builder(reading, import, channelsLast(4)), import_(import), node_(node)
{
	setOperator(node.op_type(), node.output_size() ? node.output(0) : node.name());
	need(node.output_size() > 0, "output", "is missing");
}

const pb::Attribute *NodeReader::attribute(const std::string &name) const
{
	const auto &all = node_.attribute();
	const auto found = std::find_if(all.begin(), all.end(), [&](const pb::Attribute &one) {
		return one.name() == name;
	});

	return found == all.end() ? nullptr : &*found;
}

std::vector<int64_t> NodeReader::integers(const std::string &name) const
{
	const pb::Attribute *found = attribute(name);

	return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end())
		     : std::vector<int64_t>{};
}

Tensor NodeReader::input(size_t index)
{
	if (!need(hasInput(index), fmt::format("input {}", index), "is missing"))
		return {};
	const std::string &name = node_.input(static_cast<int>(index));
	const auto found = import_.tensors.find(name);
	if (!need(found != import_.tensors.end(), fmt::format("input {}", index),
		  fmt::format("is '{}', which nothing before it writes", name)))
		return {};
	if (!found->second.isKnown) {
		follows_ = follows_ || !failed();
		support(false, fmt::format("input {}", index),
			fmt::format("is '{}', whose shape is not known, as the operator that "
				    "makes it is not",
				    name));
		return {};
	}
	return found->second;
}

std::vector<Tensor> NodeReader::allInputs()
{
	std::vector<Tensor> all;

	for (size_t i = 0; i < std::max<size_t>(inputs(), 1); i++)
		all.push_back(input(i));
	return all;
}

const Value &NodeReader::constant(size_t index)
{
	const Value &value = this->value(index);

	if (!failed())
		support(value.isConstant, fmt::format("input {}", index),
			fmt::format("'{}' is computed by the model; it has to be a constant",
				    value.name));
	return failed() ? none_ : value;
}

std::vector<int64_t> NodeReader::wholeNumbers(size_t index)
{
	if (!hasInput(index))
		return {};
	const Value &value = constant(index);
	if (failed())
		return {};
	need(!isFloat(value.type), fmt::format("input {}", index),
	     fmt::format("is {}, integers are needed", elementTypeName(value.type)));
	return compiler::wholeNumbers(value);
}

double NodeReader::scalar(size_t index, double usual)
{
	if (!hasInput(index))
		return usual;
	const std::vector<double> numbers = rawNumbers(constant(index));
	support(failed() || numbers.size() == 1, fmt::format("input {}", index),
		fmt::format("has {} numbers, one is needed", numbers.size()));
	return failed() ? usual : numbers.front();
}

void NodeReader::quantize(const Tensor &tensor, const TensorQuantization &quantization)
{
	if (failed())
		return;
	Value &value = model().values[tensor.id];
	need(!isFloat(value.type), fmt::format("input '{}'", value.name),
	     "is float; it has to be integers");
	support(value.quantization.none() || value.quantization == quantization,
		fmt::format("input '{}'", value.name),
		"stands for other numbers here than where it is written");
	if (!failed())
		value.quantization = quantization;
}

void NodeReader::write(const Tensor &tensor, size_t output)
{
	if (failed() || !need(output < outputs(), "output", fmt::format("{} is missing", output)))
		return;
	const std::string &name = node_.output(static_cast<int>(output));
	if (isNew(tensor.id)) {
		model().values[tensor.id].name = name;
		if (Operator *writer = newWriter(tensor.id))
			writer->name = name;
	}
	need(import_.tensors.emplace(name, tensor).second, "output",
	     fmt::format("'{}' is written twice", name));
}

} /* namespace nvdla::compiler::onnx */

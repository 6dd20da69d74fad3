/* SPDX-License-Identifier: MIT */
#include "node_reader.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace nvdla::compiler::onnx
{

NodeReader::NodeReader(Import &import, const pb::Node &node)
	: OperandReader(reading, import, channelsLast), import_(import), node_(node),
	  shown_(static_cast<size_t>(node.input_size()))
{
	std::iota(shown_.begin(), shown_.end(), 0);
	setOperator(node.op_type(), node.output_size() ? node.output(0) : node.name());
}

const pb::Attribute *NodeReader::attribute(const std::string &name) const
{
	const auto &all = node_.attribute();
	const auto found = std::ranges::find(all, name, &pb::Attribute::name);

	return found == all.end() ? nullptr : &*found;
}

std::vector<int64_t> NodeReader::integers(const std::string &name) const
{
	const pb::Attribute *found = attribute(name);

	if (!found)
		return {};
	if (found->ints().empty() && found->has_i())
		return { found->i() };
	return { found->ints().begin(), found->ints().end() };
}

Tensor NodeReader::input(size_t index)
{
	const Tensor tensor = this->tensor(index);
	const size_t own = tensor.shape.size();

	if (index != 1 || !isBeforeBroadcasting() || own == 0)
		return tensor;
	const Tensor first = input(0);
	const size_t rank = first.shape.size();
	if (own >= rank)
		return tensor;
	need(integer("broadcast", 0) != 0, "inputs",
	     fmt::format("are {} and {}, without broadcast", toString(first.shape),
			 toString(tensor.shape)));
	const uint32_t axis = axisOf("axis", static_cast<int64_t>(rank - own));
	need(axis + own <= rank, "axis",
	     fmt::format("is {}, for {} and {}", axis, toString(first.shape),
			 toString(tensor.shape)));
	Extents shape(rank, 1);
	std::copy(tensor.shape.begin(), tensor.shape.end(), shape.begin() + axis);
	return reshaped(tensor, shape);
}

Tensor NodeReader::tensor(size_t index)
{
	const int shown = hasInput(index) ? shown_[index] : static_cast<int>(index);
	const std::string where = fmt::format("input {}", shown);

	need(hasInput(index), where, "is missing");
	const std::string &name = node_.input(shown);
	const auto found = import_.tensors.find(name);
	/* A node's further outputs that only the host can compute have no tensor. */
	support(found != import_.tensors.end(), where,
		fmt::format("is '{}', which nothing before it writes", name));
	follows_ = !found->second.isKnown;
	support(found->second.isKnown, where,
		fmt::format("is '{}', whose shape is not known, as the operator that makes it is "
			    "not",
			    name));
	return found->second;
}

void NodeReader::quantize(const Tensor &tensor, const TensorQuantization &quantization,
			  uint32_t axis)
{
	Value &value = model().values[tensor.id];
	need(!isFloat(value.type), fmt::format("input '{}'", value.name),
	     "is float; it has to be integers");
	support(value.quantization.none() || value.quantization == quantization,
		fmt::format("input '{}'", value.name),
		"stands for other numbers here than where it is written");
	value.quantization = quantization;
	value.quantizedAxis = axis;
}

void NodeReader::write(const Tensor &tensor, size_t output)
{
	need(output < outputs(), "output", fmt::format("{} is missing", output));
	const std::string &name = node_.output(static_cast<int>(output));
	if (name.empty())
		return;
	if (isNew(tensor.id)) {
		model().values[tensor.id].name = name;
		if (Operator *writer = newWriter(tensor.id))
			writer->name = name;
	}
	need(import_.tensors.emplace(name, tensor).second, "output",
	     fmt::format("'{}' is written twice", name));
}

} /* namespace nvdla::compiler::onnx */

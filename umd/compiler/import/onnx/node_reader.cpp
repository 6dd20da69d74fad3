/* SPDX-License-Identifier: MIT */
#include "node_reader.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace nvdla::compiler::onnx
{

AxisOrder asInFile(size_t rank)
{
	AxisOrder order(rank);

	std::iota(order.begin(), order.end(), 0u);
	return order;
}

AxisOrder channelsLast(size_t rank)
{
	constexpr size_t pictureRank = 4;

	return rank == pictureRank ? AxisOrder{ 0, 2, 3, 1 } : asInFile(rank);
}

AxisOrder severalOf(const Extents &shape, const AxisOrder &order)
{
	AxisOrder several;

	std::copy_if(order.begin(), order.end(), std::back_inserter(several),
		     [&](uint32_t axis) { return shape[axis] != 1; });
	return several;
}

NodeReader::NodeReader(Import &import, const pb::Node &node)
	: Rules(reading), import_(import), node_(node)
{
	name_ = node.output_size() ? node.output(0) : node.name();
	setOperator(node.op_type(), name_);
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

int64_t NodeReader::integer(const std::string &name, int64_t usual) const
{
	const pb::Attribute *found = attribute(name);

	return found ? found->i() : usual;
}

double NodeReader::number(const std::string &name, double usual) const
{
	const pb::Attribute *found = attribute(name);

	return found ? static_cast<double>(found->f()) : usual;
}

std::string NodeReader::text(const std::string &name, const std::string &usual) const
{
	const pb::Attribute *found = attribute(name);

	return found ? found->s() : usual;
}

std::vector<int64_t> NodeReader::integers(const std::string &name) const
{
	const pb::Attribute *found = attribute(name);

	return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end())
		     : std::vector<int64_t>{};
}

bool NodeReader::hasInput(size_t index) const
{
	return index < inputs() && !node_.input(static_cast<int>(index)).empty();
}

FileTensor NodeReader::input(size_t index)
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

FileTensor NodeReader::computedInput()
{
	const FileTensor tensor = input(0);

	support(failed() || !value(tensor).isConstant, "input 0", "is a constant");
	return tensor;
}

const Value &NodeReader::value(const FileTensor &tensor) const
{
	return failed() || tensor.id >= import_.model.values.size()
		       ? none_
		       : import_.model.values[tensor.id];
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
	need(failed() || numbers.size() == 1, fmt::format("input {}", index),
	     fmt::format("has {} numbers, one is needed", numbers.size()));
	return failed() ? usual : numbers.front();
}

std::vector<int64_t> NodeReader::list(size_t index, const std::string &name)
{
	return attribute(name) ? integers(name) : wholeNumbers(index);
}

Transpose turnedTo(const FileTensor &tensor, const Extents &shape, const AxisOrder &order)
{
	Transpose transpose{ shape, {} };

	for (const uint32_t axis : order)
		transpose.order.push_back(static_cast<uint32_t>(
			std::find(tensor.order.begin(), tensor.order.end(), axis) -
			tensor.order.begin()));
	return transpose;
}

FileTensor NodeReader::inOrder(const FileTensor &tensor, const AxisOrder &order)
{
	if (failed() || (tensor.order == order && tensor.places.empty()))
		return tensor;
	if (!tensor.places.empty())
		return inOrder(plain(tensor), order);
	const Value &from = value(tensor);
	if (!support(order.size() == tensor.order.size(), fmt::format("input '{}'", from.name),
		     fmt::format("is {}; as many axes as of the others are needed",
				 toString(tensor.shape))))
		return tensor;
	if (severalOf(tensor.shape, tensor.order) != severalOf(tensor.shape, order)) {
		return addValue(from.name + " in order", turnedTo(tensor, from.shape, order),
				{ tensor.id }, same(tensor), tensor.shape, order);
	}
	return addValue(from.name + " in order", Reshape{}, { tensor.id }, same(tensor),
			tensor.shape, order);
}

FileTensor NodeReader::plain(const FileTensor &tensor)
{
	if (failed() || tensor.places.empty())
		return tensor;
	return addValue(value(tensor).name + " in order", tensor.unflattened, { tensor.id },
			same(tensor), tensor.shape, asInFile(tensor.shape.size()));
}

FileTensor NodeReader::picture(size_t index)
{
	const FileTensor tensor = input(index);

	support(!value(tensor).isConstant, fmt::format("input {}", index), "is a constant");
	support(tensor.shape.size() == 4, fmt::format("input {}", index),
		fmt::format("is {}; batch, channels, lines and columns are needed",
			    toString(tensor.shape)));
	return failed() ? FileTensor{} : inOrder(tensor, channelsLast(tensor.shape.size()));
}

FileTensor NodeReader::pictureOrLine(size_t index)
{
	const FileTensor tensor = input(index);

	if (failed() || tensor.shape.size() != 3 || value(tensor).isConstant)
		return picture(index);
	const FileTensor line = inOrder(tensor, { 0, 2, 1 });
	if (failed())
		return {};
	return addValue(value(tensor).name + " as line", Reshape{}, { line.id }, same(line),
			{ tensor.shape[0], tensor.shape[1], 1, tensor.shape[2] }, channelsLast(4));
}

ValueId NodeReader::addConstant(Value value)
{
	/* A file of some bytes can make constants of any size, and read one again and again. */
	constexpr uint64_t most = uint64_t{ 1 } << 31;

	import_.constantBytes += value.data.size();
	if (!support(import_.constantBytes <= most, "constants",
		     "of the model have more bytes than this compiler takes"))
		return 0;
	value.isConstant = true;
	return import_.model.add(std::move(value));
}

ValueId NodeReader::addMeeting(const FileTensor &tensor, Value value)
{
	const size_t rank = tensor.shape.size();
	const auto more = static_cast<uint32_t>(rank - std::min(rank, value.shape.size()));
	bool fits = value.shape.size() <= rank;

	if (failed())
		return 0;
	for (size_t axis = more; fits && axis < rank; axis++) {
		const uint32_t extent = value.shape[axis - more];
		fits = extent == 1 || tensor.shape[axis] == 1 || extent == tensor.shape[axis];
	}
	if (!need(fits, "inputs",
		  fmt::format("of {} and {} do not go together: trailing axes have to be alike, or "
			      "of one element",
			      toString(tensor.shape), toString(value.shape))))
		return 0;
	if (value.shape.empty())
		return addConstant(std::move(value));
	value.shape.insert(value.shape.begin(), more, 1);
	value.quantizedAxis += value.quantization.none() ? 0 : more;
	if (!tensor.places.empty() && value.shape.back() != 1) {
		const size_t bytes = elementBytes(value.type);
		const std::vector<std::byte> data = value.data;
		support(value.quantizedAxis + 1 < rank || value.quantization.values().size() <= 1,
			"inputs", "are flattened, and a constant with a scale for each element");
		for (size_t i = 0; i < elementCount(value.shape); i++) {
			const size_t at = i % tensor.places.size();
			std::copy_n(&data[(i - at + tensor.places[at]) * bytes], bytes,
				    &value.data[i * bytes]);
		}
	}
	return addConstant(permuted(value, tensor.order));
}

ValueId NodeReader::addAlong(const FileTensor &tensor, uint32_t axis,
			     const std::vector<double> &numbers)
{
	Extents shape(tensor.shape.size(), 1);

	if (failed() ||
	    !need(axis < shape.size(), "input 0",
		  fmt::format("is {}, without an axis {}", toString(tensor.shape), axis)))
		return 0;
	shape[axis] = static_cast<uint32_t>(numbers.size());
	return addMeeting(tensor, floatConstant(numbers, shape));
}

void NodeReader::quantize(const FileTensor &tensor, const TensorQuantization &quantization)
{
	if (failed())
		return;
	Value &value = import_.model.values[tensor.id];
	need(!isFloat(value.type), fmt::format("input '{}'", value.name),
	     "is float; it has to be integers");
	support(value.quantization.none() || value.quantization == quantization,
		fmt::format("input '{}'", value.name),
		"stands for other numbers here than where it is written");
	if (!failed())
		value.quantization = quantization;
}

ElementKind NodeReader::computed(const FileTensor &tensor) const
{
	const ElementType type = value(tensor).type;

	return { isFloat(type) ? type : ElementType::Float32, {} };
}

ElementKind NodeReader::same(const FileTensor &tensor) const
{
	return { value(tensor).type, value(tensor).quantization };
}

FileTensor NodeReader::addValue(const std::string &name, Kind kind, std::vector<ValueId> inputs,
				const ElementKind &elements, const Extents &shape,
				const AxisOrder &order)
{
	Value value;

	value.name = name;
	value.type = elements.type;
	value.quantization = elements.quantization;
	for (const uint32_t axis : order)
		value.shape.push_back(shape[axis]);
	const ValueId id = import_.model.add(std::move(value));
	import_.model.operators.push_back(
		{ name, node_.op_type(), std::move(kind), std::move(inputs), { id } });
	return { id, shape, order, {} };
}

void NodeReader::add(Kind kind, std::vector<ValueId> inputs, const ElementKind &elements,
		     const Extents &shape, const AxisOrder &order, size_t output)
{
	if (!failed() && need(output < outputs(), "output", fmt::format("{} is missing", output)))
		alias(addValue(node_.output(static_cast<int>(output)), std::move(kind),
			       std::move(inputs), elements, shape, order),
		      output);
}

FileTensor NodeReader::addBetween(Kind kind, std::vector<ValueId> inputs,
				  const ElementKind &elements, const FileTensor &like)
{
	if (failed())
		return {};
	FileTensor made = addValue(name_ + " before", std::move(kind), std::move(inputs), elements,
				   like.shape, like.order);
	made.places = like.places;
	made.unflattened = like.unflattened;
	return made;
}

void NodeReader::add(Kind kind, std::vector<ValueId> inputs, const ElementKind &elements,
		     const FileTensor &like)
{
	add(std::move(kind), std::move(inputs), elements, like.shape, like.order);
	if (failed())
		return;
	FileTensor &made = import_.tensors[node_.output(0)];
	made.places = like.places;
	made.unflattened = like.unflattened;
}

void NodeReader::alias(const FileTensor &tensor, size_t output)
{
	if (failed())
		return;
	const std::string &name = node_.output(static_cast<int>(output));
	need(import_.tensors.emplace(name, tensor).second, "output",
	     fmt::format("'{}' is written twice", name));
}

void NodeReader::become(Value constant)
{
	const Extents shape = constant.shape;

	constant.name = name_;
	alias({ addConstant(std::move(constant)), shape, asInFile(shape.size()), {} });
}

} /* namespace nvdla::compiler::onnx */

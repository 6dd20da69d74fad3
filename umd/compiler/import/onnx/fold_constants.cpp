/* SPDX-License-Identifier: MIT */
/*
 * Operators on constants: exporters compute shapes with them.
 */
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

Value constantLike(const Value &like, const std::vector<std::byte> &data, const Extents &shape)
{
	Value value;

	value.type = like.type;
	value.shape = shape;
	value.data = data;
	value.isConstant = true;
	return value;
}

Extents extentsOf(NodeReader &reader, const std::vector<int64_t> &numbers)
{
	Extents shape;
	uint64_t elements = 1;

	for (const int64_t number : numbers) {
		reader.need(number >= 0 && number <= static_cast<int64_t>(maxConstant), "shape",
			    fmt::format("has an axis of {}", number));
		shape.push_back(reader.failed() ? 0 : static_cast<uint32_t>(number));
		elements *= shape.back();
		reader.need(elements <= maxConstant, "shape", "has more elements than can be");
	}
	return shape;
}

void foldConstantOfShape(NodeReader &reader)
{
	const Extents shape = extentsOf(reader, reader.wholeNumbers(0));
	const pb::Attribute *attribute = reader.attribute("value");
	Value one = floatConstant({ 0 }, { 1 });

	if (attribute) {
		auto read = readConstant(attribute->t());
		reader.need(read && elementCount(read->shape) == 1, "value",
			    "is not a tensor of one number");
		if (!reader.failed())
			one = std::move(*read);
	}
	if (reader.failed())
		return;
	const size_t size = elementBytes(one.type);
	std::vector<std::byte> data(elementCount(shape) * size);
	for (size_t at = 0; at < data.size(); at += size)
		std::memcpy(&data[at], one.data.data(), size);
	reader.become(constantLike(one, data, shape));
}

void foldConstant(NodeReader &reader)
{
	const pb::Attribute *attribute = reader.attribute("value");

	if (reader.attribute("value_int")) {
		Value value = wholeConstant({ reader.integer("value_int", 0) });
		value.shape.clear();
		reader.become(std::move(value));
		return;
	}
	if (reader.attribute("value_ints")) {
		reader.become(wholeConstant(reader.integers("value_ints")));
		return;
	}
	if (reader.attribute("value_float")) {
		reader.become(floatConstant({ reader.number("value_float", 0) }, {}));
		return;
	}
	if (!reader.support(attribute, "value", "is no tensor and no number"))
		return;
	auto read = readConstant(attribute->t());
	if (reader.need(read.has_value(), "value", read ? "" : read.error().why))
		reader.become(std::move(*read));
}

void foldShape(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const auto rank = static_cast<int64_t>(tensor.shape.size());
	const auto place = [&](const char *name, int64_t usual) {
		const int64_t at = reader.integer(name, usual);
		return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
	};
	const int64_t first = place("start", 0), last = std::max(first, place("end", rank));

	if (!reader.failed())
		reader.become(wholeConstant(
			{ tensor.shape.begin() + first, tensor.shape.begin() + last }));
}

/* Entries of a list. */
void foldGather(NodeReader &reader)
{
	const Value data = reader.value(0);
	const std::vector<int64_t> numbers = compiler::wholeNumbers(data);
	std::vector<int64_t> chosen;

	reader.support(data.shape.size() == 1 && !isFloat(data.type), "input 0",
		       "is no list of integers");
	for (const int64_t index : reader.wholeNumbers(1)) {
		const uint32_t at = reader.axis(index, numbers.size(), "index");
		if (reader.failed())
			return;
		chosen.push_back(numbers[at]);
	}
	Value value = wholeConstant(chosen);
	value.shape = reader.value(1).shape;
	reader.become(std::move(value));
}

void foldConcat(NodeReader &reader)
{
	std::vector<int64_t> numbers;

	for (size_t i = 0; i < reader.inputs(); i++) {
		const std::vector<int64_t> more = reader.wholeNumbers(i);
		reader.support(reader.value(i).shape.size() == 1, fmt::format("input {}", i),
			       "is a constant with more than one axis");
		numbers.insert(numbers.end(), more.begin(), more.end());
	}
	reader.become(wholeConstant(numbers));
}

void foldSlice(NodeReader &reader)
{
	const std::vector<int64_t> numbers = reader.wholeNumbers(0);
	const std::vector<int64_t> starts = reader.list(1, "starts"), ends = reader.list(2, "ends");
	const auto count = static_cast<int64_t>(numbers.size());
	auto place = [count](int64_t at) {
		return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count);
	};

	reader.support(reader.value(0).shape.size() == 1 && starts.size() == 1 &&
			       ends.size() == 1 && !reader.hasInput(4),
		       "input 0", "is a constant that is not one list");
	if (reader.failed())
		return;
	const int64_t first = place(starts[0]), last = std::max(first, place(ends[0]));
	reader.become(wholeConstant({ numbers.begin() + first, numbers.begin() + last }));
}

void foldCast(NodeReader &reader)
{
	const Value from = reader.value(0);
	const int64_t to = reader.integer("to", pb::UNDEFINED);
	const std::vector<double> numbers = rawNumbers(from);

	if (to == pb::INT64 && !isFloat(from.type)) {
		Value value = wholeConstant(compiler::wholeNumbers(from));
		value.shape = from.shape;
		reader.become(std::move(value));
	} else if (reader.support(to == pb::FLOAT, "to",
				  fmt::format("is {}, of a constant; float is possible", to))) {
		reader.become(floatConstant(numbers, from.shape));
	}
}

template<typename Function>
void foldIntegers(NodeReader &reader, Function function)
{
	const std::vector<int64_t> a = reader.wholeNumbers(0), b = reader.wholeNumbers(1);
	std::vector<int64_t> result;

	if (reader.failed() ||
	    !reader.support(a.size() == b.size() || b.size() == 1, "input 1",
			    "has another number of elements, and both are constants"))
		return;
	for (size_t i = 0; i < a.size(); i++) {
		constexpr int64_t most = int64_t{ 1 } << 31;
		const int64_t x = a[i], y = b[b.size() == 1 ? 0 : i];
		if (!reader.support(x > -most && x < most && y > -most && y < most, "input",
				    "is too large a constant"))
			return;
		result.push_back(function(x, y));
	}
	Value value = wholeConstant(result);
	value.shape = reader.value(0).shape;
	reader.become(std::move(value));
}

struct Folding {
	const char *type;
	void (*fold)(NodeReader &reader);
};

const Folding foldings[] = {
	{ "Add",
	  [](NodeReader &r) { foldIntegers(r, [](int64_t a, int64_t b) { return a + b; }); } },
	{ "Cast", foldCast },
	{ "Concat", foldConcat },
	{ "Div",
	  [](NodeReader &r) {
		  foldIntegers(r, [](int64_t a, int64_t b) { return b ? a / b : 0; });
	  } },
	{ "Gather", foldGather },
	{ "Mul",
	  [](NodeReader &r) { foldIntegers(r, [](int64_t a, int64_t b) { return a * b; }); } },
	{ "Slice", foldSlice },
	{ "Sub",
	  [](NodeReader &r) { foldIntegers(r, [](int64_t a, int64_t b) { return a - b; }); } },
};

} /* namespace */

bool foldConstants(NodeReader &reader, const std::string &type)
{
	if (type == "Constant")
		foldConstant(reader);
	else if (type == "ConstantOfShape")
		foldConstantOfShape(reader);
	else if (type == "Shape")
		foldShape(reader);
	else {
		const auto *found =
			std::find_if(std::begin(foldings), std::end(foldings),
				     [&](const Folding &one) { return type == one.type; });
		if (found == std::end(foldings) || !reader.hasInput(0))
			return false;
		const bool takesReal = type == "Cast";
		for (size_t i = 0; i < reader.inputs(); i++) {
			if (reader.hasInput(i) && (!reader.isConstant(i) ||
						   (!takesReal && isFloat(reader.value(i).type))))
				return false;
		}
		found->fold(reader);
	}
	return true;
}

} /* namespace nvdla::compiler::onnx */

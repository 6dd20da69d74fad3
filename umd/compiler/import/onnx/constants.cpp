/* SPDX-License-Identifier: MIT */
/*
 * Constants of a file, and operators on them: exporters compute shapes with these.
 */
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Little endian: of integers the low bytes are the first. */
template<typename Numbers>
std::vector<std::byte> bytesOf(const Numbers &numbers, size_t each)
{
	std::vector<std::byte> bytes(static_cast<size_t>(numbers.size()) * each);
	size_t at = 0;

	for (const auto &number : numbers) {
		std::memcpy(&bytes[at], &number, each);
		at += each;
	}
	return bytes;
}

std::vector<std::byte> bytesOf(const pb::Tensor &tensor, ElementType type)
{
	const size_t each = elementBytes(type);

	if (tensor.has_raw_data())
		return bytesOf(tensor.raw_data(), 1);
	if (type == ElementType::Float32)
		return bytesOf(tensor.float_data(), each);
	return type == ElementType::Int64 ? bytesOf(tensor.int64_data(), each)
					  : bytesOf(tensor.int32_data(), each);
}

std::vector<std::byte> floatsOf(const pb::Tensor &ofDoubles)
{
	std::vector<double> numbers(ofDoubles.double_data().begin(), ofDoubles.double_data().end());

	if (ofDoubles.has_raw_data()) {
		numbers.resize(ofDoubles.raw_data().size() / sizeof(double));
		std::memcpy(numbers.data(), ofDoubles.raw_data().data(),
			    numbers.size() * sizeof(double));
	}
	return floatConstant(numbers, {}).data;
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

/* A tensor that is an attribute. */
Value attributeOf(NodeReader &reader, const pb::Attribute &attribute)
{
	auto read = readConstant(attribute.t());

	reader.need(read.has_value(), "value", read ? "" : read.error().why);
	return read ? std::move(*read) : Value{};
}

void foldConstantOfShape(NodeReader &reader)
{
	const Extents shape = extentsOf(reader, reader.wholeNumbers(0));
	const pb::Attribute *attribute = reader.attribute("value");
	const Value one = attribute ? attributeOf(reader, *attribute) : floatConstant({ 0 }, { 1 });
	Value all = one;

	if (!reader.need(elementCount(one.shape) == 1, "value", "is not a tensor of one number") ||
	    reader.failed())
		return;
	all.shape = shape;
	all.data.clear();
	for (uint64_t i = 0; i < elementCount(shape); i++)
		all.data.insert(all.data.end(), one.data.begin(), one.data.end());
	reader.become(std::move(all));
}

void foldConstant(NodeReader &reader)
{
	if (reader.attribute("value_int"))
		reader.become(wholeConstant({ reader.integer("value_int", 0) }, Extents{}));
	else if (reader.attribute("value_ints"))
		reader.become(wholeConstant(reader.integers("value_ints")));
	else if (reader.attribute("value_float"))
		reader.become(floatConstant({ reader.number("value_float", 0) }, {}));
	else if (const pb::Attribute *attribute = reader.attribute("value"))
		reader.become(attributeOf(reader, *attribute));
	else
		reader.support(false, "value", "is no tensor and no number");
}

/* Entries from one place up to another one. */
void becomePart(NodeReader &reader, const std::vector<int64_t> &numbers, int64_t from, int64_t to)
{
	const auto count = static_cast<int64_t>(numbers.size());
	const int64_t first = placeWithin(from, count), last = placeWithin(to, count);

	reader.become(wholeConstant(
		{ numbers.begin() + first, numbers.begin() + std::max(first, last) }));
}

void foldShape(NodeReader &reader)
{
	const Extents shape = reader.input(0).shape;

	becomePart(reader, { shape.begin(), shape.end() }, reader.integer("start", 0),
		   reader.integer("end", static_cast<int64_t>(shape.size())));
}

/* Entries of a list. */
void foldGather(NodeReader &reader)
{
	const std::vector<int64_t> numbers = reader.wholeNumbers(0);
	std::vector<int64_t> chosen;

	reader.support(reader.value(0).shape.size() == 1, "input 0", "is no list of integers");
	for (const int64_t index : reader.wholeNumbers(1)) {
		const uint32_t at = reader.axis(index, numbers.size(), "index");
		if (reader.failed())
			return;
		chosen.push_back(numbers[at]);
	}
	reader.become(wholeConstant(chosen, reader.value(1).shape));
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
	const std::vector<int64_t> starts = reader.list(1, "starts"), ends = reader.list(2, "ends");

	if (reader.support(reader.value(0).shape.size() == 1 && starts.size() == 1 &&
				   ends.size() == 1 && !reader.hasInput(4),
			   "input 0", "is a constant that is not one list"))
		becomePart(reader, reader.wholeNumbers(0), starts[0], ends[0]);
}

void foldCast(NodeReader &reader)
{
	const Value from = reader.value(0);
	const int64_t to = reader.integer("to", pb::UNDEFINED);

	if (to == pb::INT64 && !isFloat(from.type))
		reader.become(wholeConstant(compiler::wholeNumbers(from), from.shape));
	else if (reader.support(to == pb::FLOAT, "to",
				fmt::format("is {}, of a constant; float is possible", to)))
		reader.become(floatConstant(rawNumbers(from), from.shape));
}

template<int64_t (*function)(int64_t a, int64_t b)>
void foldIntegers(NodeReader &reader)
{
	constexpr int64_t most = int64_t{ 1 } << 31;
	const std::vector<int64_t> a = reader.wholeNumbers(0), b = reader.wholeNumbers(1);
	std::vector<int64_t> result;

	if (reader.failed() ||
	    !reader.support(a.size() == b.size() || b.size() == 1, "input 1",
			    "has another number of elements, and both are constants"))
		return;
	for (size_t i = 0; i < a.size(); i++) {
		const int64_t x = a[i], y = b[b.size() == 1 ? 0 : i];
		if (!reader.support(x > -most && x < most && y > -most && y < most, "input",
				    "is too large a constant"))
			return;
		result.push_back(function(x, y));
	}
	reader.become(wholeConstant(result, reader.value(0).shape));
}

using Fold = void (*)(NodeReader &reader);

/* Folds of integer constants; Cast takes real numbers as well. */
const std::map<std::string, Fold> foldings = {
	{ "Add", foldIntegers<[](int64_t a, int64_t b) { return a + b; }> },
	{ "Cast", foldCast },
	{ "Concat", foldConcat },
	{ "Div", foldIntegers<[](int64_t a, int64_t b) { return b ? a / b : 0; }> },
	{ "Gather", foldGather },
	{ "Mul", foldIntegers<[](int64_t a, int64_t b) { return a * b; }> },
	{ "Slice", foldSlice },
	{ "Sub", foldIntegers<[](int64_t a, int64_t b) { return a - b; }> },
};

/* These look at no elements of inputs. */
const std::map<std::string, Fold> shapes = {
	{ "Constant", foldConstant },
	{ "ConstantOfShape", foldConstantOfShape },
	{ "Shape", foldShape },
};

bool areConstant(NodeReader &reader, bool takesReal)
{
	for (size_t i = 0; i < reader.inputs(); i++) {
		if (reader.hasInput(i) &&
		    (!reader.isConstant(i) || (!takesReal && isFloat(reader.value(i).type))))
			return false;
	}
	return reader.hasInput(0);
}

} /* namespace */

std::optional<ElementType> elementTypeOf(int32_t type)
{
	static const std::map<int32_t, ElementType> types = {
		{ pb::FLOAT, ElementType::Float32 }, { pb::FLOAT16, ElementType::Float16 },
		{ pb::INT8, ElementType::Int8 },     { pb::UINT8, ElementType::UInt8 },
		{ pb::INT16, ElementType::Int16 },   { pb::INT32, ElementType::Int32 },
		{ pb::INT64, ElementType::Int64 },   { pb::BOOL, ElementType::Bool },
	};
	const auto found = types.find(type);

	return found == types.end() ? std::nullopt : std::optional(found->second);
}

Value wholeConstant(const std::vector<int64_t> &numbers, std::optional<Extents> shape)
{
	Value value;

	value.type = ElementType::Int64;
	value.shape = shape.value_or(Extents{ static_cast<uint32_t>(numbers.size()) });
	value.data = bytesOf(numbers, sizeof(int64_t));
	value.isConstant = true;
	return value;
}

Result<Value> readConstant(const pb::Tensor &tensor)
{
	Value value;
	uint64_t elements = 1;
	auto damaged = [&](ErrorCode code, const std::string &why) {
		return fail(code, "read ONNX model", fmt::format("constant '{}'", tensor.name()),
			    why);
	};
	value.name = tensor.name();
	value.isConstant = true;
	if (tensor.data_location())
		return damaged(
			ErrorCode::Unsupported,
			"is in another file, which is found if the model is given by its path");
	for (const int64_t extent : tensor.dims()) {
		if (extent < 0 || extent > static_cast<int64_t>(maxConstant))
			return damaged(ErrorCode::InvalidFile,
				       fmt::format("an axis has {} elements", extent));
		elements *= static_cast<uint64_t>(extent);
		if (elements > maxConstant)
			return damaged(ErrorCode::InvalidFile, "has more elements than can be");
		value.shape.push_back(static_cast<uint32_t>(extent));
	}
	const bool isDouble = tensor.data_type() == pb::DOUBLE;
	const auto type = isDouble ? ElementType::Float32 : elementTypeOf(tensor.data_type());
	if (!type)
		return damaged(ErrorCode::Unsupported,
			       fmt::format("has elements of type {}; use float, or integers of 8 "
					   "or 16 bits",
					   tensor.data_type()));
	value.type = *type;
	value.data = isDouble ? floatsOf(tensor) : bytesOf(tensor, *type);
	if (value.data.size() != elements * elementBytes(value.type))
		return damaged(ErrorCode::InvalidFile,
			       fmt::format("has {} bytes, {} of {} need {}", value.data.size(),
					   toString(value.shape), elementTypeName(value.type),
					   elements * elementBytes(value.type)));
	return value;
}

bool foldConstants(NodeReader &reader, const std::string &type)
{
	const auto shape = shapes.find(type), folding = foldings.find(type);

	if (shape != shapes.end())
		shape->second(reader);
	else if (folding != foldings.end() && areConstant(reader, type == "Cast"))
		folding->second(reader);
	else
		return false;
	return true;
}

} /* namespace nvdla::compiler::onnx */

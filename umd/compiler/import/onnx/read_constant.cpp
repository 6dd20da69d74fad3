/* SPDX-License-Identifier: MIT */
/*
 * Constants of a file.
 */
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

} /* namespace nvdla::compiler::onnx */

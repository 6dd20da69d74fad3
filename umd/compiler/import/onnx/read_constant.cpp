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

template<typename To, typename From>
std::vector<std::byte> bytesOf(const From &numbers)
{
	std::vector<std::byte> bytes(static_cast<size_t>(numbers.size()) * sizeof(To));
	size_t at = 0;

	for (const auto number : numbers) {
		const To element = static_cast<To>(number);
		std::memcpy(&bytes[at], &element, sizeof(To));
		at += sizeof(To);
	}
	return bytes;
}

std::vector<std::byte> bytesOf(const std::string &raw)
{
	const auto *data = reinterpret_cast<const std::byte *>(raw.data());

	return { data, data + raw.size() };
}

std::vector<double> doublesOf(const pb::Tensor &tensor)
{
	std::vector<double> numbers(tensor.double_data().begin(), tensor.double_data().end());

	if (tensor.has_raw_data()) {
		numbers.resize(tensor.raw_data().size() / sizeof(double));
		std::memcpy(numbers.data(), tensor.raw_data().data(),
			    numbers.size() * sizeof(double));
	}
	return numbers;
}

} /* namespace */

Value wholeConstant(const std::vector<int64_t> &numbers)
{
	Value value;

	value.type = ElementType::Int64;
	value.shape = { static_cast<uint32_t>(numbers.size()) };
	value.data = bytesOf<int64_t>(numbers);
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
	auto take = [&](ElementType type, std::vector<std::byte> numbers) {
		value.type = type;
		value.data =
			tensor.has_raw_data() ? bytesOf(tensor.raw_data()) : std::move(numbers);
	};

	value.name = tensor.name();
	value.isConstant = true;
	if (tensor.data_location())
		return damaged(ErrorCode::Unsupported,
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
	switch (tensor.data_type()) {
	case pb::FLOAT:
		take(ElementType::Float32, bytesOf<float>(tensor.float_data()));
		break;
	case pb::DOUBLE:
		value.data = bytesOf<float>(doublesOf(tensor));
		break;
	case pb::FLOAT16:
		take(ElementType::Float16, bytesOf<uint16_t>(tensor.int32_data()));
		break;
	case pb::INT8:
		take(ElementType::Int8, bytesOf<int8_t>(tensor.int32_data()));
		break;
	case pb::UINT8:
		take(ElementType::UInt8, bytesOf<uint8_t>(tensor.int32_data()));
		break;
	case pb::INT16:
		take(ElementType::Int16, bytesOf<int16_t>(tensor.int32_data()));
		break;
	case pb::INT32:
		take(ElementType::Int32, bytesOf<int32_t>(tensor.int32_data()));
		break;
	case pb::INT64:
		take(ElementType::Int64, bytesOf<int64_t>(tensor.int64_data()));
		break;
	case pb::BOOL:
		take(ElementType::Bool, bytesOf<uint8_t>(tensor.int32_data()));
		break;
	default:
		return damaged(ErrorCode::Unsupported,
			       fmt::format("has elements of type {}; use float, or integers of 8 "
					   "or 16 bits",
					   tensor.data_type()));
	}
	if (value.data.size() != elements * elementBytes(value.type))
		return damaged(ErrorCode::InvalidFile,
			       fmt::format("has {} bytes, {} of {} need {}", value.data.size(),
					   toString(value.shape), elementTypeName(value.type),
					   elements * elementBytes(value.type)));
	return value;
}

} /* namespace nvdla::compiler::onnx */

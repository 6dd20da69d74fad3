/* SPDX-License-Identifier: MIT */
#include "model_writer.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>
#include <tensorflow/lite/builtin_ops.h>

#include "operator_options.h"

namespace nvdla::delegate
{

namespace
{

namespace fb = nvdla::tflite;
constexpr const char *what = "write TFLite model";

/* A file has two fields for an operator's code. Codes from this number on are only in the newer
 * field; the older field, of 8 bits, then has this number. */
constexpr int firstNewCode = 127;

std::optional<fb::TensorType> typeOf(TfLiteType type)
{
	switch (type) {
	case kTfLiteFloat32:
		return fb::TensorType::FLOAT32;
	case kTfLiteFloat16:
		return fb::TensorType::FLOAT16;
	case kTfLiteInt8:
		return fb::TensorType::INT8;
	case kTfLiteUInt8:
		return fb::TensorType::UINT8;
	case kTfLiteInt16:
		return fb::TensorType::INT16;
	case kTfLiteInt32:
		return fb::TensorType::INT32;
	case kTfLiteInt64:
		return fb::TensorType::INT64;
	case kTfLiteBool:
		return fb::TensorType::BOOL;
	default:
		return {};
	}
}

/* Returns true for operators that only add or remove axes of length 1. They are written as RESHAPE,
 * which is possible because all shapes are known. */
bool isReshape(int code)
{
	return code == kTfLiteBuiltinSqueeze || code == kTfLiteBuiltinExpandDims;
}

class Writer
{
public:
	Writer(const GraphView &graph, const Part &part) : graph_(graph), part_(part)
	{
		/* By convention, buffer 0 is empty: tensors without stored elements refer to it. */
		buffers_.push_back(fb::CreateBuffer(builder_));
	}

	Result<std::vector<std::byte>> write();

private:
	Result<int32_t> tensor(int index);
	Result<std::vector<int32_t>> tensors(std::span<const int> indices);
	Result<void> operation(int index);
	flatbuffers::Offset<fb::QuantizationParameters> quantization(const TfLiteTensor &tensor);
	uint32_t buffer(const TfLiteTensor &tensor);
	uint32_t operatorCode(int code, int version);

	const GraphView &graph_;
	const Part &part_;
	flatbuffers::FlatBufferBuilder builder_;
	std::map<int, int32_t> numbers_; /* index of a tensor in the graph -> number in the file */
	std::map<std::pair<int, int>, uint32_t> codeNumbers_;
	std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
	std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
	std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
	std::vector<flatbuffers::Offset<fb::Operator>> operators_;
};

flatbuffers::Offset<fb::QuantizationParameters> Writer::quantization(const TfLiteTensor &tensor)
{
	if (tensor.quantization.type != kTfLiteAffineQuantization || !tensor.quantization.params)
		return 0;
	const auto &from =
		*static_cast<const TfLiteAffineQuantization *>(tensor.quantization.params);
	const std::vector<float> scales(from.scale->data, from.scale->data + from.scale->size);
	const auto zeros = indices(from.zero_point);
	const std::vector<int64_t> zeroPoints(zeros.begin(), zeros.end());
	return fb::CreateQuantizationParametersDirect(builder_, nullptr, nullptr, &scales,
						      &zeroPoints, fb::QuantizationDetails::NONE, 0,
						      from.quantized_dimension);
}

uint32_t Writer::buffer(const TfLiteTensor &tensor)
{
	constexpr size_t alignment = 16;

	builder_.ForceVectorAlignment(tensor.bytes, 1, alignment);
	const auto *from = reinterpret_cast<const uint8_t *>(tensor.data.raw_const);
	buffers_.push_back(fb::CreateBuffer(builder_, builder_.CreateVector(from, tensor.bytes)));
	return static_cast<uint32_t>(buffers_.size() - 1);
}

Result<int32_t> Writer::tensor(int index)
{
	const auto known = numbers_.find(index);
	if (known != numbers_.end())
		return known->second;
	const TfLiteTensor &from = graph_.tensor(index);
	const std::string name = from.name ? from.name : "";
	const auto type = typeOf(from.type);
	if (!type || from.sparsity || from.is_variable)
		return fail(ErrorCode::Unsupported, what, fmt::format("tensor '{}'", name),
			    from.sparsity      ? "is sparse"
			    : from.is_variable ? "keeps its value from run to run"
					       : "has elements of a type that the core has not");
	const auto dims = indices(from.dims);
	const std::vector<int32_t> shape(dims.begin(), dims.end());
	const uint32_t elements = graph_.isStored(index) ? buffer(from) : 0;
	tensors_.push_back(fb::CreateTensorDirect(builder_, &shape, *type, elements, name.c_str(),
						  quantization(from)));
	return numbers_[index] = static_cast<int32_t>(tensors_.size() - 1);
}

Result<std::vector<int32_t>> Writer::tensors(std::span<const int> indices)
{
	constexpr int32_t absent = -1;
	std::vector<int32_t> written;

	for (const int index : indices) {
		if (index < 0) {
			written.push_back(absent);
			continue;
		}
		auto number = tensor(index);
		if (!number)
			return forward(number);
		written.push_back(*number);
	}
	return written;
}

uint32_t Writer::operatorCode(int code, int version)
{
	const auto [known, isNew] =
		codeNumbers_.try_emplace({ code, version }, static_cast<uint32_t>(codes_.size()));

	if (isNew)
		codes_.push_back(fb::CreateOperatorCode(
			builder_, static_cast<int8_t>(std::min(code, firstNewCode)), 0, version,
			code));
	return known->second;
}

Result<void> Writer::operation(int index)
{
	const TfLiteNode &node = graph_.node(index);
	const TfLiteRegistration &registration = graph_.registration(index);
	auto inputs = tensors(indices(node.inputs));
	auto outputs = tensors(indices(node.outputs));
	int code = registration.builtin_code, version = registration.version;
	std::optional<WrittenOptions> options;

	if (!inputs)
		return forward(inputs);
	if (!outputs)
		return forward(outputs);
	if (isReshape(code)) {
		const auto dims = indices(graph_.tensor(node.outputs->data[0]).dims);
		const std::vector<int32_t> shape(dims.begin(), dims.end());
		code = kTfLiteBuiltinReshape;
		version = 1;
		inputs->resize(1);
		options = { fb::BuiltinOptions::ReshapeOptions,
			    fb::CreateReshapeOptionsDirect(builder_, &shape).Union() };
	} else {
		options = writeOptions(builder_, code, node.builtin_data);
	}
	if (!options)
		return fail(ErrorCode::Unsupported, what, graph_.describe(index),
			    code == kTfLiteBuiltinCustom
				    ? fmt::format("is the custom operator '{}'",
						  registration.custom_name)
				    : fmt::format("operator {} is not known, or has options that "
						  "are not",
						  code));
	operators_.push_back(fb::CreateOperatorDirect(builder_, operatorCode(code, version),
						      &*inputs, &*outputs, options->kind,
						      options->table));
	return {};
}

Result<std::vector<std::byte>> Writer::write()
{
	constexpr uint32_t formatVersion = 3;
	auto inputs = tensors(part_.inputs);

	if (!inputs)
		return forward(inputs);
	for (const int node : part_.nodes) {
		if (auto done = operation(node); !done)
			return forward(done);
	}
	auto outputs = tensors(part_.outputs);
	if (!outputs)
		return forward(outputs);
	const std::vector subgraphs{ fb::CreateSubGraphDirect(builder_, &tensors_, &*inputs,
							      &*outputs, &operators_) };
	fb::FinishModelBuffer(builder_, fb::CreateModelDirect(builder_, formatVersion, &codes_,
							      &subgraphs, nullptr, &buffers_));
	const auto bytes =
		std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
	return std::vector<std::byte>(bytes.begin(), bytes.end());
}

} /* namespace */

Result<std::vector<std::byte>> writeModel(const GraphView &graph, const Part &part)
{
	return Writer(graph, part).write();
}

} /* namespace nvdla::delegate */

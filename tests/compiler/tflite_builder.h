/* SPDX-License-Identifier: MIT */
/*
 * Small TFLite files, made in a test.
 */
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tflite_generated.h"

namespace nvdla::test
{

namespace fb = nvdla::tflite;
using Shape = std::vector<int32_t>;

/** \brief Puts a file together; tensors are named by their indices, operators go in their order */
class TfliteBuilder
{
public:
	TfliteBuilder() { buffers_.push_back(fb::CreateBuffer(flat)); }

	int32_t floats(const Shape &shape) { return add(shape, fb::TensorType::FLOAT32, 0, 0); }
	/** \brief As shapes are computed */
	int32_t wholeNumbers(const Shape &shape) { return add(shape, fb::TensorType::INT32, 0, 0); }
	/** \brief As places are computed */
	int32_t longNumbers(const Shape &shape) { return add(shape, fb::TensorType::INT64, 0, 0); }
	int32_t integers(const Shape &shape, float scale, int64_t zero)
	{
		return add(shape, fb::TensorType::INT8, 0, quantization(scale, zero));
	}
	/** \brief uint8, in the same way */
	int32_t bytes(const Shape &shape, float scale, int64_t zero)
	{
		return add(shape, fb::TensorType::UINT8, 0, quantization(scale, zero));
	}
	/** \brief Numbers that an operator keeps from run to run, zeros at first */
	int32_t variable(const Shape &shape)
	{
		return add(shape, fb::TensorType::FLOAT32, 0, 0, true);
	}
	/** \brief A resource variable, for READ_VARIABLE and ASSIGN_VARIABLE */
	int32_t resource(const std::string &name)
	{
		constexpr int32_t varHandle = 142;
		const int32_t handle = add({}, static_cast<fb::TensorType>(13), 0, 0);
		node(varHandle, {}, { handle }, fb::BuiltinOptions::VarHandleOptions,
		     fb::CreateVarHandleOptionsDirect(flat, nullptr, name.c_str()));
		return handle;
	}
	/** \brief Give a variable a value before the first run: a constant of the model */
	void initialize(const std::string &name, int32_t constant)
	{
		initial_.emplace_back(name, constant);
	}
	/** \brief int8 that stands for real numbers */
	int32_t integers(const Shape &shape, float scale, int64_t zero,
			 const std::vector<int8_t> &elements)
	{
		return add(shape, fb::TensorType::INT8, buffer(elements),
			   quantization(scale, zero));
	}
	/** \brief float, int32_t, or uint8_t for what is true or false */
	template<typename T>
	int32_t constant(const Shape &shape, const std::vector<T> &elements)
	{
		return add(shape,
			   std::is_same_v<T, float>	? fb::TensorType::FLOAT32
			   : std::is_same_v<T, int32_t> ? fb::TensorType::INT32
							: fb::TensorType::BOOL,
			   buffer(elements), 0);
	}
	/** \brief int8, uint8 or int32 that stand for real numbers */
	template<typename T>
	int32_t quantized(const Shape &shape, const std::vector<T> &elements, float scale,
			  int64_t zero)
	{
		return add(shape,
			   std::is_same_v<T, uint8_t>  ? fb::TensorType::UINT8
			   : std::is_same_v<T, int8_t> ? fb::TensorType::INT8
						       : fb::TensorType::INT32,
			   buffer(elements), quantization(scale, zero));
	}
	/** \brief The same with a scale for each index of an axis */
	template<typename T>
	int32_t quantized(const Shape &shape, const std::vector<T> &elements,
			  const std::vector<float> &scales, int32_t axis)
	{
		const std::vector<int64_t> zeros(scales.size());

		return add(shape, sizeof(T) == 1 ? fb::TensorType::INT8 : fb::TensorType::INT32,
			   buffer(elements),
			   fb::CreateQuantizationParametersDirect(
				   flat, nullptr, nullptr, &scales, &zeros,
				   fb::QuantizationDetails::NONE, 0, axis));
	}
	int32_t list(const std::vector<int32_t> &numbers)
	{
		return constant<int32_t>({ static_cast<int32_t>(numbers.size()) }, numbers);
	}
	/** \brief An operator that only has a name, which libraries may know */
	void customNode(const char *name, const Shape &inputs, const Shape &outputs)
	{
		constexpr int32_t custom = 32;

		codes_.push_back(fb::CreateOperatorCodeDirect(flat, custom, name, 1, custom));
		operators_.push_back(fb::CreateOperatorDirect(
			flat, static_cast<uint32_t>(codes_.size() - 1), &inputs, &outputs));
	}
	/** \brief An operator whose options are not looked at */
	void node(int32_t code, const Shape &inputs, const Shape &outputs)
	{
		node(code, inputs, outputs, fb::BuiltinOptions::NONE, flatbuffers::Offset<void>());
	}
	template<typename Options>
	void node(int32_t code, const Shape &inputs, const Shape &outputs, fb::BuiltinOptions kind,
		  flatbuffers::Offset<Options> options)
	{
		codes_.push_back(
			fb::CreateOperatorCode(flat, static_cast<int8_t>(code), 0, 1, code));
		operators_.push_back(
			fb::CreateOperatorDirect(flat, static_cast<uint32_t>(codes_.size() - 1),
						 &inputs, &outputs, kind, options.Union()));
	}
	/** \return the bytes; nothing can be added to it any more */
	std::vector<std::byte> file(const Shape &inputs, const Shape &outputs)
	{
		std::vector<flatbuffers::Offset<fb::SubGraph>> graphs;
		const std::vector initialization = initializationGraph();
		graphs.push_back(
			fb::CreateSubGraphDirect(flat, &tensors_, &inputs, &outputs,
						 operators_.empty() ? nullptr : &operators_));
		graphs.insert(graphs.end(), initialization.begin(), initialization.end());
		fb::FinishModelBuffer(
			flat, fb::CreateModelDirect(flat, 3, &codes_, &graphs, nullptr, &buffers_));
		const auto *bytes = reinterpret_cast<const std::byte *>(flat.GetBufferPointer());
		return { bytes, bytes + flat.GetSize() };
	}

	flatbuffers::FlatBufferBuilder flat;

private:
	/* A graph that assigns the first values of variables, which the first operator calls */
	std::vector<flatbuffers::Offset<fb::SubGraph>> initializationGraph()
	{
		constexpr int32_t callOnce = 129, assign = 144;
		const Shape none;
		if (initial_.empty())
			return {};
		node(callOnce, {}, {}, fb::BuiltinOptions::CallOnceOptions,
		     fb::CreateCallOnceOptions(flat, 1));
		std::rotate(operators_.begin(), operators_.end() - 1, operators_.end());
		const std::vector own = operators_;
		operators_.clear();
		for (const auto &[name, constant] : initial_) {
			const int32_t handle = resource(name);
			node(assign, { handle, constant }, {});
		}
		const auto graph =
			fb::CreateSubGraphDirect(flat, &tensors_, &none, &none, &operators_);
		operators_ = own;
		return { graph };
	}
	template<typename T>
	uint32_t buffer(const std::vector<T> &elements)
	{
		const auto *bytes = reinterpret_cast<const uint8_t *>(elements.data());
		const std::vector<uint8_t> data(bytes, bytes + elements.size() * sizeof(T));
		buffers_.push_back(fb::CreateBufferDirect(flat, &data));
		return static_cast<uint32_t>(buffers_.size() - 1);
	}
	flatbuffers::Offset<fb::QuantizationParameters> quantization(float scale, int64_t zero)
	{
		const std::vector scales{ scale };
		const std::vector zeros{ zero };
		return fb::CreateQuantizationParametersDirect(flat, nullptr, nullptr, &scales,
							      &zeros);
	}
	int32_t add(const Shape &shape, fb::TensorType type, uint32_t buffer,
		    flatbuffers::Offset<fb::QuantizationParameters> quantization,
		    bool isVariable = false)
	{
		const std::string name = "t" + std::to_string(tensors_.size());
		tensors_.push_back(fb::CreateTensorDirect(flat, &shape, type, buffer, name.c_str(),
							  quantization, isVariable));
		return static_cast<int32_t>(tensors_.size() - 1);
	}

	std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
	std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
	std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
	std::vector<flatbuffers::Offset<fb::Operator>> operators_;
	std::vector<std::pair<std::string, int32_t>> initial_; /* constants, by variable */
};

} /* namespace nvdla::test */

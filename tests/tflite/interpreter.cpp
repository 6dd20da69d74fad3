/* SPDX-License-Identifier: MIT */
#include "interpreter.h"

#include <cstring>

#include <gtest/gtest.h>
#include <tensorflow/lite/c/c_api_experimental.h>
#include <tensorflow/lite/delegates/external/external_delegate.h>

#include "places.h"
#include "reference_kernels.h"

namespace nvdla::test
{

namespace
{

template<typename T>
void put(const Numbers &numbers, std::byte *to)
{
	for (size_t i = 0; i < numbers.size(); i++) {
		const auto element = static_cast<T>(numbers[i]);
		std::memcpy(to + i * sizeof(T), &element, sizeof(T));
	}
}

template<typename T>
Numbers take(const TfLiteTensor *tensor)
{
	const auto *from = static_cast<const T *>(TfLiteTensorData(tensor));

	return { from, from + TfLiteTensorByteSize(tensor) / sizeof(T) };
}

void putArray(const Array &array, TfLiteTensor *tensor)
{
	auto *to = static_cast<std::byte *>(TfLiteTensorData(tensor));

	switch (TfLiteTensorType(tensor)) {
	case kTfLiteFloat32:
		return put<float>(array.numbers, to);
	case kTfLiteInt8:
		return put<int8_t>(array.numbers, to);
	case kTfLiteUInt8:
		return put<uint8_t>(array.numbers, to);
	case kTfLiteInt16:
		return put<int16_t>(array.numbers, to);
	case kTfLiteInt32:
		return put<int32_t>(array.numbers, to);
	default:
		ADD_FAILURE() << "input of type " << TfLiteTensorType(tensor);
	}
}

Array takeArray(const TfLiteTensor *tensor)
{
	switch (TfLiteTensorType(tensor)) {
	case kTfLiteFloat32:
		return { "<f4", take<float>(tensor) };
	case kTfLiteInt8:
		return { "|i1", take<int8_t>(tensor) };
	case kTfLiteUInt8:
		return { "|u1", take<uint8_t>(tensor) };
	case kTfLiteInt16:
		return { "<i2", take<int16_t>(tensor) };
	case kTfLiteInt32:
		return { "<i4", take<int32_t>(tensor) };
	default:
		ADD_FAILURE() << "output of type " << TfLiteTensorType(tensor);
	}
	return {};
}

InterpreterPointer make(const TfLiteModel *model, TfLiteDelegate *delegate,
			TfliteKernels kernels = TfliteKernels::Optimised)
{
	const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)>
		options(TfLiteInterpreterOptionsCreate(), TfLiteInterpreterOptionsDelete);

	TfLiteInterpreterOptionsSetNumThreads(options.get(), 1);
	if (delegate)
		TfLiteInterpreterOptionsAddDelegate(options.get(), delegate);
	const bool isReference = kernels == TfliteKernels::Reference;
	if (isReference)
		useReferenceKernels(options.get());
	return { isReference ? TfLiteInterpreterCreateWithSelectedOps(model, options.get())
			     : TfLiteInterpreterCreate(model, options.get()),
		 TfLiteInterpreterDelete };
}

} /* namespace */

DelegatePointer loadDelegate(const DelegateOptions &options)
{
	const std::string library = built(NVDLA_TFLITE_LIBRARY);
	TfLiteExternalDelegateOptions external =
		TfLiteExternalDelegateOptionsDefault(library.c_str());

	for (const auto &[key, value] : options)
		external.insert(&external, key.c_str(), value.c_str());
	return { TfLiteExternalDelegateCreate(&external), TfLiteExternalDelegateDelete };
}

Interpreter::Interpreter(std::vector<std::byte> model, TfLiteDelegate *delegate,
			 TfliteKernels kernels)
	: bytes_(std::move(model)),
	  model_(TfLiteModelCreate(bytes_.data(), bytes_.size()), TfLiteModelDelete),
	  interpreter_(make(model_.get(), delegate, kernels))
{
	EXPECT_TRUE(interpreter_);
	EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_.get()), kTfLiteOk);
}

bool Interpreter::canPrepare(const std::vector<std::byte> &model, TfLiteDelegate *delegate)
{
	const std::unique_ptr<TfLiteModel, decltype(&TfLiteModelDelete)> read(
		TfLiteModelCreate(model.data(), model.size()), TfLiteModelDelete);

	return make(read.get(), delegate) != nullptr;
}

void Interpreter::resize(const std::vector<int> &shape)
{
	EXPECT_EQ(TfLiteInterpreterResizeInputTensor(interpreter_.get(), 0, shape.data(),
						     static_cast<int32_t>(shape.size())),
		  kTfLiteOk);
	EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_.get()), kTfLiteOk);
}

void Interpreter::set(const std::vector<Array> &inputs)
{
	for (size_t i = 0; i < inputs.size(); i++)
		putArray(inputs[i], TfLiteInterpreterGetInputTensor(interpreter_.get(),
								    static_cast<int32_t>(i)));
}

bool Interpreter::invoke()
{
	return TfLiteInterpreterInvoke(interpreter_.get()) == kTfLiteOk;
}

bool Interpreter::inputIsLent() const
{
	return TfLiteInterpreterGetInputTensor(interpreter_.get(), 0)->allocation_type ==
	       kTfLiteCustom;
}

bool Interpreter::outputIsLent() const
{
	return TfLiteInterpreterGetOutputTensor(interpreter_.get(), 0)->allocation_type ==
	       kTfLiteCustom;
}

std::vector<Array> Interpreter::outputs() const
{
	std::vector<Array> outputs;

	for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter_.get()); i++)
		outputs.push_back(
			takeArray(TfLiteInterpreterGetOutputTensor(interpreter_.get(), i)));
	return outputs;
}

std::vector<Array> Interpreter::run(const std::vector<Array> &inputs)
{
	set(inputs);
	EXPECT_TRUE(invoke());
	return outputs();
}

} /* namespace nvdla::test */

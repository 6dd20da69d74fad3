/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/half.h>

#include "places.h"

namespace nvdla::test
{

namespace
{

constexpr const char *providerName = "Nvdla";

template<typename T>
void put(const Numbers &numbers, void *to)
{
	for (size_t i = 0; i < numbers.size(); i++)
		static_cast<T *>(to)[i] = static_cast<T>(numbers[i]);
}

template<typename T>
Numbers take(const void *from, size_t bytes)
{
	const T *first = static_cast<const T *>(from);

	return { first, first + bytes / sizeof(T) };
}

} /* namespace */

Runtime::Runtime(const char *library) : api_(OrtGetApiBase()->GetApi(ORT_API_VERSION))
{
	done(api_->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "test", &environment_));
	const std::string usual = built(NVDLA_ONNXRUNTIME_LIBRARY);
	done(api_->RegisterExecutionProviderLibrary(environment_, providerName,
						    library ? library : usual.c_str()));
}

Runtime::~Runtime()
{
	done(api_->UnregisterExecutionProviderLibrary(environment_, providerName));
	api_->ReleaseEnv(environment_);
}

std::string Runtime::message(OrtStatus *status) const
{
	if (!status)
		return "";
	const std::string message = api_->GetErrorMessage(status);
	api_->ReleaseStatus(status);
	return message;
}

bool Runtime::done(OrtStatus *status) const
{
	const std::string why = message(status);

	EXPECT_EQ(why, "");
	return why.empty();
}

void Session::addProvider(OrtSessionOptions *session, const ProviderOptions &options)
{
	const OrtEpDevice *const *devices = nullptr;
	size_t count = 0;
	std::vector<const OrtEpDevice *> ours;
	std::vector<const char *> keys, values;

	runtime_.done(runtime_.api().GetEpDevices(runtime_.environment(), &devices, &count));
	for (size_t i = 0; i < count; i++) {
		if (!std::strcmp(runtime_.api().EpDevice_EpName(devices[i]), providerName))
			ours.push_back(devices[i]);
	}
	ASSERT_EQ(ours.size(), 1u);
	for (const auto &[key, value] : options) {
		keys.push_back(key.c_str());
		values.push_back(value.c_str());
	}
	runtime_.done(runtime_.api().SessionOptionsAppendExecutionProvider_V2(
		session, runtime_.environment(), ours.data(), ours.size(), keys.data(),
		values.data(), keys.size()));
}

Session::Session(const Runtime &runtime, const std::vector<std::byte> &model,
		 const ProviderOptions *options, bool optimized)
	: runtime_(runtime)
{
	const OrtApi &api = runtime.api();
	OrtSessionOptions *session = nullptr;

	runtime.done(api.CreateSessionOptions(&session));
	runtime.done(api.SetIntraOpNumThreads(session, 1));
	if (!optimized)
		runtime.done(api.SetSessionGraphOptimizationLevel(session, ORT_DISABLE_ALL));
	/* Exact sums on processors without VNNI. */
	runtime.done(api.AddSessionConfigEntry(session, "session.x64quantprecision", "1"));
	if (options)
		addProvider(session, *options);
	error_ = runtime.message(api.CreateSessionFromArray(runtime.environment(), model.data(),
							    model.size(), session, &session_));
	api.ReleaseSessionOptions(session);
}

Session::~Session()
{
	if (session_)
		runtime_.api().ReleaseSession(session_);
}

OrtValue *Session::makeInput(size_t index, const Array &array)
{
	const OrtApi &api = runtime_.api();
	OrtTypeInfo *type = nullptr;
	const OrtTensorTypeAndShapeInfo *tensor = nullptr;
	ONNXTensorElementDataType elements = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	size_t rank = 0;
	OrtAllocator *allocator = nullptr;
	OrtValue *value = nullptr;
	void *data = nullptr;

	runtime_.done(api.SessionGetInputTypeInfo(session_, index, &type));
	runtime_.done(api.CastTypeInfoToTensorInfo(type, &tensor));
	runtime_.done(api.GetTensorElementType(tensor, &elements));
	runtime_.done(api.GetDimensionsCount(tensor, &rank));
	std::vector<int64_t> shape(rank);
	runtime_.done(api.GetDimensions(tensor, shape.data(), rank));
	for (int64_t &extent : shape)
		extent = std::max<int64_t>(extent, 1);
	api.ReleaseTypeInfo(type);
	runtime_.done(api.GetAllocatorWithDefaultOptions(&allocator));
	runtime_.done(api.CreateTensorAsOrtValue(allocator, shape.data(), rank, elements, &value));
	runtime_.done(api.GetTensorMutableData(value, &data));
	if (elements == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
		put<float>(array.numbers, data);
	} else if (elements == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16) {
		for (size_t i = 0; i < array.numbers.size(); i++)
			static_cast<uint16_t *>(data)[i] =
				floatToHalf(static_cast<float>(array.numbers[i]));
	} else if (elements == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL) {
		put<bool>(array.numbers, data);
	} else {
		ADD_FAILURE() << "input of type " << elements;
	}
	return value;
}

Array Session::takeOutput(OrtValue *value)
{
	const OrtApi &api = runtime_.api();
	OrtTensorTypeAndShapeInfo *tensor = nullptr;
	ONNXTensorElementDataType elements = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	void *data = nullptr;
	size_t bytes = 0;

	runtime_.done(api.GetTensorTypeAndShape(value, &tensor));
	runtime_.done(api.GetTensorElementType(tensor, &elements));
	api.ReleaseTensorTypeAndShapeInfo(tensor);
	runtime_.done(api.GetTensorMutableData(value, &data));
	runtime_.done(api.GetTensorSizeInBytes(value, &bytes));
	if (elements == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
		return { "<f4", take<float>(data, bytes) };
	EXPECT_EQ(elements, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
	Array halves{ "<f2", take<uint16_t>(data, bytes) };
	for (double &number : halves.numbers)
		number = halfToFloat(static_cast<uint16_t>(number));
	return halves;
}

std::vector<Array> Session::run(const std::vector<Array> &inputs)
{
	const OrtApi &api = runtime_.api();
	OrtAllocator *allocator = nullptr;
	size_t outputCount = 0;

	if (!session_) {
		ADD_FAILURE() << "there is no session to run: " << error_;
		return {};
	}
	std::vector<OrtValue *> values;
	std::vector<char *> inputNames(inputs.size());
	std::vector<Array> outputs;

	runtime_.done(api.GetAllocatorWithDefaultOptions(&allocator));
	runtime_.done(api.SessionGetOutputCount(session_, &outputCount));
	std::vector<char *> outputNames(outputCount);
	std::vector<OrtValue *> results(outputCount, nullptr);
	for (size_t i = 0; i < inputs.size(); i++) {
		values.push_back(makeInput(i, inputs[i]));
		runtime_.done(api.SessionGetInputName(session_, i, allocator, &inputNames[i]));
	}
	for (size_t i = 0; i < outputCount; i++)
		runtime_.done(api.SessionGetOutputName(session_, i, allocator, &outputNames[i]));
	const bool ran = runtime_.done(api.Run(session_, nullptr, inputNames.data(), values.data(),
					       values.size(), outputNames.data(), outputCount,
					       results.data()));
	for (OrtValue *result : results) {
		if (ran)
			outputs.push_back(takeOutput(result));
		if (result)
			api.ReleaseValue(result);
	}
	for (OrtValue *value : values)
		api.ReleaseValue(value);
	for (auto *names : { &inputNames, &outputNames }) {
		for (char *name : *names)
			runtime_.done(api.AllocatorFree(allocator, name));
	}
	return outputs;
}

} /* namespace nvdla::test */

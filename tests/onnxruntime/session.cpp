/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <gtest/gtest.h>
#include <nvdla/tensor.h>

#include "places.h"

namespace nvdla::test
{

namespace
{

constexpr const char *providerName = "Nvdla";

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

/* An input as the file describes it; sizes that the file leaves open are 1. */
SessionTensor Session::inputOf(size_t index, const Array &array)
{
	const OrtApi &api = runtime_.api();
	OrtTypeInfo *type = nullptr;
	const OrtTensorTypeAndShapeInfo *info = nullptr;
	ONNXTensorElementDataType elements = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	size_t rank = 0;
	SessionTensor tensor;
	std::vector<float> numbers(array.numbers.begin(), array.numbers.end());

	tensor.what.name = nameOf(index, &OrtApi::SessionGetInputName);
	runtime_.done(api.SessionGetInputTypeInfo(session_, index, &type));
	runtime_.done(api.CastTypeInfoToTensorInfo(type, &info));
	runtime_.done(api.GetTensorElementType(info, &elements));
	runtime_.done(api.GetDimensionsCount(info, &rank));
	tensor.what.shape.resize(rank);
	runtime_.done(api.GetDimensions(info, tensor.what.shape.data(), rank));
	for (int64_t &extent : tensor.what.shape)
		extent = std::max<int64_t>(extent, 1);
	api.ReleaseTypeInfo(type);
	/* Both number types as ONNX files do. */
	tensor.what.type = static_cast<int32_t>(elements);
	tensor.elements = elementsFromFloat(*typeOfOnnx(tensor.what.type), numbers);
	return tensor;
}

std::string Session::nameOf(size_t index, GetName get)
{
	OrtAllocator *allocator = nullptr;
	char *text = nullptr;

	runtime_.done(runtime_.api().GetAllocatorWithDefaultOptions(&allocator));
	runtime_.done((runtime_.api().*get)(session_, index, allocator, &text));
	const std::string name = text;
	runtime_.done(runtime_.api().AllocatorFree(allocator, text));
	return name;
}

OrtValue *Session::makeInput(const SessionTensor &tensor)
{
	const OrtApi &api = runtime_.api();
	const std::vector<int64_t> &shape = tensor.what.shape;
	OrtAllocator *allocator = nullptr;
	OrtValue *value = nullptr;
	void *data = nullptr;
	size_t bytes = 0;

	runtime_.done(api.GetAllocatorWithDefaultOptions(&allocator));
	runtime_.done(api.CreateTensorAsOrtValue(
		allocator, shape.data(), shape.size(),
		static_cast<ONNXTensorElementDataType>(tensor.what.type), &value));
	runtime_.done(api.GetTensorMutableData(value, &data));
	runtime_.done(api.GetTensorSizeInBytes(value, &bytes));
	EXPECT_EQ(bytes, tensor.elements.size());
	std::ranges::copy_n(tensor.elements.begin(), std::min(bytes, tensor.elements.size()),
			    static_cast<std::byte *>(data));
	return value;
}

SessionTensor Session::takeOutput(const std::string &name, OrtValue *value)
{
	const OrtApi &api = runtime_.api();
	OrtTensorTypeAndShapeInfo *info = nullptr;
	ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	SessionTensor tensor{ { name, 0, {} }, {} };
	void *data = nullptr;
	size_t size = 0;
	int isTensor = 0;

	runtime_.done(api.IsTensor(value, &isTensor));
	if (!isTensor)
		return tensor;
	runtime_.done(api.GetTensorTypeAndShape(value, &info));
	runtime_.done(api.GetTensorElementType(info, &type));
	runtime_.done(api.GetDimensionsCount(info, &size));
	tensor.what.shape.resize(size);
	runtime_.done(api.GetDimensions(info, tensor.what.shape.data(), size));
	api.ReleaseTensorTypeAndShapeInfo(info);
	if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
		return tensor;
	tensor.what.type = static_cast<int32_t>(type);
	runtime_.done(api.GetTensorMutableData(value, &data));
	runtime_.done(api.GetTensorSizeInBytes(value, &size));
	const std::span<const std::byte> bytes(static_cast<const std::byte *>(data), size);
	tensor.elements.assign(bytes.begin(), bytes.end());
	return tensor;
}

Result<std::vector<SessionTensor>> Session::tryRun(const std::vector<SessionTensor> &inputs,
						   const std::vector<std::string> &names)
{
	const OrtApi &api = runtime_.api();
	std::vector<OrtValue *> values, results(names.size(), nullptr);
	std::vector<const char *> inputNames, outputNames;
	std::vector<SessionTensor> outputs;

	for (const SessionTensor &input : inputs) {
		values.push_back(makeInput(input));
		inputNames.push_back(input.what.name.c_str());
	}
	for (const std::string &name : names)
		outputNames.push_back(name.c_str());
	const std::string error = runtime_.message(
		api.Run(session_, nullptr, inputNames.data(), values.data(), values.size(),
			outputNames.data(), names.size(), results.data()));
	for (size_t i = 0; i < names.size(); i++) {
		if (error.empty())
			outputs.push_back(takeOutput(names[i], results[i]));
		if (results[i])
			api.ReleaseValue(results[i]);
	}
	for (OrtValue *value : values)
		api.ReleaseValue(value);
	if (!error.empty())
		return fail(ErrorCode::Io, "run", "session", error);
	return outputs;
}

std::vector<Array> Session::run(const std::vector<Array> &inputs)
{
	std::vector<SessionTensor> tensors;
	std::vector<std::string> names;
	std::vector<Array> arrays;
	size_t count = 0;

	if (!session_) {
		ADD_FAILURE() << "there is no session to run: " << error_;
		return {};
	}
	for (size_t i = 0; i < inputs.size(); i++)
		tensors.push_back(inputOf(i, inputs[i]));
	runtime_.done(runtime_.api().SessionGetOutputCount(session_, &count));
	for (size_t i = 0; i < count; i++)
		names.push_back(nameOf(i, &OrtApi::SessionGetOutputName));
	auto outputs = tryRun(tensors, names);
	if (!outputs) {
		ADD_FAILURE() << outputs.error().message();
		return {};
	}
	for (const SessionTensor &output : *outputs) {
		const DataType type = typeOfOnnx(output.what.type).value_or(DataType::Unknown);
		EXPECT_TRUE(type == DataType::Float || type == DataType::Half);
		const std::vector<float> numbers = elementsToFloat(type, output.elements);
		arrays.push_back({ type == DataType::Half ? "<f2" : "<f4",
				   { numbers.begin(), numbers.end() } });
	}
	return arrays;
}

} /* namespace nvdla::test */

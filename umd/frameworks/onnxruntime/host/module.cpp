/* SPDX-License-Identifier: MIT */
/*
 * The module with which the runtime computes parts of networks by ONNX Runtime on the CPU.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <onnxruntime_c_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include "base/host/host_module.h"

namespace
{

const OrtApi *api()
{
	static const OrtApi *const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);

	return api;
}

using nvdla::host::Failure;

void check(OrtStatus *status)
{
	if (!status)
		return;
	const std::string message = api()->GetErrorMessage(status);
	api()->ReleaseStatus(status);
	throw Failure(message);
}

template<typename T>
using Kept = std::unique_ptr<T, void (*)(T *)>;

/*
 * Debian's ONNX Runtime and the library with ONNX's operators both register these operators. For
 * each operator that is already registered, ONNX prints a complaint on standard error. While a
 * WithoutRepeats exists, standard error is a file in memory. The destructor prints the lines of
 * this file, also those of other threads, without the complaints and without empty lines.
 */
class WithoutRepeats
{
public:
	WithoutRepeats()
		: own_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)),
		  said_(own_ < 0 ? -1 : memfd_create("stderr", MFD_CLOEXEC))
	{
		if (said_ >= 0)
			dup2(said_, STDERR_FILENO);
	}
	~WithoutRepeats()
	{
		if (said_ >= 0) {
			dup2(own_, STDERR_FILENO);
			passOn();
			close(said_);
		}
		if (own_ >= 0)
			close(own_);
	}
	WithoutRepeats(const WithoutRepeats &) = delete;
	WithoutRepeats &operator=(const WithoutRepeats &) = delete;

private:
	void passOn() const
	{
		FILE *const lines = fdopen(fcntl(said_, F_DUPFD_CLOEXEC, 0), "r");
		char *line = nullptr;
		size_t size = 0;

		if (!lines)
			return;
		rewind(lines);
		while (getline(&line, &size, lines) > 0) {
			if (!strstr(line, "already registered") && strcmp(line, "\n") != 0)
				fputs(line, stderr);
		}
		free(line);
		fclose(lines);
	}

	int own_;
	int said_;
};

/* Returns ONNX Runtime's environment, of which a process can have only one. */
OrtEnv *environment()
{
	static OrtEnv *const made = [] {
		OrtEnv *env = nullptr;
		check(api()->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "nvdla", &env));
		return env;
	}();

	return made;
}

struct Model {
	Kept<OrtSession> session{ nullptr, api()->ReleaseSession };
	Kept<OrtMemoryInfo> memory{ nullptr, api()->ReleaseMemoryInfo };
};

struct TensorType {
	ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
	std::vector<int64_t> shape;
};

TensorType typeOf(const OrtTensorTypeAndShapeInfo *info)
{
	TensorType tensor;
	size_t rank = 0;

	check(api()->GetTensorElementType(info, &tensor.type));
	check(api()->GetDimensionsCount(info, &rank));
	tensor.shape.resize(rank);
	check(api()->GetDimensions(info, tensor.shape.data(), rank));
	return tensor;
}

/* \return type and shape; the type is UNDEFINED for sequences, maps and absent optional values */
TensorType typeOf(const OrtValue *value)
{
	OrtTensorTypeAndShapeInfo *info = nullptr;
	int isTensor = 0;

	if (value)
		check(api()->IsTensor(value, &isTensor));
	if (!isTensor)
		return {};
	check(api()->GetTensorTypeAndShape(value, &info));
	const Kept<OrtTensorTypeAndShapeInfo> kept(info, api()->ReleaseTensorTypeAndShapeInfo);
	return typeOf(info);
}

Kept<OrtSession> makeSession(const void *bytes, size_t size, GraphOptimizationLevel level)
{
	static std::atomic<bool> isFirst = true; /* the first session registers the operators */
	std::optional<WithoutRepeats> quiet;
	OrtSessionOptions *options = nullptr;
	OrtSession *session = nullptr;

	if (isFirst.exchange(false))
		quiet.emplace();
	check(api()->CreateSessionOptions(&options));
	const Kept<OrtSessionOptions> kept(options, api()->ReleaseSessionOptions);
	/* Without this option, sums of 8-bit products saturate on processors without VNNI
	 * instructions. */
	check(api()->AddSessionConfigEntry(options, kOrtSessionOptionsAvx2PrecisionMode, "1"));
	check(api()->SetSessionGraphOptimizationLevel(options, level));
	check(api()->CreateSessionFromArray(environment(), bytes, size, options, &session));
	return { session, api()->ReleaseSession };
}

/* Makes a session with all optimizations or, if that fails, without optimizations: ONNX Runtime
 * fuses some int16 nodes to operators for which it has no kernel. */
Kept<OrtSession> makeSession(const void *bytes, size_t size)
{
	try {
		return makeSession(bytes, size, ORT_ENABLE_ALL);
	} catch (const Failure &) {
		return makeSession(bytes, size, ORT_DISABLE_ALL);
	}
}

Model *makeModel(const void *bytes, size_t size)
{
	auto model = std::make_unique<Model>();
	OrtMemoryInfo *memory = nullptr;

	model->session = makeSession(bytes, size);
	check(api()->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
	model->memory.reset(memory);
	return model.release();
}

void describeOutputs(const Model &model, void *context, nvdla_host_found found)
{
	OrtAllocator *allocator = nullptr;
	size_t count = 0;

	check(api()->GetAllocatorWithDefaultOptions(&allocator));
	check(api()->SessionGetOutputCount(model.session.get(), &count));
	for (size_t i = 0; i < count; i++) {
		char *name = nullptr;
		OrtTypeInfo *info = nullptr;
		const OrtTensorTypeAndShapeInfo *tensor = nullptr;
		check(api()->SessionGetOutputName(model.session.get(), i, allocator, &name));
		const std::string text = name;
		check(api()->AllocatorFree(allocator, name));
		check(api()->SessionGetOutputTypeInfo(model.session.get(), i, &info));
		const Kept<OrtTypeInfo> kept(info, api()->ReleaseTypeInfo);
		check(api()->CastTypeInfoToTensorInfo(info, &tensor));
		if (!tensor)
			continue;
		const TensorType type = typeOf(tensor);
		found(context, text.c_str(), type.type, type.shape.data(), type.shape.size());
	}
}

/* Returns the bytes of an element; 0 for types that a network's tensors cannot have. */
size_t bytesOf(ONNXTensorElementDataType type)
{
	switch (type) {
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
		return 1;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
		return 2;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
		return 4;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
		return 8;
	default:
		return 0;
	}
}

/* Copies output \a index to the caller's memory; throws Failure if its type or shape is not the one
 * that the caller expects. */
void takeOutput(OrtValue *value, const nvdla_host_array &to, size_t index,
		const nvdla::host::Room &room)
{
	const TensorType type = typeOf(value);
	size_t size = bytesOf(type.type);
	void *data = nullptr;

	for (const int64_t extent : type.shape)
		size *= static_cast<size_t>(extent);
	void *const place = nvdla::host::placeOf(to, index, type.type, type.shape.data(),
						 type.shape.size(), size, room);
	check(api()->GetTensorMutableData(value, &data));
	if (size)
		std::memcpy(place, data, size);
}

class Values
{
public:
	explicit Values(size_t count) : values_(count) {}
	~Values()
	{
		for (OrtValue *value : values_) {
			if (value)
				api()->ReleaseValue(value);
		}
	}
	Values(const Values &) = delete;
	Values &operator=(const Values &) = delete;

	OrtValue *&operator[](size_t i) { return values_[i]; }
	OrtValue **data() { return values_.data(); }

private:
	std::vector<OrtValue *> values_;
};

void runModel(const Model &model, const nvdla_host_array *inputs, size_t numInputs,
	      const nvdla_host_array *outputs, size_t numOutputs, nvdla_host_found found,
	      const nvdla::host::Room &room)
{
	std::vector<const char *> inputNames, outputNames;
	Values from(numInputs), to(numOutputs);

	for (size_t i = 0; i < numInputs; i++) {
		const nvdla_host_array &array = inputs[i];
		inputNames.push_back(array.name);
		check(api()->CreateTensorWithDataAsOrtValue(
			model.memory.get(), array.data, array.size, array.shape, array.rank,
			static_cast<ONNXTensorElementDataType>(array.type), &from[i]));
	}
	for (size_t i = 0; i < numOutputs; i++)
		outputNames.push_back(outputs[i].name);
	check(api()->Run(model.session.get(), nullptr, inputNames.data(), from.data(), numInputs,
			 outputNames.data(), numOutputs, to.data()));
	for (size_t i = 0; i < numOutputs; i++) {
		if (found) {
			const TensorType type = typeOf(to[i]);
			found(room.context, outputs[i].name, type.type, type.shape.data(),
			      type.shape.size());
		} else {
			takeOutput(to[i], outputs[i], i, room);
		}
	}
}

template<typename Call>
int said(void *context, nvdla_host_say say, const Call &call) noexcept
{
	return nvdla::host::said(context, say, [&] {
		if (!api())
			throw Failure("ONNX Runtime is older than what this module was built with");
		call();
	});
}

void *openModel(const void *bytes, size_t size, void *context, nvdla_host_say say)
{
	void *model = nullptr;

	said(context, say, [&] { model = makeModel(bytes, size); });
	return model;
}

void closeModel(void *model)
{
	delete static_cast<Model *>(model);
}

int outputs(void *model, void *context, nvdla_host_found found, nvdla_host_say say)
{
	return said(context, say,
		    [&] { describeOutputs(*static_cast<Model *>(model), context, found); });
}

int run(void *model, const nvdla_host_array *from, size_t numFrom, const nvdla_host_array *to,
	size_t numTo, void *context, nvdla_host_found found, nvdla_host_room room,
	nvdla_host_say say)
{
	return said(context, say, [&] {
		runModel(*static_cast<Model *>(model), from, numFrom, to, numTo, found,
			 { context, room });
	});
}

} /* namespace */

extern "C" __attribute__((visibility("default"))) const nvdla_host_functions *nvdla_host_library()
{
	static constexpr nvdla_host_functions functions{
		NVDLA_HOST_INTERFACE, openModel, closeModel, outputs, run, nullptr, nullptr
	};

	return &functions;
}

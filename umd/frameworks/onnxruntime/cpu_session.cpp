/* SPDX-License-Identifier: MIT */
#include "cpu_session.h"

namespace nvdla::ort
{

namespace
{

/* Tensors of ONNX Runtime (OrtValue), which use the caller's memory without a copy. */
class Values
{
public:
	explicit Values(const Api &api) : api_(api) {}
	~Values()
	{
		for (OrtValue *value : values_)
			api_->ReleaseValue(value);
	}
	Values(const Values &) = delete;
	Values &operator=(const Values &) = delete;

	Result<void> add(const OrtMemoryInfo *memory, const HostTensor &tensor,
			 const ValueView &view)
	{
		OrtValue *value = nullptr;

		NVDLA_ORT_TRY(api_,
			      api_->CreateTensorWithDataAsOrtValue(
				      memory, tensor.bytes.data(), tensor.bytes.size(),
				      view.shape.data(), view.shape.size(),
				      static_cast<ONNXTensorElementDataType>(view.type), &value));
		values_.push_back(value);
		names_.push_back(view.name.c_str());
		return {};
	}

	OrtValue **values() { return values_.data(); }
	const char *const *names() const { return names_.data(); }
	size_t count() const { return values_.size(); }

private:
	const Api &api_;
	std::vector<OrtValue *> values_;
	std::vector<const char *> names_;
};

} /* namespace */

std::optional<DataType> hostType(int32_t type)
{
	switch (type) {
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
		return DataType::Float;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
		return DataType::Half;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
		return DataType::Int8;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
		return DataType::UInt8;
	case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
		return DataType::Int16;
	default:
		return {};
	}
}

CpuSession::~CpuSession()
{
	if (memory_)
		api_->ReleaseMemoryInfo(memory_);
	if (session_)
		api_->ReleaseSession(session_);
	if (environment_)
		api_->ReleaseEnv(environment_);
}

Result<void> CpuSession::make()
{
	OrtSessionOptions *options = nullptr;

	NVDLA_ORT_TRY(api_,
		      api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory_));
	NVDLA_ORT_TRY(api_, api_->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "nvdla", &environment_));
	NVDLA_ORT_TRY(api_, api_->CreateSessionOptions(&options));
	const std::unique_ptr<OrtSessionOptions, decltype(api_->ReleaseSessionOptions)> kept(
		options, api_->ReleaseSessionOptions);
	return api_.check(api_->CreateSessionFromArray(environment_, model_.bytes.data(),
						       model_.bytes.size(), options, &session_));
}

Result<void> CpuSession::run(std::span<const HostTensor> inputs,
			     std::span<const HostTensor> outputs)
{
	if (!session_) {
		if (auto made = make(); !made)
			return made;
	}
	Values from(api_), to(api_);
	for (size_t i = 0; i < inputs.size(); i++) {
		if (auto added = from.add(memory_, inputs[i], model_.inputs.at(i)); !added)
			return added;
	}
	for (size_t i = 0; i < outputs.size(); i++) {
		if (auto added = to.add(memory_, outputs[i], model_.outputs.at(i)); !added)
			return added;
	}
	return api_.check(api_->Run(session_, nullptr, from.names(), from.values(), from.count(),
				    to.names(), to.count(), to.values()));
}

} /* namespace nvdla::ort */

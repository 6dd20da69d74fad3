/* SPDX-License-Identifier: MIT */
#include "cpu_interpreter.h"

#include <fmt/core.h>

namespace nvdla::delegate
{

namespace
{

tl::unexpected<Error> failed(const char *why)
{
	return fail(ErrorCode::Unsupported, "run partition on the CPU", "", why);
}

} /* namespace */

Result<void> CpuInterpreter::make()
{
	const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)>
		options(TfLiteInterpreterOptionsCreate(), TfLiteInterpreterOptionsDelete);

	TfLiteInterpreterOptionsSetNumThreads(options.get(), threads_);
	model_.reset(TfLiteModelCreate(bytes_.data(), bytes_.size()));
	if (!model_)
		return failed("TensorFlow Lite does not take the partition as a model");
	interpreter_.reset(TfLiteInterpreterCreate(model_.get(), options.get()));
	if (!interpreter_ || TfLiteInterpreterAllocateTensors(interpreter_.get()) != kTfLiteOk) {
		interpreter_.reset();
		return failed("TensorFlow Lite does not prepare the partition");
	}
	return {};
}

Result<void> CpuInterpreter::run(std::span<const HostTensor> inputs,
				 std::span<const HostTensor> outputs)
{
	if (!interpreter_) {
		if (auto made = make(); !made)
			return made;
	}
	for (size_t i = 0; i < inputs.size(); i++) {
		const auto number = static_cast<int32_t>(i);
		TfLiteTensor *to = TfLiteInterpreterGetInputTensor(interpreter_.get(), number);
		const auto from = inputs[i].bytes;
		if (!to || TfLiteTensorCopyFromBuffer(to, from.data(), from.size()) != kTfLiteOk)
			return failed("an input does not fit");
	}
	if (TfLiteInterpreterInvoke(interpreter_.get()) != kTfLiteOk)
		return failed("TensorFlow Lite could not");
	for (size_t i = 0; i < outputs.size(); i++) {
		const auto number = static_cast<int32_t>(i);
		const TfLiteTensor *from =
			TfLiteInterpreterGetOutputTensor(interpreter_.get(), number);
		const auto to = outputs[i].bytes;
		if (!from || TfLiteTensorCopyToBuffer(from, to.data(), to.size()) != kTfLiteOk)
			return failed("an output does not fit");
	}
	return {};
}

} /* namespace nvdla::delegate */

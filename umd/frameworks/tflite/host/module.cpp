/* SPDX-License-Identifier: MIT */
/*
 * The module with which the runtime computes parts of networks by TensorFlow Lite on the CPU.
 */
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/common.h>

#include "base/host/host_module.h"
#include "selection.h"

namespace
{

using nvdla::host::Failure;
using nvdla::host::said;

/* Collects TensorFlow Lite's error messages. */
class Complaints
{
public:
	static void add(void *complaints, const char *format, va_list arguments)
	{
		char line[512];

		vsnprintf(line, sizeof(line), format, arguments);
		std::string &text = static_cast<Complaints *>(complaints)->text_;
		text += (text.empty() ? "" : "; ") + std::string(line);
	}
	/* Returns the messages since the last call, or \a otherwise if there are none. */
	std::string take(const char *otherwise)
	{
		const std::string text = std::exchange(text_, {});

		return text.empty() ? otherwise : text;
	}

private:
	std::string text_;
};

/* Returns the number that ONNX files have for a type; 0 for types that a network's tensors cannot
 * have. */
int32_t numberOf(TfLiteType type)
{
	switch (type) {
	case kTfLiteFloat32:
		return 1;
	case kTfLiteUInt8:
		return 2;
	case kTfLiteInt8:
		return 3;
	case kTfLiteInt16:
		return 5;
	case kTfLiteInt32:
		return 6;
	case kTfLiteInt64:
		return 7;
	case kTfLiteBool:
		return 9;
	case kTfLiteFloat16:
		return 10;
	default:
		return 0;
	}
}

std::vector<int64_t> shapeOf(const TfLiteTensor *tensor)
{
	std::vector<int64_t> shape;

	for (int32_t i = 0; i < TfLiteTensorNumDims(tensor); i++)
		shape.push_back(TfLiteTensorDim(tensor, i));
	return shape;
}

/* An interpreter for one model. If several threads call run(), they run one after the other.
 * Variables of the model keep their values from run to run. */
class Model
{
public:
	Model(const void *bytes, size_t size, std::span<const nvdla_host_shape> shapes = {});

	/* Calls \a found with type and shape of each output. Before a run (isDone is false), a
	 * shape that only a run determines has -1 for each length. */
	void describeOutputs(void *context, nvdla_host_found found, bool isDone) const;
	/* Runs the model on inputs of zeros, to find the shapes that only a run determines. Returns
	 * the shapes of all tensors. */
	std::vector<std::vector<int32_t>> shapes();
	void run(std::span<const nvdla_host_array> inputs,
		 std::span<const nvdla_host_array> outputs, nvdla_host_found found,
		 const nvdla::host::Room &room);

private:
	const TfLiteTensor *output(size_t i) const
	{
		return TfLiteInterpreterGetOutputTensor(interpreter_.get(),
							static_cast<int32_t>(i));
	}
	void takeInputs(std::span<const nvdla_host_array> inputs);

	std::vector<std::max_align_t> bytes_;
	Complaints complaints_;
	std::mutex one_;
	std::unique_ptr<TfLiteModel, decltype(&TfLiteModelDelete)> model_{ nullptr,
									   TfLiteModelDelete };
	std::unique_ptr<TfLiteInterpreter, decltype(&TfLiteInterpreterDelete)> interpreter_{
		nullptr, TfLiteInterpreterDelete
	};
};

Model::Model(const void *bytes, size_t size, std::span<const nvdla_host_shape> shapes)
	: bytes_(size / sizeof(std::max_align_t) + 1)
{
	const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)>
		options(TfLiteInterpreterOptionsCreate(), TfLiteInterpreterOptionsDelete);

	std::memcpy(bytes_.data(), bytes, size);
	nvdla::host::verifyFile(bytes_.data(), size);
	TfLiteInterpreterOptionsSetNumThreads(
		options.get(), static_cast<int32_t>(std::thread::hardware_concurrency()));
	TfLiteInterpreterOptionsSetErrorReporter(options.get(), Complaints::add, &complaints_);
	model_.reset(TfLiteModelCreateWithErrorReporter(bytes_.data(), size, Complaints::add,
							&complaints_));
	if (model_)
		interpreter_.reset(TfLiteInterpreterCreate(model_.get(), options.get()));
	for (const nvdla_host_shape &shape : shapes) {
		if (!interpreter_ || TfLiteInterpreterResizeInputTensor(
					     interpreter_.get(), shape.input, shape.extents,
					     static_cast<int32_t>(shape.rank)) != kTfLiteOk)
			throw Failure(complaints_.take("an input cannot have this shape"));
	}
	if (!interpreter_ || TfLiteInterpreterAllocateTensors(interpreter_.get()) != kTfLiteOk)
		throw Failure(complaints_.take("it is no model that can run"));
}

void Model::describeOutputs(void *context, nvdla_host_found found, bool isDone) const
{
	const auto count =
		static_cast<size_t>(TfLiteInterpreterGetOutputTensorCount(interpreter_.get()));

	for (size_t i = 0; i < count; i++) {
		std::vector<int64_t> shape = shapeOf(output(i));
		if (!isDone && output(i)->allocation_type == kTfLiteDynamic)
			std::ranges::fill(shape, -1);
		found(context, TfLiteTensorName(output(i)), numberOf(TfLiteTensorType(output(i))),
		      shape.data(), shape.size());
	}
}

std::vector<std::vector<int32_t>> Model::shapes()
{
	std::vector<std::vector<int32_t>> all;
	const auto inputs =
		static_cast<size_t>(TfLiteInterpreterGetInputTensorCount(interpreter_.get()));

	for (size_t i = 0; i < inputs; i++) {
		TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter_.get(),
								      static_cast<int32_t>(i));
		if (TfLiteTensorByteSize(input))
			std::memset(TfLiteTensorData(input), 0, TfLiteTensorByteSize(input));
	}
	if (TfLiteInterpreterInvoke(interpreter_.get()) != kTfLiteOk)
		throw Failure(complaints_.take("it does not run"));
	for (int i = 0;; i++) {
		const TfLiteTensor *tensor = TfLiteInterpreterGetTensor(interpreter_.get(), i);
		if (!tensor)
			return all;
		const std::vector<int64_t> shape = shapeOf(tensor);
		all.emplace_back(shape.begin(), shape.end());
	}
}

/* Copies the inputs by their order in the file, not by name, because names need not be unique. */
void Model::takeInputs(std::span<const nvdla_host_array> inputs)
{
	const auto count =
		static_cast<size_t>(TfLiteInterpreterGetInputTensorCount(interpreter_.get()));

	if (inputs.size() != count)
		throw Failure("the model has " + std::to_string(count) + " inputs, not " +
			      std::to_string(inputs.size()));
	for (size_t i = 0; i < count; i++) {
		TfLiteTensor *to = TfLiteInterpreterGetInputTensor(interpreter_.get(),
								   static_cast<int32_t>(i));
		if (numberOf(TfLiteTensorType(to)) != inputs[i].type ||
		    TfLiteTensorByteSize(to) != inputs[i].size)
			throw Failure(std::string("input '") + inputs[i].name + "' has " +
				      std::to_string(inputs[i].size) + " bytes, the model needs " +
				      std::to_string(TfLiteTensorByteSize(to)));
		if (inputs[i].size)
			std::memcpy(TfLiteTensorData(to), inputs[i].data, inputs[i].size);
	}
}

void Model::run(std::span<const nvdla_host_array> inputs, std::span<const nvdla_host_array> outputs,
		nvdla_host_found found, const nvdla::host::Room &room)
{
	const std::lock_guard lock(one_);
	std::vector<void *> places;

	takeInputs(inputs);
	if (TfLiteInterpreterInvoke(interpreter_.get()) != kTfLiteOk)
		throw Failure(complaints_.take("it does not run"));
	if (found)
		return describeOutputs(room.context, found, true);
	if (outputs.size() !=
	    static_cast<size_t>(TfLiteInterpreterGetOutputTensorCount(interpreter_.get())))
		throw Failure("the model has another number of outputs");
	for (size_t i = 0; i < outputs.size(); i++) {
		const std::vector<int64_t> shape = shapeOf(output(i));
		places.push_back(nvdla::host::placeOf(
			outputs[i], i, numberOf(TfLiteTensorType(output(i))), shape.data(),
			shape.size(), TfLiteTensorByteSize(output(i)), room));
	}
	for (size_t i = 0; i < outputs.size(); i++) {
		if (const size_t size = TfLiteTensorByteSize(output(i)))
			std::memcpy(places[i], TfLiteTensorData(output(i)), size);
	}
}

void *open(const void *bytes, size_t size, void *context, nvdla_host_say say)
{
	std::unique_ptr<Model> model;

	said(context, say, [&] { model = std::make_unique<Model>(bytes, size); });
	return model.release();
}

void close(void *model)
{
	delete static_cast<Model *>(model);
}

int outputs(void *model, void *context, nvdla_host_found found, nvdla_host_say say)
{
	return said(context, say, [&] {
		static_cast<const Model *>(model)->describeOutputs(context, found, false);
	});
}

int run(void *model, const nvdla_host_array *from, size_t numFrom, const nvdla_host_array *to,
	size_t numTo, void *context, nvdla_host_found found, nvdla_host_room room,
	nvdla_host_say say)
{
	return said(context, say, [&] {
		static_cast<Model *>(model)->run({ from, numFrom }, { to, numTo }, found,
						 { context, room });
	});
}

int select(const void *file, size_t size, const nvdla_host_selection *selection, void *context,
	   nvdla_host_take take, nvdla_host_say say)
{
	return said(context, say,
		    [&] { nvdla::host::selectOperators(file, size, *selection, context, take); });
}

int resize(const void *file, size_t size, const nvdla_host_shape *shapes, size_t numShapes,
	   void *context, nvdla_host_take take, nvdla_host_say say)
{
	return said(context, say, [&] {
		Model model(file, size, { shapes, numShapes });
		nvdla::host::setShapes(file, size, model.shapes(), context, take);
	});
}

} /* namespace */

extern "C" __attribute__((visibility("default"))) const nvdla_host_functions *nvdla_host_library()
{
	static constexpr nvdla_host_functions functions{
		NVDLA_HOST_INTERFACE, open, close, outputs, run, select, resize
	};

	return &functions;
}

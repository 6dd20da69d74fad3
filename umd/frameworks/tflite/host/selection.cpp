/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <tensorflow/lite/schema/schema_generated.h>

#include "base/host/host_module.h"

namespace nvdla::host
{

namespace
{

namespace fb = ::tflite;

/*
 * Makes a file of selected operators: moves each of them, with its tensors, from the first graph of
 * a file to new lists.
 */
class Selector
{
public:
	explicit Selector(std::unique_ptr<fb::ModelT> model) : model_(std::move(model))
	{
		if (model_->subgraphs.empty())
			throw Failure("the file has no graph");
	}

	void select(const nvdla_host_selection &selection);
	const fb::ModelT &model() const { return *model_; }

private:
	fb::SubGraphT &graph() { return *model_->subgraphs.front(); }
	void takeOperator(int32_t index);
	int32_t takeTensor(int32_t index);
	void takeTensors(std::vector<int32_t> &indices);
	void dropOtherGraphs();
	void dropBuffers();

	std::unique_ptr<fb::ModelT> model_;
	/* A tensor's old number -> its number in the new file. */
	std::map<int32_t, int32_t> numbers_;
	std::vector<std::unique_ptr<fb::TensorT>> tensors_;
	std::vector<std::unique_ptr<fb::OperatorT>> operators_;
	bool namesGraphs_ = false;
};

int32_t Selector::takeTensor(int32_t index)
{
	/* An index of -1 stands for an optional input that is absent. */
	if (index < 0)
		return index;
	if (static_cast<size_t>(index) >= graph().tensors.size())
		throw Failure("the file has no tensor " + std::to_string(index));
	const auto [known, isNew] =
		numbers_.try_emplace(index, static_cast<int32_t>(tensors_.size()));
	if (isNew)
		tensors_.push_back(std::move(graph().tensors[static_cast<size_t>(index)]));
	return known->second;
}

void Selector::takeTensors(std::vector<int32_t> &indices)
{
	for (int32_t &index : indices)
		index = takeTensor(index);
}

void Selector::takeOperator(int32_t index)
{
	auto &operators = graph().operators;

	if (index < 0 || static_cast<size_t>(index) >= operators.size() ||
	    !operators[static_cast<size_t>(index)])
		throw Failure("the file has no operator " + std::to_string(index));
	std::unique_ptr<fb::OperatorT> taken = std::move(operators[static_cast<size_t>(index)]);
	takeTensors(taken->inputs);
	takeTensors(taken->outputs);
	takeTensors(taken->intermediates);
	switch (taken->builtin_options.type) {
	case fb::BuiltinOptions_IfOptions:
	case fb::BuiltinOptions_WhileOptions:
	case fb::BuiltinOptions_CallOnceOptions:
		namesGraphs_ = true;
		break;
	default:
		break;
	}
	operators_.push_back(std::move(taken));
}

void Selector::dropOtherGraphs()
{
	if (!namesGraphs_)
		model_->subgraphs.resize(1);
	/* Drop signatures and metadata, which name tensors and buffers by their former numbers. */
	model_->signature_defs.clear();
	model_->metadata.clear();
	model_->metadata_buffer.clear();
}

void Selector::dropBuffers()
{
	std::vector<bool> isUsed(model_->buffers.size());

	for (const auto &graph : model_->subgraphs) {
		for (const auto &tensor : graph->tensors) {
			if (tensor->buffer >= isUsed.size())
				throw Failure("the file has no buffer " +
					      std::to_string(tensor->buffer));
			isUsed[tensor->buffer] = true;
		}
	}
	for (size_t i = 0; i < isUsed.size(); i++) {
		if (!isUsed[i])
			model_->buffers[i] = std::make_unique<fb::BufferT>();
	}
}

void Selector::select(const nvdla_host_selection &selection)
{
	for (const int32_t index : std::span(selection.operators, selection.num_operators))
		takeOperator(index);
	std::vector<int32_t> inputs(selection.inputs, selection.inputs + selection.num_inputs);
	std::vector<int32_t> outputs(selection.outputs, selection.outputs + selection.num_outputs);
	takeTensors(inputs);
	takeTensors(outputs);
	graph().inputs = std::move(inputs);
	graph().outputs = std::move(outputs);
	graph().tensors = std::move(tensors_);
	graph().operators = std::move(operators_);
	dropOtherGraphs();
	dropBuffers();
}

std::unique_ptr<fb::ModelT> unpack(const void *file, size_t size)
{
	/* FlatBuffers reads scalars in place, so the file must be at an aligned address. */
	std::vector<std::max_align_t> aligned(size / sizeof(std::max_align_t) + 1);

	std::memcpy(aligned.data(), file, size);
	verifyFile(aligned.data(), size);
	return fb::UnPackModel(aligned.data());
}

void handOut(const fb::ModelT &model, void *context, nvdla_host_take take)
{
	flatbuffers::FlatBufferBuilder builder;

	fb::FinishModelBuffer(builder, fb::CreateModel(builder, &model));
	take(context, builder.GetBufferPointer(), builder.GetSize());
}

} /* namespace */

void verifyFile(const void *file, size_t size)
{
	flatbuffers::Verifier verifier(static_cast<const uint8_t *>(file), size);

	if (!fb::VerifyModelBuffer(verifier))
		throw Failure("the file is truncated, or tables lie outside of it");
}

void selectOperators(const void *file, size_t size, const nvdla_host_selection &selection,
		     void *context, nvdla_host_take take)
{
	Selector selector(unpack(file, size));

	selector.select(selection);
	handOut(selector.model(), context, take);
}

void setShapes(const void *file, size_t size, const std::vector<std::vector<int32_t>> &shapes,
	       void *context, nvdla_host_take take)
{
	const std::unique_ptr<fb::ModelT> model = unpack(file, size);
	auto &tensors = model->subgraphs.at(0)->tensors;

	for (size_t i = 0; i < tensors.size() && i < shapes.size(); i++) {
		tensors[i]->shape = shapes[i];
		tensors[i]->shape_signature.clear();
	}
	handOut(*model, context, take);
}

} /* namespace nvdla::host */

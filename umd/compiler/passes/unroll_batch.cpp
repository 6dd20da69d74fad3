/* SPDX-License-Identifier: MIT */
/*
 * Computes a batch sample by sample. Each operator becomes one operator for each sample. These stay
 * together, so that operations with the same kernels follow each other. All samples share the
 * constants.
 */
#include "passes.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "compiler/rules.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t mostSamples = 64;
/* Most elements of all samples of a matrix product that takes all samples at once (the core's
 * multi-batch mode): the samples share the convolution buffer with the weights. */
constexpr uint64_t mostElementsAtOnce = 1 << 16;

void refuseIf(bool isWrong, const Operator &operation, const std::string &why)
{
	if (isWrong)
		refuse(ErrorCode::Unsupported, "compile model",
		       fmt::format("{} {}", operation.type, inQuotes(operation.name)), why);
}

class Unroller
{
public:
	Unroller(Model &model, uint32_t batch, uint32_t mostAtOnce)
		: model_(model), batch_(batch), mostAtOnce_(mostAtOnce)
	{
	}

	void run();

private:
	const Value &value(ValueId id) const { return model_.values[id]; }
	const Extents &shape(ValueId id) const { return value(id).shape; }
	bool isBatched(ValueId id) const { return value(id).batch > 1 || samples_.contains(id); }
	/* Refuse operators that do not work sample by sample. */
	void check(const Operator &operation) const;
	/* Returns the value for one sample: a part of a batch, or of a constant with numbers for
	 * each sample. Any other value serves all samples. */
	ValueId sample(ValueId id, uint32_t index, const Operator &reader);
	const std::vector<ValueId> &describeSamples(ValueId id);
	/* Returns a single value with all samples, marked by Value::batch. */
	ValueId whole(ValueId id, const Operator &by);
	bool isAtOnce(const Operator &operation) const;
	void addSample(const Operator &operation, uint32_t index);

	Model &model_;
	const uint32_t batch_;
	const uint32_t mostAtOnce_;
	std::map<ValueId, std::vector<ValueId>> samples_; /* ids of samples, by the whole value */
	std::map<ValueId, Operator> reshapes_;		  /* reshapes, by the value they write */
	std::vector<Operator> operators_;
};

void Unroller::check(const Operator &operation) const
{
	const Kind &kind = operation.kind;
	const Extents &in = shape(operation.inputs.front());
	const Extents &out = shape(operation.outputs.front());
	const auto *transpose = std::get_if<Transpose>(&kind);

	refuseIf(batch_ > mostSamples, operation,
		 fmt::format("has a batch of {}; up to {} are possible", batch_, mostSamples));
	refuseIf(out.empty() || out.front() != batch_, operation,
		 fmt::format("makes {} of a batch of {}; the first axis has to stay the batch",
			     toString(out), batch_));
	refuseIf(transpose && (transpose->extents.empty() || transpose->extents.front() != batch_ ||
			       transpose->order.front() != 0),
		 operation, "moves the axis of the batch");
	refuseIf(traitsOf(kind).isOverLastAxis && in.size() < 2, operation,
		 "works along the axis of the batch");
	refuseIf(isAny<FullyConnected>(kind) &&
			 elementCount(in) / batch_ % shape(operation.inputs[1])[1],
		 operation, "takes rows that are of several samples");
	for (const ValueId id : operation.inputs) {
		const Value &input = value(id);
		const bool isLikeOutput =
			input.shape.size() == out.size() && input.shape.front() == batch_;
		const bool isOperand = isAny<Elementwise, Product>(kind);
		refuseIf(isAny<Concatenation>(kind) && !isBatched(id), operation,
			 fmt::format("puts '{}', which is no batch, beside one", input.name));
		refuseIf(isOperand && isBatched(id) && !isLikeOutput, operation,
			 fmt::format("repeats the batch '{}' along another axis", input.name));
		refuseIf(isOperand && !isBatched(id) && isLikeOutput &&
				 (!input.isConstant || input.quantization.values().size() > 1),
			 operation, fmt::format("takes '{}' as a batch", input.name));
	}
}

const std::vector<ValueId> &Unroller::describeSamples(ValueId id)
{
	for (uint32_t i = 0; i < batch_; i++) {
		Value one = value(id);
		one.shape.front() = 1;
		one.batch = 1;
		samples_[id].push_back(model_.add(std::move(one)));
	}
	return samples_[id];
}

ValueId Unroller::sample(ValueId id, uint32_t index, const Operator &reader)
{
	if (value(id).isConstant && traitsOf(reader.kind).isRepeating && shape(id).size() > 1 &&
	    shape(id).size() == shape(reader.outputs.front()).size() &&
	    shape(id).front() == batch_) {
		Value part = value(id);
		const size_t bytes = part.data.size() / batch_;
		const auto one = value(id).data.subspan(index * bytes, bytes);
		part.shape.front() = 1;
		part.data = std::vector(one.begin(), one.end());
		return model_.add(std::move(part));
	}
	if (const auto known = samples_.find(id); known != samples_.end())
		return known->second[index];
	if (!isBatched(id))
		return id;
	const std::vector<ValueId> &parts = describeSamples(id);
	Slice slice{ Extents(shape(id).size(), 0), Extents(shape(id).size(), 1) };
	for (uint32_t i = 0; i < batch_; i++) {
		slice.begin.front() = i;
		operators_.push_back({ value(id).name,
				       fmt::format("(sample {})", i),
				       slice,
				       { id },
				       { parts[i] },
				       reader.index });
	}
	return parts[index];
}

ValueId Unroller::whole(ValueId id, const Operator &by)
{
	if (value(id).batch > 1)
		return id;
	model_.values[id].batch = batch_;
	Operator all{ value(id).name, "(batch)", Concatenation{}, samples_[id], { id }, by.index };
	if (const auto reshape = reshapes_.find(id); reshape != reshapes_.end()) {
		all = reshape->second;
		all.inputs = { whole(all.inputs.front(), by) };
	}
	operators_.push_back(std::move(all));
	return id;
}

/* Whether one operation can take all samples. SDP reads no batches from memory, so it must be able
 * to do its part on the fly. */
bool Unroller::isAtOnce(const Operator &operation) const
{
	const auto *full = std::get_if<FullyConnected>(&operation.kind);
	if (!full)
		return false;
	const Extents &in = shape(operation.inputs.front());
	const Value &weights = value(operation.inputs[1]);
	const auto quantizations = weights.quantization.values();
	const bool isSymmetric =
		weights.type != ElementType::UInt8 &&
		std::ranges::all_of(quantizations, [](const Quantization &quantization) {
			return quantization.zeroPoint == 0;
		});

	return isSymmetric && batch_ <= mostAtOnce_ && in.size() == 2 &&
	       elementCount(in) <= mostElementsAtOnce && weights.shape[1] == in.back() &&
	       (full->activation.isNone() || full->activation.low == 0);
}

void Unroller::addSample(const Operator &operation, uint32_t index)
{
	Operator one = operation;

	for (ValueId &id : one.inputs)
		id = sample(id, index, operation);
	const ValueId made = operation.outputs.front();
	if (!samples_.contains(made))
		describeSamples(made);
	one.outputs = { samples_[made][index] };
	if (auto *transpose = std::get_if<Transpose>(&one.kind)) {
		transpose->extents.erase(transpose->extents.begin());
		transpose->order.erase(transpose->order.begin());
		for (uint32_t &axis : transpose->order)
			axis--;
	}
	operators_.push_back(std::move(one));
}

void Unroller::run()
{
	/* Values without a writer: inputs, and results of unknown operators, which are left out. */
	for (ValueId id = 0; id < model_.values.size(); id++) {
		const bool begins = !value(id).isConstant && !model_.writer(id) &&
				    shape(id).size() > 1 && shape(id).front() == batch_;
		model_.values[id].batch = begins ? batch_ : 1;
	}
	for (const Operator &operation : model_.operators) {
		const bool isOfBatch = std::ranges::any_of(
			operation.inputs, [this](ValueId id) { return isBatched(id); });
		if (!isOfBatch) {
			operators_.push_back(operation);
			continue;
		}
		check(operation);
		const ValueId made = operation.outputs.front();
		if (isAny<Reshape>(operation.kind))
			reshapes_.emplace(made, operation);
		if (isAtOnce(operation)) {
			const ValueId all = whole(operation.inputs.front(), operation);
			operators_.push_back(operation);
			operators_.back().inputs.front() = all;
			model_.values[made].batch = batch_;
			continue;
		}
		for (uint32_t i = 0; i < batch_; i++)
			addSample(operation, i);
	}
	for (const ValueId id : model_.outputs) {
		if (isBatched(id))
			whole(id, *model_.writer(id));
	}
	model_.operators = std::move(operators_);
	removeUnused(model_);
}

/* Number of samples of the inputs, if an operator on pictures reads them as a batch; else 1. */
uint32_t batchOf(const Model &model)
{
	for (const Operator &operation : model.operators) {
		if (traitsOf(operation.kind).countsElements)
			continue;
		for (const auto &ids : { operation.inputs, operation.outputs }) {
			for (const ValueId id : ids) {
				const Value &value = model.values[id];
				if (!value.isConstant && value.shape.size() == 4 &&
				    value.shape[0] > 1)
					return value.shape[0];
			}
		}
	}
	return 1;
}

} /* namespace */

void unrollBatch(Model &model, const CoreGeometry &core)
{
	if (const uint32_t batch = batchOf(model); batch > 1)
		Unroller(model, batch, core.maxBatch).run();
}

} /* namespace nvdla::compiler */

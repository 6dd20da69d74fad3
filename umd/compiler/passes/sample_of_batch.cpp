/* SPDX-License-Identifier: MIT */
/*
 * Reduces the batch of a model to one sample for calibration, and restores it afterwards.
 * Quantizations that are found with single samples hold for all samples of a batch.
 */
#include <algorithm>

#include <fmt/core.h>

#include "passes.h"

namespace nvdla::compiler
{

namespace
{

/* Which values follow from some inputs. */
std::vector<bool> derivedFrom(const Model &model, const std::vector<bool> &inputs)
{
	std::vector<bool> derived(model.values.size());

	for (size_t i = 0; i < model.inputs.size(); i++)
		derived[model.inputs[i]] = inputs[i];
	for (const Operator &operation : model.operators) {
		const bool isDerived = std::ranges::any_of(operation.inputs,
							   [&](ValueId id) { return derived[id]; });
		for (const ValueId id : operation.outputs)
			derived[id] = isDerived;
	}
	return derived;
}

/* A constant that has numbers for each sample. */
bool hasSamples(const Model &model, const Operator &operation, uint32_t samples)
{
	const size_t rank = model.values[operation.outputs.front()].shape.size();

	return (std::holds_alternative<Elementwise>(operation.kind) ||
		std::holds_alternative<PRelu>(operation.kind)) &&
	       std::ranges::any_of(operation.inputs, [&](ValueId id) {
		       const Value &value = model.values[id];
		       return value.isConstant && value.shape.size() == rank && rank > 1 &&
			      value.shape.front() == samples;
	       });
}

} /* namespace */

Result<Batch> takeBatch(Model &model)
{
	Batch batch{ batchOf(model), {} };

	for (const ValueId id : model.inputs) {
		const Extents &shape = model.values[id].shape;
		batch.inputs.push_back(shape.size() > 1 && shape.front() == batch.samples);
	}
	if (batch.samples == 1)
		return batch;
	Model whole = model;
	if (auto unrolled = unrollBatch(whole); !unrolled)
		return forward(unrolled);
	const std::vector<bool> derived = derivedFrom(model, batch.inputs);
	for (Operator &operation : model.operators) {
		if (!derived[operation.outputs.front()])
			continue;
		if (hasSamples(model, operation, batch.samples))
			return fail(ErrorCode::Unsupported, "compile model",
				    fmt::format("{} '{}'", operation.type, operation.name),
				    "has a constant for each sample; calibrate the model with a "
				    "batch of 1");
		if (auto *transpose = std::get_if<Transpose>(&operation.kind))
			transpose->extents.front() = 1;
	}
	for (ValueId id = 0; id < derived.size(); id++) {
		if (derived[id])
			model.values[id].shape.front() = 1;
	}
	return batch;
}

void giveBatch(Model &model, const Batch &batch)
{
	const std::vector<bool> derived = derivedFrom(model, batch.inputs);

	for (ValueId id = 0; id < derived.size(); id++) {
		if (derived[id])
			model.values[id].shape.front() = batch.samples;
	}
	for (Operator &operation : model.operators) {
		auto *transpose = std::get_if<Transpose>(&operation.kind);
		if (transpose && derived[operation.outputs.front()])
			*transpose = ofSamples(batch.samples, std::move(*transpose));
	}
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * The largest of a window is found channel by channel, so what is pooled behind a concatenation may
 * be pooled before: by then a convolution can hand it over on the fly.
 */
#include <algorithm>

#include "passes.h"

namespace nvdla::compiler
{

namespace
{

/* The pooling that alone reads a concatenation of channels, if its parts can be pooled instead. */
const Operator *poolingBehind(const Model &model, const Operator &concatenation)
{
	const auto *kind = std::get_if<Concatenation>(&concatenation.kind);
	const ValueId whole = concatenation.outputs.front();
	const Value &value = model.values[whole];
	const auto readers = model.readers(whole);

	if (!kind || !kind->activation.isNone() || value.shape.size() != 4 || value.batch != 1 ||
	    kind->axis != 3 || model.isOutput(whole) || readers.size() != 1)
		return nullptr;
	const Operator &reader = model.operators[readers.front()];
	const auto *pool = std::get_if<Pool>(&reader.kind);
	const bool moves = pool && isExtreme(pool->method) && pool->activation.isNone() &&
			   model.values[reader.outputs.front()].quantization == value.quantization;
	/* Integers of other steps are turned into the concatenation's in order: the largest stays
	 * that. */
	const auto isAlike = [&](ValueId part) {
		return !model.values[part].isConstant && model.values[part].type == value.type;
	};

	return moves && std::ranges::all_of(concatenation.inputs, isAlike) ? &reader : nullptr;
}

/* Whether a pooling could take a value from the convolution that writes it. */
bool isHandedOver(const Model &model, ValueId part)
{
	const Operator *writer = model.writer(part);

	return writer && std::holds_alternative<Convolution>(writer->kind) &&
	       model.readers(part).size() == 1 && !model.isOutput(part);
}

} /* namespace */

bool canPoolParts(const Model &model, const Operator &concatenation)
{
	return poolingBehind(model, concatenation) &&
	       std::ranges::any_of(concatenation.inputs,
				   [&](ValueId part) { return isHandedOver(model, part); });
}

ValueId poolParts(Model &model, ValueId concatenated)
{
	const Operator before = *model.writer(concatenated);
	const Operator pooling = *poolingBehind(model, before);
	const ValueId result = pooling.outputs.front();
	Operator behind = before;
	std::vector<Operator> moved;

	behind.outputs = { result };
	for (ValueId &part : behind.inputs) {
		Value pooled = model.values[part];
		pooled.name += " pooled";
		for (const size_t axis : { 1, 2 })
			pooled.shape[axis] = model.values[result].shape[axis];
		const ValueId made = model.add(std::move(pooled));
		Operator one = pooling;
		one.inputs = { part };
		one.outputs = { made };
		moved.push_back(std::move(one));
		part = made;
	}
	moved.push_back(std::move(behind));
	const auto place =
		model.operators.begin() + (model.writer(result) - model.operators.data());
	model.operators.insert(model.operators.erase(place), moved.begin(), moved.end());
	return result;
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * A maximum is pooled channel by channel, so the pooling of a concatenation equals the
 * concatenation of poolings. PDP can read a convolution's result on the fly, but not a
 * concatenation in memory.
 */
#include <algorithm>

#include "passes.h"

namespace nvdla::compiler
{

namespace
{

/* The concatenation of channels that a pooling alone reads, if the pooling could read its parts
 * instead, and one of these from a convolution. */
const Operator *concatenationBefore(const Model &model, const Operator &pooling)
{
	const auto *pool = std::get_if<Pool>(&pooling.kind);
	if (!pool || !isExtreme(pool->method) || !pool->activation.isNone())
		return nullptr;
	const ValueId whole = pooling.inputs.front();
	const Value &value = model.values[whole];
	const Operator *writer = model.writer(whole);
	const auto *kind = writer ? std::get_if<Concatenation>(&writer->kind) : nullptr;
	/* Requantization keeps the order of integers, so the largest one stays the largest. */
	const auto isAlike = [&](ValueId part) {
		return !model.values[part].isConstant && model.values[part].type == value.type;
	};
	const auto isHandedOver = [&](ValueId part) {
		const Operator *from = model.writer(part);
		return from && isAny<Convolution>(from->kind) && model.isReadOnce(part);
	};

	return kind && kind->activation.isNone() && value.shape.size() == 4 && value.batch == 1 &&
			       kind->axis == 3 && model.isReadOnce(whole) &&
			       model.values[pooling.outputs.front()].quantization ==
				       value.quantization &&
			       std::ranges::all_of(writer->inputs, isAlike) &&
			       std::ranges::any_of(writer->inputs, isHandedOver)
		       ? writer
		       : nullptr;
}

} /* namespace */

void poolParts(const Operator &pooling, Chain &chain)
{
	const Operator *concatenation = concatenationBefore(chain.model, pooling);
	if (!concatenation)
		return;
	Operator behind = *concatenation;
	for (ValueId &part : behind.inputs) {
		Extents shape = chain.model.values[pooling.outputs.front()].shape;
		shape.back() = chain.model.values[part].shape.back();
		Operator &one = chain.operators.emplace_back(pooling);
		one.inputs = { part };
		part = chain.model.addLike(part, " pooled", std::move(shape));
		one.outputs = { part };
	}
	behind.outputs = pooling.outputs;
	chain.operators.push_back(std::move(behind));
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>
#include <map>

namespace nvdla::compiler
{

namespace
{

/* Whether an operator has computed inputs, and all of these are integers. */
bool readsIntegers(const Model &model, const Operator &operation)
{
	bool any = false;

	for (const ValueId id : operation.inputs) {
		if (!model.values[id].isConstant && isFloat(model.values[id].type))
			return false;
		any |= !model.values[id].isConstant;
	}
	return any;
}

/*
 * Goes back from \a to through operators that only move elements to one that reads integers.
 * Returns the results of all these; nothing if one has another reader, or none reads integers.
 */
std::vector<ValueId> madeOfIntegers(const Model &model, ValueId to)
{
	std::vector<ValueId> values;

	for (;;) {
		const Operator *writer = model.writer(to);
		values.push_back(to);
		if (!isFloat(model.values[to].type) || !writer || !model.isReadOnce(to))
			return {};
		if (readsIntegers(model, *writer))
			return values;
		if (!traitsOf(writer->kind).countsElements)
			return {};
		to = writer->inputs.front();
	}
}

} /* namespace */

bool takeOffEnds(Model &model, const Operator &operation)
{
	const ValueId from = operation.inputs.front(), to = operation.outputs.front();
	const bool quantizes = isFloat(model.values[from].type);
	const bool dequantizes = isFloat(model.values[to].type);
	const auto *unary = std::get_if<Unary>(&operation.kind);

	if (!unary || !unary->isConversion() || quantizes == dequantizes || model.isOfState(from) ||
	    model.isOfState(to) ||
	    (quantizes ? !model.isInput(from) || !model.isReadOnce(from)
		       : !model.isOutput(to) || !model.readers(to).empty() || model.isInput(from)))
		return false;
	if (quantizes)
		std::ranges::replace(model.inputs, from, to);
	else
		std::ranges::replace(model.outputs, to, from);
	return true;
}

void makeSigned(Model &model)
{
	constexpr int32_t half = 128;

	for (Value &value : model.values) {
		if (value.type != ElementType::UInt8 || value.isConstant)
			continue;
		const Quantization all = value.quantization.channel(0);
		value.type = ElementType::Int8;
		value.quantization = Quantization{ all.scale, all.zeroPoint - half };
	}
}

bool quantizeResult(Model &model, const Operator &operation)
{
	const auto *unary = std::get_if<Unary>(&operation.kind);
	const ValueId from = operation.inputs.front(), to = operation.outputs.front();
	if (!unary || !unary->isConversion() || isFloat(model.values[to].type))
		return false;
	const std::vector<ValueId> made = madeOfIntegers(model, from);
	for (const ValueId id : made) {
		model.values[id].type = model.values[to].type;
		model.values[id].quantization = model.values[to].quantization;
	}
	if (!made.empty())
		model.writer(from)->outputs.front() = to;
	return !made.empty();
}

void separateTypes(Model &model)
{
	std::map<ValueId, ValueId> known; /* float values, by the integer values they are made of */

	expandEach(model, [&](Operator &operation, Chain &chain) {
		const auto *unary = std::get_if<Unary>(&operation.kind);
		/* Conversions and functions over channels take integers and make real numbers. */
		const bool takesBoth =
			(unary && unary->isConversion()) || isOverChannels(operation.kind);
		if (!isFloat(model.values[operation.outputs.front()].type) || takesBoth)
			return;
		for (ValueId &id : operation.inputs) {
			const Value &value = model.values[id];
			if (value.isConstant || isFloat(value.type))
				continue;
			const auto [entry, isNew] = known.try_emplace(id, model.values.size());
			if (isNew) {
				chain.like.name = value.name + " as float";
				chain.like.type = "(as float)";
				chain.last = id;
				chain.add(Unary{}, model.add({ .name = chain.like.name,
							       .shape = value.shape }));
			}
			id = entry->second;
		}
		chain.operators.push_back(operation);
	});
}

} /* namespace nvdla::compiler */

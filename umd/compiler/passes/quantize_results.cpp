/* SPDX-License-Identifier: MIT */
#include "passes.h"

namespace nvdla::compiler
{

namespace
{

/* Of what it reads, all that is no constant is integers. */
bool readsIntegers(const Model &model, const Operator &operation)
{
	size_t integers = 0, floats = 0;

	for (const ValueId id : operation.inputs) {
		if (model.values[id].isConstant)
			continue;
		isFloat(model.values[id].type) ? floats++ : integers++;
	}
	return integers > 0 && floats == 0;
}

bool movesAll(const Kind &kind)
{
	return std::holds_alternative<Reshape>(kind) || std::holds_alternative<Transpose>(kind);
}

/*
 * What an operator on integers writes, and what becomes of it by moving its elements, up to \a to;
 * nothing if somebody else reads any of that, or the operator reads real numbers.
 */
std::vector<ValueId> madeOfIntegers(const Model &model, ValueId to)
{
	std::vector<ValueId> values;

	for (;;) {
		const Operator *writer = model.writer(to);
		values.push_back(to);
		if (!isFloat(model.values[to].type) || !writer || model.readers(to).size() != 1 ||
		    model.isOutput(to))
			return {};
		if (readsIntegers(model, *writer))
			return values;
		if (!movesAll(writer->kind))
			return {};
		to = writer->inputs.front();
	}
}

} /* namespace */

void quantizeResults(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || !unary->isConversion())
			continue;
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		if (isFloat(model.values[to].type))
			continue;
		const std::vector<ValueId> made = madeOfIntegers(model, from);
		if (made.empty())
			continue;
		for (const ValueId id : made) {
			model.values[id].type = model.values[to].type;
			model.values[id].quantization = model.values[to].quantization;
		}
		model.writer(from)->outputs.front() = to;
		model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		i--;
	}
}

} /* namespace nvdla::compiler */

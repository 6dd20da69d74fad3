/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

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

} /* namespace */

void quantizeResults(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || unary->function != Unary::Function::Identity ||
		    !unary->activation.isNone())
			continue;
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		const auto writer = std::find_if(
			model.operators.begin(), model.operators.end(),
			[from](const Operator &one) { return one.outputs.front() == from; });
		if (!isFloat(model.values[from].type) || isFloat(model.values[to].type) ||
		    writer == model.operators.end() || !readsIntegers(model, *writer) ||
		    model.readers(from).size() != 1 || model.isOutput(from))
			continue;
		writer->outputs.front() = to;
		model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		i--;
	}
}

} /* namespace nvdla::compiler */

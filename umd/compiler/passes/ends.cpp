/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

bool isConversion(const Operator &operation)
{
	const auto *unary = std::get_if<Unary>(&operation.kind);

	return unary && unary->function == Unary::Function::Identity && unary->activation.isNone();
}

} /* namespace */

void takeConversionsOffEnds(Model &model)
{
	std::vector<Operator> kept;

	for (const Operator &operation : model.operators) {
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		const bool quantizes = isFloat(model.values[from].type);
		const bool dequantizes = isFloat(model.values[to].type);
		const auto input = std::find(model.inputs.begin(), model.inputs.end(), from);
		const auto output = std::find(model.outputs.begin(), model.outputs.end(), to);
		const bool one = isConversion(operation) && quantizes != dequantizes;

		if (one && quantizes && input != model.inputs.end() &&
		    model.readers(from).size() == 1 && !model.isOutput(from))
			*input = to;
		else if (one && dequantizes && output != model.outputs.end() &&
			 model.readers(to).empty() && !model.isInput(from))
			*output = from;
		else
			kept.push_back(operation);
	}
	model.operators = std::move(kept);
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

void takeConversionsOffEnds(Model &model)
{
	std::vector<Operator> kept;

	for (const Operator &operation : model.operators) {
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		const bool quantizes = isFloat(model.values[from].type);
		const bool dequantizes = isFloat(model.values[to].type);
		const auto input = std::find(model.inputs.begin(), model.inputs.end(), from);
		const auto *unary = std::get_if<Unary>(&operation.kind);
		const bool one = unary && unary->isConversion() && quantizes != dequantizes;

		if (one && quantizes && input != model.inputs.end() &&
		    model.readers(from).size() == 1 && !model.isOutput(from))
			*input = to;
		else if (one && dequantizes && model.isOutput(to) && model.readers(to).empty() &&
			 !model.isInput(from))
			std::ranges::replace(model.outputs, to, from);
		else
			kept.push_back(operation);
	}
	model.operators = std::move(kept);
}

} /* namespace nvdla::compiler */

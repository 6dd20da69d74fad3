/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

/* The activation of an operator that has one; nullptr if it has none. */
Clamp *activationOf(Kind &kind)
{
	return std::visit(
		[](auto &operation) -> Clamp * {
			if constexpr (requires { operation.activation; })
				return &operation.activation;
			else
				return nullptr;
		},
		kind);
}

} /* namespace */

void fuseActivations(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || unary->function != Unary::Function::Identity)
			continue;
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		const Value &before = model.values[from], &after = model.values[to];
		const auto writer = std::find_if(
			model.operators.begin(), model.operators.end(),
			[from](const Operator &one) { return one.outputs.front() == from; });
		Clamp *activation =
			writer == model.operators.end() ? nullptr : activationOf(writer->kind);
		if (!activation || !activation->isNone() || model.readers(from).size() != 1 ||
		    model.isOutput(from) || before.type != after.type ||
		    before.quantization != after.quantization)
			continue;
		*activation = unary->activation;
		writer->outputs.front() = to;
		model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		i--;
	}
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "passes.h"

namespace nvdla::compiler
{

void fuseActivations(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || unary->function != Unary::Function::Identity)
			continue;
		const ValueId from = operation.inputs.front(), to = operation.outputs.front();
		const Value &before = model.values[from], &after = model.values[to];
		Operator *writer = model.writer(from);
		Clamp *activation = writer ? activationOf(writer->kind) : nullptr;
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

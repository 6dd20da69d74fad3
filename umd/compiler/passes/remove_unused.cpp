/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

void removeUnused(Model &model)
{
	std::vector<bool> needed(model.values.size());
	std::vector<Operator> kept;

	for (const ValueId id : model.outputs)
		needed[id] = true;
	for (size_t i = model.operators.size(); i-- > 0;) {
		Operator &operation = model.operators[i];
		if (std::none_of(operation.outputs.begin(), operation.outputs.end(),
				 [&](ValueId id) { return needed[id]; }))
			continue;
		for (const ValueId id : operation.inputs)
			needed[id] = true;
		kept.push_back(std::move(operation));
	}
	std::reverse(kept.begin(), kept.end());
	model.operators = std::move(kept);
}

} /* namespace nvdla::compiler */

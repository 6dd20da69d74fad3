/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

void expandEach(Model &model, const Expand &expand)
{
	std::vector<Operator> all;

	for (Operator &operation : model.operators) {
		std::vector<Operator> steps = expand(operation);
		if (steps.empty())
			steps.push_back(std::move(operation));
		std::ranges::move(steps, std::back_inserter(all));
	}
	model.operators = std::move(all);
}

Result<void> runPasses(Model &model, const CoreGeometry &core)
{
	takeConversionsOffEnds(model);
	if (auto computed = computeConstantOutputs(model); !computed)
		return computed;
	makeSigned(model);
	padWithZeros(model);
	findVariances(model);
	findStandardizations(model);
	findSoftmaxes(model);
	foldIntoFunctions(model);
	foldAffines(model);
	fuseActivations(model);
	quantizeResults(model);
	separateTypes(model);
	repeatOperands(model);
	foldPads(model);
	cutKernels(model);
	if (auto unrolled = unrollBatch(model, core); !unrolled)
		return unrolled;
	takeBlocks(model);
	uncutTransposed(model);
	splitWindows(model);
	splitEnlargements(model);
	return {};
}

} /* namespace nvdla::compiler */

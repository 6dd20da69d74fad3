/* SPDX-License-Identifier: MIT */
#include "passes.h"

namespace nvdla::compiler
{

Result<void> runPasses(Model &model)
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
	if (auto unrolled = unrollBatch(model); !unrolled)
		return unrolled;
	takeBlocks(model);
	uncutTransposed(model);
	splitWindows(model);
	splitEnlargements(model);
	return {};
}

} /* namespace nvdla::compiler */

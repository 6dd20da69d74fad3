/* SPDX-License-Identifier: MIT */
#include "passes.h"

namespace nvdla::compiler
{

void runPasses(Model &model)
{
	takeConversionsOffEnds(model);
	makeSigned(model);
	findStandardizations(model);
	foldAffines(model);
	fuseActivations(model);
	quantizeResults(model);
	separateTypes(model);
	foldPads(model);
	uncutTransposed(model);
	splitWindows(model);
}

} /* namespace nvdla::compiler */

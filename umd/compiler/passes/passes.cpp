/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

#include "compiler/rules.h"

namespace nvdla::compiler
{

void Chain::add(Kind kind, ValueId made, const std::vector<ValueId> &others)
{
	Operator &one = operators.emplace_back(like);

	one.kind = std::move(kind);
	one.inputs = { last };
	one.inputs.insert(one.inputs.end(), others.begin(), others.end());
	one.outputs = { made };
	last = made;
}

bool expandEach(Model &model, const Expand &expand)
{
	std::vector<Operator> all;
	bool isChanged = false;

	for (Operator &operation : model.operators) {
		Chain chain{ model, operation, operation.inputs.front() };
		expand(operation, chain);
		isChanged |= !chain.operators.empty();
		if (chain.operators.empty())
			chain.operators.push_back(operation);
		std::ranges::move(chain.operators, std::back_inserter(all));
	}
	model.operators = std::move(all);
	return isChanged;
}

namespace
{

/* Removes operators for which \a fold returns true, as another one includes their work. */
void foldEach(Model &model, bool (*fold)(Model &, const Operator &))
{
	for (size_t i = 0; i < model.operators.size();) {
		const Operator operation = model.operators[i];
		if (fold(model, operation))
			model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		else
			i++;
	}
}

} /* namespace */

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
	/* Constants without a reader are a large part of a model's memory; = {} would keep it. */
	for (ValueId id = 0; id < needed.size(); id++) {
		if (!needed[id])
			std::vector<std::byte>().swap(model.values[id].data);
	}
}

Result<void> runPasses(Model &model, const CoreGeometry &core)
{
	return resultOf([&] {
		foldEach(model, takeOffEnds);
		computeConstantOutputs(model);
		makeSigned(model);
		expandEach(model, padWithZeros);
		findVariances(model);
		findStandardizations(model);
		findSoftmaxes(model);
		findGelus(model);
		foldIntoFunctions(model);
		foldEach(model, foldAffine);
		foldEach(model, fuseActivation);
		foldEach(model, quantizeResult);
		separateTypes(model);
		expandEach(model, repeatOperands);
		foldEach(model, foldPad);
		expandEach(model, cutKernels);
		unrollBatch(model, core);
		for (const auto expand : { takeBlocks, uncutTransposed, splitWindows, splitPoolings,
					   splitEnlargements })
			expandEach(model, expand);
		divideLongAxes(model);
	});
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * Outputs that are constants, such as the anchors of a detector. An operation of the core needs an
 * input: a product of an input's element with zeros gets the constant as bias.
 */
#include "passes.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/number/half_range.h"
#include "compiler/rules.h"

namespace nvdla::compiler
{

namespace
{

/* Makes a float 0 of the first element of an input. */
void addZero(Chain &chain)
{
	Value first = chain.model.values[chain.last];

	first.name = chain.like.name;
	first.shape.assign(first.shape.size(), 1);
	Value zero{ .name = first.name, .shape = first.shape };
	chain.add(Slice{ Extents(zero.shape.size(), 0), zero.shape },
		  chain.model.add(std::move(first)));
	chain.add(Unary{ .activation = { 0, 0 } }, chain.model.add(std::move(zero)));
	chain.add(Reshape{}, "", { 1, 1 });
}

ValueId addComputed(Model &model, ValueId input, const Value &constant)
{
	const std::vector<double> numbers = realNumbers(constant);
	const auto count = static_cast<uint32_t>(numbers.size());
	const std::string where = fmt::format("output '{}'", constant.name);

	if (numbers.empty() || numbers.size() > mostOfSurface)
		refuse(ErrorCode::Unsupported, "compile model", where,
		       fmt::format("is a constant of {} numbers; 1 to {} are possible: leave it "
				   "out of the outputs",
				   numbers.size(), mostOfSurface));
	if (!isFloat(constant.type) &&
	    std::ranges::any_of(numbers, [](double number) { return asHalf(number) != number; }))
		refuse(ErrorCode::Unsupported, "compile model", where,
		       "is a constant of integers that FP16 does not have; leave it out of the "
		       "outputs");
	Chain chain{ model, { constant.name, "(constant)", {}, {}, {} }, input };
	addZero(chain);
	const ValueId kernels =
		model.add(floatConstant(std::vector<double>(count, 0), { count, 1 }));
	const ValueId bias = model.add(floatConstant(numbers, { count }));
	chain.add(FullyConnected{}, "", { 1, count }, { kernels, bias });
	chain.add(Reshape{}, "", constant.shape);
	std::ranges::move(chain.operators, std::back_inserter(model.operators));
	return chain.last;
}

} /* namespace */

void computeConstantOutputs(Model &model)
{
	for (size_t i = 0; i < model.outputs.size(); i++) {
		const ValueId id = model.outputs[i];
		if (!model.values[id].isConstant)
			continue;
		if (model.inputs.empty())
			refuse(ErrorCode::Unsupported, "compile model",
			       fmt::format("output '{}'", model.values[id].name),
			       "is a constant, and the model has no input");
		const ValueId computed = addComputed(model, model.inputs.front(), model.values[id]);
		std::ranges::replace(model.outputs, id, computed);
	}
}

} /* namespace nvdla::compiler */

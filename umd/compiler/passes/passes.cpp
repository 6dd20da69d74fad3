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

/* Removes operators for which \a fold returns true: it moved their work to other operators. */
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
		if (std::ranges::none_of(operation.outputs, [&](ValueId id) { return needed[id]; }))
			continue;
		for (const ValueId id : operation.inputs)
			needed[id] = true;
		kept.push_back(std::move(operation));
	}
	std::reverse(kept.begin(), kept.end());
	model.operators = std::move(kept);
	/* Free constants without a reader: they are a large part of a model's memory. */
	for (ValueId id = 0; id < needed.size(); id++) {
		if (!needed[id])
			model.values[id].data = {};
	}
}

WindowAxes::WindowAxes(const Model &model, const Operator &operation)
{
	const Extents &in = model.values[operation.inputs[0]].shape;
	const Extents &out = model.values[operation.outputs[0]].shape;
	const auto set = [&](const op::Axes &kernel, const op::Axes &dilation, const auto &kind) {
		const auto &[left, right, top, bottom] = kind.padding;
		y = { in[1], out[1], kernel.y, kind.stride.y, dilation.y, top, bottom };
		x = { in[2], out[2], kernel.x, kind.stride.x, dilation.x, left, right };
	};

	if (const auto *pool = std::get_if<Pool>(&operation.kind)) {
		set(pool->kernel, {}, *pool);
		return;
	}
	const Extents &kernels = model.values[operation.inputs[1]].shape;
	const op::Axes taps{ kernels[3], kernels[2] };
	if (const auto *conv = std::get_if<Convolution>(&operation.kind))
		set(taps, conv->dilation, *conv);
	else
		set(taps, {}, std::get<TransposedConvolution>(operation.kind));
}

Value onesOf(uint32_t channels, op::Axes window, double worth)
{
	Value kernels;

	kernels.type = ElementType::Int8;
	kernels.shape = { channels, 1, window.y, window.x };
	kernels.data = std::vector(elementCount(kernels.shape), std::byte{ 1 });
	kernels.quantization = Quantization{ worth, 0 };
	kernels.isConstant = true;
	return kernels;
}

Value inWindow(const Value &kernels, op::Axes window, KernelPlace at)
{
	const size_t size = elementBytes(kernels.type);
	const Extents &shape = kernels.shape;
	const size_t kernel = size_t{ shape[1] } * window.y * window.x * size;
	const auto first = std::max<int64_t>(at.column, 0);
	const auto last = std::min<int64_t>(at.column + shape[3], window.x);
	Value seen = kernels;

	seen.shape = { shape[0], shape[1], window.y, window.x };
	std::vector<std::byte> made(shape[0] * kernel);
	for (uint32_t k = 0; k < shape[0] && !isFloat(kernels.type); k++)
		std::fill_n(&made[k * kernel], kernel,
			    static_cast<std::byte>(kernels.quantization.channel(k).zeroPoint));
	for (size_t to = 0; to < size_t{ shape[0] } * shape[1] * window.y; to++) {
		const int64_t line = static_cast<int64_t>(to % window.y) - at.line;
		if (line < 0 || line >= shape[2])
			continue;
		const size_t from = to / window.y * shape[2] + static_cast<size_t>(line);
		std::copy_n(
			&kernels.data[(from * shape[3] + static_cast<size_t>(first - at.column)) *
				      size],
			static_cast<size_t>(last - first) * size,
			&made[(to * window.x + static_cast<size_t>(first)) * size]);
	}
	seen.data = std::move(made);
	return seen;
}

Result<void> runPasses(Model &model, const CoreGeometry &core)
{
	return resultOf([&] {
		foldEach(model, takeOffEnds);
		computeConstantOutputs(model);
		makeSigned(model);
		expandEach(model, padWithZeros);
		for (const auto find :
		     { findVariances, findStandardizations, findSoftmaxes, findGelus })
			if (expandEach(model, find))
				removeUnused(model);
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

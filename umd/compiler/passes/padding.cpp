/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

#include "compiler/real/evaluator.h"

namespace nvdla::compiler
{

namespace
{

/* Maximum number of elements of an output that is padded with other numbers than 0: a constant of
 * that size is added. The lowering refuses larger outputs. */
constexpr uint64_t mostElementsAround = uint64_t{ 1 } << 24;

/* Whether an operator can include a pad: on the core, padding has to be smaller than windows. */
bool canPad(const Model &model, const Operator &operation, const Pad &pad)
{
	const auto *pool = std::get_if<Pool>(&operation.kind);
	/* A pooling can take over a pad if its windows count zeros. */
	const bool counts =
		pool ? !isExtreme(pool->method) && (pool->countPadding || isNone(pool->padding))
		     : isAny<Convolution>(operation.kind);
	const auto fits = [&](const WindowAxis &axis, size_t at) {
		return std::max(axis.before + pad.before[at], axis.after + pad.after[at]) <
		       axis.span();
	};

	if (!counts)
		return false;
	const WindowAxes axes(model, operation);
	return fits(axes.y, 1) && fits(axes.x, 2);
}

void addPadding(Kind &kind, const Pad &pad)
{
	auto *pool = std::get_if<Pool>(&kind);
	op::Padding &padding = pool ? pool->padding : std::get<Convolution>(kind).padding;

	padding = { padding.left + pad.before[2], padding.right + pad.after[2],
		    padding.top + pad.before[1], padding.bottom + pad.after[1] };
	if (pool)
		pool->countPadding = true;
}

/*
 * A constant to add to an output that is padded with zeros: the pad's number in the padding and 0
 * elsewhere. It has one sample for all samples of a batch, unless the batch axis is padded.
 */
Value numbersAround(const Model &model, const Operator &operation, const Pad &pad)
{
	Model alone = model.alone(operation);

	for (Value &value : alone.values) {
		value.type = ElementType::Float32;
		value.isConstant = false;
		if (pad.before.size() == 4 && pad.before[0] + pad.after[0] == 0)
			value.shape.front() = 1;
	}
	const auto numbers = evaluate(alone, alone.operators[0],
				      { RealNumbers(elementCount(alone.values[0].shape)), {} });
	return floatConstant({ numbers.begin(), numbers.end() }, alone.values[1].shape);
}

/*
 * Removes taps that lie over padding only; returns how many were removed in front. With each tap,
 * the padding shrinks by the dilation, to keep the other taps in place; if the padding is too small
 * for that, the tap stays.
 */
uint32_t cut(WindowAxis &axis)
{
	const uint64_t lastWindow = uint64_t{ axis.out - 1 } * axis.stride;
	uint32_t inFront = 0;

	for (; axis.taps > 1 && lastWindow < axis.before && axis.dilation <= axis.before;
	     inFront++) {
		axis.taps--;
		axis.before -= axis.dilation;
	}
	const uint64_t there = uint64_t{ axis.before } + axis.in;
	while (axis.taps > 1 && uint64_t{ axis.taps - 1 } * axis.dilation >= there &&
	       axis.dilation <= axis.after) {
		axis.taps--;
		axis.after -= axis.dilation;
	}
	/* A kernel reduced to a single tap needs no dilation. */
	if (axis.taps == 1)
		axis.dilation = 1;
	axis.after = axis.behind();
	return inFront;
}

} /* namespace */

void padWithZeros(const Operator &operation, Chain &chain)
{
	const auto *pad = std::get_if<Pad>(&operation.kind);
	const ValueId output = operation.outputs.front();
	const Extents shape = chain.model.values[output].shape;

	if (!pad || pad->value == 0 || elementCount(shape) > mostElementsAround)
		return;
	chain.add(Pad{ pad->before, pad->after }, chain.model.addLike(output, " in zeros", shape));
	chain.add(Elementwise{ Elementwise::Function::Add, {} }, output,
		  { chain.model.add(numbersAround(chain.model, operation, *pad)) });
}

bool foldPad(Model &model, const Operator &operation)
{
	const auto *pad = std::get_if<Pad>(&operation.kind);
	const ValueId from = operation.inputs.front(), to = operation.outputs.front();
	const auto readers = model.readers(to);
	/* Only lines and columns of N, H, W, C are padded. */
	const bool isPlane = pad && pad->value == 0 && pad->before.size() == 4 &&
			     pad->before[0] + pad->after[0] + pad->before[3] + pad->after[3] == 0;

	if (!isPlane || readers.empty() || model.isOutput(to) ||
	    model.values[from].quantization != model.values[to].quantization ||
	    !std::ranges::all_of(readers, [&](size_t reader) {
		    return canPad(model, model.operators[reader], *pad);
	    }))
		return false;
	for (const size_t reader : readers) {
		addPadding(model.operators[reader].kind, *pad);
		model.operators[reader].inputs.front() = from;
	}
	return true;
}

void cutKernels(Operator &operation, Chain &chain)
{
	auto *conv = std::get_if<Convolution>(&operation.kind);
	if (!conv)
		return;
	WindowAxes axes(chain.model, operation);
	auto &[y, x] = axes;
	const Value &kernels = chain.model.values[operation.inputs[1]];
	const KernelPlace first{ -int64_t{ cut(y) }, -int64_t{ cut(x) } };
	conv->dilation = { x.dilation, y.dilation };
	if (y.taps == kernels.shape[2] && x.taps == kernels.shape[3])
		return;
	conv->padding = { x.before, x.after, y.before, y.after };
	operation.inputs[1] = chain.model.add(inWindow(kernels, { x.taps, y.taps }, first));
}

} /* namespace nvdla::compiler */

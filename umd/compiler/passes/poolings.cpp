/* SPDX-License-Identifier: MIT */
/*
 * Maximum and minimum poolings with windows that are too long for PDP become several poolings. Two
 * in a row, with windows of a and of b elements, equal one with windows of a + b - 1 elements. To
 * reduce a whole axis, each pooling's windows lie side by side instead.
 *
 * A maximum is pooled channel by channel, so the pooling of a concatenation equals the
 * concatenation of poolings. PDP can take a convolution's result on the fly, but has to read a
 * concatenation from memory.
 */
#include <algorithm>

#include <nvdla/core_geometry.h>

#include "passes.h"

namespace nvdla::compiler
{

namespace
{

bool isTooLong(const WindowAxis &axis)
{
	return axis.taps > maxPoolingKernel;
}

/*
 * Returns the first of several poolings along an axis, and changes \a rest to the work that remains
 * for the others. The first one takes over as much padding as it can: less than a window, because
 * each window needs an element of the input.
 */
WindowAxis firstOf(WindowAxis &rest)
{
	constexpr uint32_t most = maxPoolingKernel;
	WindowAxis first{ .in = rest.in, .taps = isTooLong(rest) ? most : 1 };

	if (!isTooLong(rest))
		return first;
	if (rest.taps == rest.in && rest.before == 0 && rest.after == 0) {
		first.stride = most;
		first.after = (most - rest.in % most) % most;
		rest.in = rest.taps = (rest.in + first.after) / most;
		return first;
	}
	first.before = std::min(rest.before, most - 1);
	first.after = std::min(rest.after, most - 1);
	rest.in += first.before + first.after - (most - 1);
	rest.taps -= most - 1;
	rest.before -= first.before;
	rest.after -= first.after;
	return first;
}

Pool poolingOf(const Pool &like, const WindowAxis &y, const WindowAxis &x)
{
	return { .method = like.method,
		 .kernel = { x.taps, y.taps },
		 .stride = { x.stride, y.stride },
		 .padding = { x.before, x.after, y.before, y.after } };
}

/* Returns the concatenation of channels before a pooling, if the pooling is its only reader and can
 * pool each part instead, and a convolution computes at least one part. */
const Operator *concatenationBefore(const Model &model, const Operator &pooling)
{
	const auto *pool = std::get_if<Pool>(&pooling.kind);
	if (!pool || !isExtreme(pool->method) || !pool->activation.isNone())
		return nullptr;
	const ValueId whole = pooling.inputs.front();
	const Value &value = model.values[whole];
	const Operator *writer = model.writer(whole);
	const auto *kind = writer ? std::get_if<Concatenation>(&writer->kind) : nullptr;
	/* Requantization keeps the order of integers, so the largest one stays the largest. */
	const auto isAlike = [&](ValueId part) {
		return !model.values[part].isConstant && model.values[part].type == value.type;
	};
	const auto isHandedOver = [&](ValueId part) {
		const Operator *from = model.writer(part);
		return from && isAny<Convolution>(from->kind) && model.isReadOnce(part);
	};

	return kind && kind->activation.isNone() && value.shape.size() == 4 && value.batch == 1 &&
			       kind->axis == 3 && model.isReadOnce(whole) &&
			       model.values[pooling.outputs.front()].quantization ==
				       value.quantization &&
			       std::ranges::all_of(writer->inputs, isAlike) &&
			       std::ranges::any_of(writer->inputs, isHandedOver)
		       ? writer
		       : nullptr;
}

} /* namespace */

void splitPoolings(const Operator &whole, Chain &chain)
{
	const auto *pool = std::get_if<Pool>(&whole.kind);
	if (!pool || !isExtreme(pool->method))
		return;
	const Extents in = chain.model.values[chain.last].shape;
	const ValueId result = whole.outputs.front();
	WindowAxes axes(chain.model, whole);
	auto &[y, x] = axes;

	for (WindowAxis *axis : { &y, &x }) {
		axis->after = axis->behind();
		axis->stride = axis->out > 1 ? axis->stride : 1;
	}
	while (isTooLong(y) || isTooLong(x)) {
		const WindowAxis down = firstOf(y), across = firstOf(x);
		chain.add(poolingOf(*pool, down, across), " pooled", { 1, y.in, x.in, in[3] });
	}
	if (chain.operators.empty())
		return;
	Pool last = poolingOf(*pool, y, x);
	last.activation = pool->activation;
	chain.add(last, result);
}

void poolParts(const Operator &pooling, Chain &chain)
{
	const Operator *concatenation = concatenationBefore(chain.model, pooling);
	if (!concatenation)
		return;
	Operator behind = *concatenation;
	for (ValueId &part : behind.inputs) {
		Extents shape = chain.model.values[pooling.outputs.front()].shape;
		shape.back() = chain.model.values[part].shape.back();
		Operator &one = chain.operators.emplace_back(pooling);
		one.inputs = { part };
		part = chain.model.addLike(part, " pooled", std::move(shape));
		one.outputs = { part };
	}
	behind.outputs = pooling.outputs;
	chain.operators.push_back(std::move(behind));
}

} /* namespace nvdla::compiler */

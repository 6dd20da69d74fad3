/* SPDX-License-Identifier: MIT */
/*
 * Functions over all channels; operators that move elements between channels and positions; sums,
 * means and extremes over axes, and functions made of these.
 */
#include <algorithm>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Whether a pooling window can reduce \a axes: they are lines, columns or both of a picture. A
 * single axis that is the value's last one is reduced as channels instead. */
bool isWindow(const Builder &builder, const Tensor &x, const AxisOrder &axes)
{
	const AxisOrder usual = builder.usualOrder(4);
	const bool plane = std::ranges::all_of(
		axes, [&](uint32_t axis) { return axis == usual[1] || axis == usual[2]; });

	return plane && x.shape.size() == 4 && !(axes.size() == 1 && x.order.back() == axes[0]);
}

Tensor finished(Builder &builder, const Tensor &made, const Tensor &kept, const Reduction &over)
{
	const Tensor all = made.shape == kept.shape ? made : builder.move(Reshape{}, made, kept);

	return over.keeps || over.axes.empty()
		       ? all
		       : squeezed(builder, all, { over.axes.begin(), over.axes.end() });
}

} /* namespace */

Tensor argMax(Builder &builder, const Tensor &from, uint32_t axis, bool ofSmallest)
{
	Tensor x = builder.withAxisLast(from, axis);

	/* The smallest element is the largest of the negated ones. */
	if (ofSmallest)
		x = builder.make(Elementwise{ Elementwise::Function::Multiply, {} },
				 { x.id, builder.addNumber(-1) }, builder.real(x), x);
	/* The CPU step writes an index as an integer of 16 bits, which stands for itself. */
	return builder.make(OverChannels{}, { x.id }, { ElementType::Int16, Quantization{ 1, 0 } },
			    withExtent(x, axis, 1));
}

Tensor overAxis(Builder &builder, const Tensor &from, uint32_t axis, Kind function)
{
	const Tensor x = builder.withAxisLast(from, axis);

	return builder.compute(std::move(function), x, x);
}

Tensor depthToSpace(Builder &builder, const Tensor &picture, int64_t size, bool blocksTogether)
{
	const Extents x = inValueOrder(picture, picture.shape);

	builder.need(size >= 1 && size <= UINT8_MAX && x[3] % (size * size) == 0, "blocksize",
		     fmt::format("is {}, of {} channels", size, x[3]));
	const auto block = static_cast<uint32_t>(size);
	const uint32_t channels = x[3] / block / block, h = x[1], w = x[2];
	const Transpose transpose =
		blocksTogether ? Transpose{ { h, w, channels, block, block }, { 0, 3, 1, 4, 2 } }
			       : Transpose{ { h, w, block, block, channels }, { 0, 2, 1, 3, 4 } };
	return builder.move(ofSamples(x[0], transpose), picture,
			    withValueShape(picture, { x[0], h * block, w * block, channels }));
}

Tensor spaceToDepth(Builder &builder, const Tensor &picture, int64_t size)
{
	const Extents x = inValueOrder(picture, picture.shape);

	builder.need(size >= 1 && size <= UINT8_MAX && x[1] % size == 0 && x[2] % size == 0,
		     "blocksize", fmt::format("is {}", size));
	const auto block = static_cast<uint32_t>(size);
	const uint32_t h = x[1] / block, w = x[2] / block;
	const Transpose transpose{ { h, block, w, block, x[3] }, { 0, 2, 1, 3, 4 } };
	return builder.move(ofSamples(x[0], transpose), picture,
			    withValueShape(picture, { x[0], h, w, x[3] * block * block }));
}

Rows rowsOf(Builder &builder, const Tensor &tensor, const AxisOrder &axes)
{
	AxisOrder kept;
	uint64_t elements = 1;
	Rows made;

	std::ranges::copy_if(tensor.order, std::back_inserter(kept), [&](uint32_t axis) {
		return std::ranges::find(axes, axis) == axes.end();
	});
	AxisOrder order = kept;
	order.insert(order.end(), axes.begin(), axes.end());
	made.turned = builder.inOrder(tensor, order);
	made.kept = made.turned;
	for (const uint32_t axis : axes) {
		elements *= tensor.shape[axis];
		made.kept.shape[axis] = 1;
	}
	made.rows = made.turned;
	made.reduced = made.kept;
	if (axes.size() == 1)
		return made;
	made.rows.shape.clear();
	for (const uint32_t axis : kept)
		made.rows.shape.push_back(tensor.shape[axis]);
	made.rows.shape.push_back(static_cast<uint32_t>(elements));
	made.rows.order = asInFile(made.rows.shape.size());
	made.reduced = made.rows;
	made.reduced.shape.back() = 1;
	made.rows = builder.move(Reshape{}, made.turned, made.rows);
	/* The reduced axes, of one element now, may have any place: keep a batch as first axis. */
	made.kept.order = kept;
	made.kept.order.insert(made.kept.order.begin() +
				       (kept.empty() || kept.front() != 0 ? 0 : 1),
			       axes.begin(), axes.end());
	return made;
}

Tensor reduced(Builder &builder, const Tensor &in, const Reduction &over, Pool::Method method,
	       const Around &around)
{
	builder.support(!over.axes.empty(), "axes",
			"are none; leave the operator out, which does nothing");
	const bool window = isWindow(builder, in, over.axes);
	Rows all;

	if (window) {
		all.rows = builder.inOrder(in, builder.usualOrder(4));
		all.reduced = all.rows;
		for (const uint32_t axis : over.axes)
			all.reduced.shape[axis] = 1;
		all.kept = all.reduced;
	} else {
		all = rowsOf(builder, in, over.axes);
	}
	Tensor x = all.rows;
	if (around.before != Unary{})
		x = builder.prepare(around.before, x, x);
	const Extents from = inValueOrder(x, x.shape), to = inValueOrder(x, all.reduced.shape);
	const Kind kind = window ? Kind(Pool{ .method = method,
					      .kernel = { from[2] / std::max(to[2], 1U),
							  from[1] / std::max(to[1], 1U) },
					      .ofReals = true })
				 : ChannelReduction{ method };
	x = isExtreme(method) ? builder.move(kind, x, all.reduced)
			      : builder.compute(kind, x, all.reduced);
	if (around.behind != Unary{})
		x = builder.compute(around.behind, x, x);
	return finished(builder, x, all.kept, over);
}

/*
 * Computes log(sum(exp(x))) as x - log(softmax(x)) for the largest x. There log(softmax(x)) is near
 * 0 and so exact in FP16, whereas the sum of the exponentials might be infinite.
 */
Tensor logarithmOfExponentials(Builder &builder, const Tensor &in, const Reduction &over)
{
	const Kind largest = ChannelReduction{ Pool::Method::Max };
	const Rows all = rowsOf(builder, in, over.axes);

	const Tensor most = builder.prepare(largest, all.rows, all.reduced);
	const Tensor logarithms = builder.prepare(Softmax{ 1, true }, all.rows, all.rows);
	const Tensor highest = builder.prepare(largest, logarithms, all.reduced);
	return finished(builder,
			builder.compute(Elementwise{ Elementwise::Function::Subtract, {} }, most,
					all.reduced, { highest.id }),
			all.kept, over);
}

} /* namespace nvdla::compiler::legalize */

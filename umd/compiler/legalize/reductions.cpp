/* SPDX-License-Identifier: MIT */
/*
 * Sums, means and extremes over axes, and functions made of them.
 */
#include <algorithm>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Lines, columns or both of a picture, unless these are the last axis of the value. */
bool isWindow(const Builder &builder, const Tensor &x, const AxisOrder &axes)
{
	const AxisOrder usual = builder.usualOrder(4);
	const bool plane = std::ranges::all_of(
		axes, [&](uint32_t axis) { return axis == usual[1] || axis == usual[2]; });

	return plane && x.shape.size() == 4 && !(axes.size() == 1 && x.order.back() == axes[0]);
}

/* A pooling with one window. */
Kind windowOf(const Extents &in, const Extents &out, Pool::Method method, bool isPlane)
{
	if (method == Pool::Method::Average && isPlane)
		return GlobalAverage{};
	return Pool{ method, { in[2] / std::max(out[2], 1U), in[1] / std::max(out[1], 1U) },
		     {},     {},
		     false,  {},
		     true };
}

Extents without(const Extents &shape, const AxisOrder &axes)
{
	Extents left;

	for (uint32_t axis = 0; axis < shape.size(); axis++) {
		if (std::ranges::find(axes, axis) == axes.end())
			left.push_back(shape[axis]);
	}
	return left;
}

Tensor finished(Builder &builder, const Tensor &made, const Tensor &kept, const Reduction &over)
{
	const Tensor all = made.shape == kept.shape ? made : builder.move(Reshape{}, made, kept);

	return over.keeps ? all : builder.reshaped(all, without(all.shape, over.axes));
}

} /* namespace */

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
	if (builder.failed())
		return {};
	made.kept = made.turned;
	for (const uint32_t axis : axes) {
		elements *= tensor.shape[axis];
		made.kept.shape[axis] = 1;
		if (!builder.support(elements <= mostOfAxis, "axes",
				     fmt::format("have {} elements together", elements)))
			return {};
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
	/* A batch stays the first axis. */
	made.kept.order = kept;
	made.kept.order.insert(made.kept.order.begin() +
				       (kept.empty() || kept.front() != 0 ? 0 : 1),
			       axes.begin(), axes.end());
	return made;
}

Tensor reduced(Builder &builder, const Tensor &in, const Reduction &over, Pool::Method method,
	       const Around &around)
{
	if (builder.failed() || !builder.support(!over.axes.empty(), "axes",
						 "are none; leave the operator out, which does "
						 "nothing"))
		return {};
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
	if (builder.failed())
		return {};
	Tensor x = all.rows;
	if (around.before != Unary{})
		x = builder.prepare(around.before, x, x);
	const Kind kind =
		window ? windowOf(inValueOrder(x, x.shape), inValueOrder(x, all.reduced.shape),
				  method, over.axes.size() == 2)
		       : ChannelReduction{ method };
	x = isExtreme(method) ? builder.move(kind, x, all.reduced)
			      : builder.compute(kind, x, all.reduced);
	if (around.behind != Unary{})
		x = builder.compute(around.behind, x, x);
	return finished(builder, x, all.kept, over);
}

/*
 * The logarithm of a softmax is each number less what is wanted. That of the largest is within
 * a few of 0, and so exact in FP16, where a sum of exponentials would be infinite.
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

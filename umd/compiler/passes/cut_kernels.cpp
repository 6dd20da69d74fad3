/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

/* One axis of a convolution. */
struct Axis {
	uint32_t in, out, taps;
	uint32_t stride, dilation;
	uint32_t before, after; /* padding */
};

/* How many taps at an axis' ends no window has inside the picture. */
struct Unseen {
	uint32_t first = 0;
	uint32_t last = 0;
};

/*
 * A tap that goes takes as much padding with it, which has to be there: nothing else says where the
 * first window is.
 */
Unseen unseenOf(const Axis &axis)
{
	const uint64_t lastWindow = uint64_t{ axis.out - 1 } * axis.stride;
	Unseen unseen;

	auto isBefore = [&](uint64_t tap) {
		return lastWindow + tap * axis.dilation < axis.before;
	};
	auto isBehind = [&](uint64_t tap) {
		return tap * axis.dilation >= uint64_t{ axis.before } + axis.in;
	};
	while (unseen.first + 1 < axis.taps && isBefore(unseen.first) &&
	       (unseen.first + 1) * uint64_t{ axis.dilation } <= axis.before)
		unseen.first++;
	while (unseen.first + unseen.last + 1 < axis.taps &&
	       isBehind(axis.taps - 1 - unseen.last) &&
	       (unseen.last + 1) * uint64_t{ axis.dilation } <= axis.after)
		unseen.last++;
	return unseen;
}

/* What is left has no dilation, if it is one tap. */
uint32_t dilationOf(const Axis &axis, const Unseen &unseen)
{
	return unseen.first + unseen.last + 1 == axis.taps ? 1 : axis.dilation;
}

/* What behind the picture the last window has of the \a taps that are left. */
uint32_t neededBehind(const Axis &axis, uint32_t taps, uint32_t before)
{
	const uint64_t end =
		uint64_t{ axis.out - 1 } * axis.stride + uint64_t{ taps - 1 } * axis.dilation + 1;
	const uint64_t there = uint64_t{ before } + axis.in;

	return end > there ? static_cast<uint32_t>(end - there) : 0;
}

} /* namespace */

void cutKernels(Model &model)
{
	for (Operator &operation : model.operators) {
		auto *conv = std::get_if<Convolution>(&operation.kind);
		if (!conv)
			continue;
		const Extents in = model.values[operation.inputs[0]].shape;
		const Extents out = model.values[operation.outputs[0]].shape;
		const Value &kernels = model.values[operation.inputs[1]];
		op::Padding &padding = conv->padding;
		const Axis y{ in[1],	      out[1],		kernels.shape[2],
			      conv->stride.y, conv->dilation.y, padding.top,
			      padding.bottom };
		const Axis x{ in[2],	      out[2],		kernels.shape[3],
			      conv->stride.x, conv->dilation.x, padding.left,
			      padding.right };
		const Unseen lines = unseenOf(y), columns = unseenOf(x);
		const Window left{ y.taps - lines.first - lines.last,
				   x.taps - columns.first - columns.last };
		conv->dilation = { dilationOf(x, columns), dilationOf(y, lines) };
		if (left.lines == y.taps && left.columns == x.taps)
			continue;
		padding.top -= lines.first * y.dilation;
		padding.bottom = neededBehind(y, left.lines, padding.top);
		padding.left -= columns.first * x.dilation;
		padding.right = neededBehind(x, left.columns, padding.left);
		Value cut = cutOf(kernels, left, { lines.first, columns.first });
		operation.inputs[1] = model.add(std::move(cut));
	}
}

} /* namespace nvdla::compiler */

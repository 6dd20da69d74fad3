/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions. The core's have neither groups nor dilation: zeros in the kernels
 * emulate both.
 */
#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/core.h>

#include "compiler/ir/walk.h"
#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

constexpr uint64_t mostOfKernels = uint64_t{ 1 } << 26; /* elements of all kernels */

/* Numbers of elements along an axis; the sums are the output before padding is cut off. */
struct Axis {
	uint32_t kernel = 0; /* taps, including zeros for dilation and at the end */
	uint32_t before = 0; /* sums that are cut off at the beginning */
	uint32_t after = 0;  /* sums that are cut off at the end */
	uint32_t out = 0;    /* elements of the output */
};

Axis axisOf(Builder &builder, Axis axis, uint32_t in, uint32_t stride, const TransposedAxis &wanted)
{
	const int64_t sums = int64_t{ in - 1 } * stride + axis.kernel;

	if (wanted.out) {
		const int64_t cut = std::max<int64_t>(sums + wanted.more - *wanted.out, 0);
		builder.need(cut <= mostOfWindow, "output_shape",
			     fmt::format("cuts off {} elements", cut));
		axis.before = static_cast<uint32_t>(wanted.moreBehind ? cut / 2 : cut - cut / 2);
		axis.after = static_cast<uint32_t>(cut) - axis.before;
	}
	const int64_t out =
		wanted.out ? *wanted.out : sums + wanted.more - axis.before - axis.after;
	/* Outputs behind the last sum are 0: zeros at the kernel's end add sums that are 0. */
	const int64_t all = out + axis.before;
	const int64_t zeros = std::max<int64_t>(all - sums, 0);
	builder.need(out >= 1 && out <= mostOfWindow, "pads",
		     fmt::format("or output_shape leave {} elements", out));
	builder.need(zeros <= mostOfWindow, "output_padding",
		     fmt::format("makes {} elements of nothing", zeros));
	axis.kernel += static_cast<uint32_t>(zeros);
	axis.after = static_cast<uint32_t>(sums + zeros - all);
	axis.out = static_cast<uint32_t>(out);
	return axis;
}

/* Makes kernels K x C x size.y x size.x of K/groups x C x R x S, with taps \a dilation apart. */
Value spreadKernels(const Value &kernels, uint32_t groups, op::Axes dilation, op::Axes size)
{
	const Extents &from = kernels.shape;
	const size_t bytes = elementBytes(kernels.type);
	const int32_t zero = isFloat(kernels.type) ? 0 : kernels.quantization.channel(0).zeroPoint;
	Value result = kernels;

	result.shape = { from[0] * groups, from[1], size.y, size.x };
	std::vector<std::byte> made(elementCount(result.shape) * bytes,
				    static_cast<std::byte>(zero));
	const size_t plane = size_t{ size.y } * size.x, ofGroup = from[1] / groups;
	/* Each group gets kernels of its own, with zeros for the channels of other groups. */
	const Walk to{ { from[0], groups, from[1] / groups, from[2], from[3] },
		       { from[1] * plane, (from[0] * from[1] + ofGroup) * plane, plane,
			 size_t{ dilation.y } * size.x, dilation.x } };
	for (uint64_t i = 0; i < elementCount(from); i++)
		std::memcpy(&made[to(i) * bytes], &kernels.data[i * bytes], bytes);
	result.data = std::move(made);
	return result;
}

/* Returns kernels in which zeros emulate groups, dilation and outputs behind the last sum. */
Value plainKernels(Builder &builder, const Value &kernels, int64_t groups, op::Axes dilation,
		   const op::Axes &size)
{
	const uint32_t channels = kernels.shape[1];
	const auto scales = kernels.quantization.values();

	builder.need(groups >= 1 && groups <= channels && channels % groups == 0, "group",
		     fmt::format("is {}, of {} channels", groups, channels));
	if (groups == 1 && size.y == kernels.shape[2] && size.x == kernels.shape[3])
		return kernels;
	builder.support(groups == 1 || scales.size() <= 1, "group",
			"is not 1, of weights with several scales");
	builder.support(std::ranges::adjacent_find(scales, std::not_equal_to<>(),
						   &Quantization::zeroPoint) == scales.end(),
			"weights",
			"have several zero points, and groups, dilations or output_padding");
	const auto count = static_cast<uint32_t>(groups);
	builder.support(
		hasAtMost({ kernels.shape[0], count, channels, size.y, size.x }, mostOfKernels),
		"weights", "are too many with their groups and holes filled by zeros");
	return spreadKernels(kernels, count, dilation, size);
}

} /* namespace */

Tensor transposedConvolution(Builder &builder, const Tensor &from, const Windows &windows,
			     Weights weights, int64_t groups, TransposedAxis lines,
			     TransposedAxis columns, const Clamp &activation)
{
	const Tensor x = builder.pictureOrLine(from);
	Value &kernels = weights.kernels;
	const op::Axes &dilation = windows.dilation, &stride = windows.stride;
	const op::Padding &cut = windows.padding;
	const auto withHoles = [](uint32_t kernel, uint32_t step) {
		const uint64_t all = uint64_t{ kernel - 1 } * step + 1;
		return static_cast<uint32_t>(std::min<uint64_t>(all, mostOfWindow + 1));
	};

	if (kernels.shape.size() == 3 && from.shape.size() == 3)
		kernels.shape.insert(kernels.shape.begin() + 2, 1);
	builder.support(kernels.shape.size() == 4 && elementCount(kernels.shape), "weights",
			"are no kernels with lines and columns, or with columns alone");
	builder.need(elementCount(x.shape), "input 0", "has no elements");
	const Extents in = inValueOrder(x, x.shape);
	const uint32_t height = withHoles(kernels.shape[2], dilation.y);
	const uint32_t width = withHoles(kernels.shape[3], dilation.x);
	builder.support(height <= mostOfWindow && width <= mostOfWindow, "dilations",
			"make kernels too large");
	for (const auto &[axis, at] : { std::pair{ &lines, 1 }, std::pair{ &columns, 2 } }) {
		axis->moreBehind = axis->moreBehind || windows.same == Same::Upper;
		if (windows.same != Same::No && !axis->out)
			axis->out = int64_t{ in[at] } * (at == 1 ? stride.y : stride.x);
	}
	const Axis y = axisOf(builder, { height, cut.top, cut.bottom }, in[1], stride.y, lines);
	const Axis c = axisOf(builder, { width, cut.left, cut.right }, in[2], stride.x, columns);
	kernels = plainKernels(builder, kernels, groups, dilation, { c.kernel, y.kernel });
	const Tensor like = withValueShape(x, { in[0], y.out, c.out, kernels.shape[0] });
	const TransposedConvolution made{ stride,
					  { c.before, c.after, y.before, y.after },
					  activation };
	return builder.asLineLike(
		from, builder.compute(made, x, like, builder.addWeights(std::move(weights))));
}

} /* namespace nvdla::compiler::legalize */

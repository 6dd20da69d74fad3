/* SPDX-License-Identifier: MIT */
/*
 * Operators that bring the mean of numbers to 0 and their variance to 1.
 */
#include <cmath>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

Tensor standardized(Builder &builder, const Tensor &rows, double epsilon)
{
	return builder.compute(
		OverChannels{ .function = OverChannels::Function::Standardize, .shift = epsilon },
		rows, rows);
}

/* Multiplies by factors, if there are any, and adds sums: one number for each index of an axis. */
Tensor scaledAlong(Builder &builder, Tensor x, uint32_t axis, const Scaling &scaling)
{
	for (const auto &[numbers, function] :
	     { std::pair{ &scaling.factors, Elementwise::Function::Multiply },
	       std::pair{ &scaling.sums, Elementwise::Function::Add } }) {
		if (numbers->empty())
			continue;
		builder.need(numbers->size() == x.shape[axis], "scale",
			     fmt::format("or bias is {} for {} channels; give one for each",
					 numbers->size(), x.shape[axis]));
		Extents shape(x.shape.size(), 1);
		shape[axis] = x.shape[axis];
		x = builder.compute(Elementwise{ function, {} }, x, x,
				    { builder.addMeeting(x, floatConstant(*numbers, shape)) });
	}
	return x;
}

} /* namespace */

Tensor batchNormalized(Builder &builder, const Tensor &x, const Scaling &scaling,
		       const std::vector<double> &mean, const std::vector<double> &variance,
		       double epsilon)
{
	const size_t channels = x.shape.size() > 1 ? x.shape[1] : 0;
	Scaling all;

	builder.need(scaling.factors.size() == channels && scaling.sums.size() == channels &&
			     mean.size() == channels && variance.size() == channels,
		     "scale", fmt::format("and others have not {} numbers", channels));
	for (size_t c = 0; c < channels; c++) {
		all.factors.push_back(scaling.factors[c] / std::sqrt(variance[c] + epsilon));
		all.sums.push_back(scaling.sums[c] - mean[c] * all.factors.back());
	}
	return scaledAlong(builder, x, 1, all);
}

Tensor layerNormalized(Builder &builder, const Tensor &x, uint32_t first, const Scaling &scaling,
		       double epsilon)
{
	AxisOrder axes = asInFile(x.shape.size());

	/* Axes from \a first on: rowsOf() makes one axis of them, in the file's order. */
	axes.erase(axes.begin(), axes.begin() + first);
	const Rows all = rowsOf(builder, x, axes);
	const Tensor made = scaledAlong(builder, standardized(builder, all.rows, epsilon),
					all.rows.order.back(), scaling);
	return axes.size() > 1 ? builder.move(Reshape{}, made, all.turned) : made;
}

Tensor instanceNormalized(Builder &builder, const Tensor &from, const Scaling &scaling,
			  double epsilon)
{
	const Tensor picture = builder.pictureOrLine(from);

	return builder.asLineLike(
		from, groupNormalized(builder, picture, picture.shape[1], scaling, epsilon));
}

Tensor groupNormalized(Builder &builder, const Tensor &x, int64_t groups, const Scaling &scaling,
		       double epsilon)
{
	builder.need(groups >= 1 && groups <= x.shape[1] && x.shape[1] % groups == 0, "num_groups",
		     fmt::format("is {} for {} channels", groups, x.shape[1]));
	const auto count = static_cast<uint32_t>(groups);
	const Tensor inFile = builder.inOrder(x, asInFile(4));
	const uint64_t each = elementCount(x.shape) / x.shape[0] / count;
	const Tensor rows = builder.move(
		Reshape{}, inFile,
		{ 0, { x.shape[0], count, static_cast<uint32_t>(each) }, asInFile(3) });
	const Tensor made = standardized(builder, rows, epsilon);
	const Tensor turned = builder.move(Reshape{}, made, inFile);
	return scaledAlong(builder, builder.inOrder(turned, x.order), 1, scaling);
}

} /* namespace nvdla::compiler::legalize */

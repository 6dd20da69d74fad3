/* SPDX-License-Identifier: MIT */
/*
 * Sums and averages over more lines or columns than a kernel has: first averages of some of them,
 * side by side, then a sum of these.
 */
#include "passes.h"

#include <algorithm>
#include <optional>

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t mostOfKernel = 32;
constexpr uint32_t mostOfStride = 8;
/* Kernels of so many elements, for an atom of channels each, leave room in the convolution buffer.
 */
constexpr uint32_t mostElements = 480;
/* Of both axes that is well below. */
constexpr uint32_t fewElements = 16;

/* An axis of a picture, whose elements are summed or stay apart. */
struct SplitAxis {
	uint32_t size;
	bool isSummed;

	uint32_t window() const { return isSummed ? size : 1; }
	/* Elements that are put together, so that fewer are left. */
	uint32_t part() const { return std::min((window() - 1) / fewElements + 1, mostOfStride); }
	SplitAxis inParts() const { return { (size - 1) / part() + 1, isSummed }; }
	/* What the last part lacks. */
	uint32_t after() const { return inParts().size * part() - size; }
};

bool fits(const SplitAxis &y, const SplitAxis &x)
{
	return y.window() <= mostOfKernel && x.window() <= mostOfKernel &&
	       y.window() * x.window() <= mostElements;
}

/* Nothing for windows that are neither all of the axis, nor each element alone. */
std::optional<SplitAxis> axisOf(uint32_t kernel, uint32_t stride, uint32_t size)
{
	if (kernel != size && (kernel != 1 || stride != 1))
		return std::nullopt;
	return SplitAxis{ size, kernel == size };
}

/* A reduction, as a pooling with one window along the axes that are too long. */
std::optional<Pool> reductionOf(const Operator &operation, const Extents &in)
{
	if (std::holds_alternative<GlobalAverage>(operation.kind))
		return Pool{ Pool::Method::Average, { in[2], in[1] }, {}, {}, false, {} };
	const auto *pool = std::get_if<Pool>(&operation.kind);
	if (!pool || isExtreme(pool->method) ||
	    pool->padding.left + pool->padding.right + pool->padding.top + pool->padding.bottom !=
		    0)
		return std::nullopt;
	return *pool;
}

/* Kernels of ones for each channel, worth \a factor. */
Value ones(uint32_t channels, const SplitAxis &y, const SplitAxis &x, double factor)
{
	Value kernels;

	kernels.type = ElementType::Int8;
	kernels.shape = { channels, 1, y.window(), x.window() };
	kernels.data.assign(elementCount(kernels.shape), std::byte{ 1 });
	kernels.quantization = Quantization{ factor, 0 };
	kernels.isConstant = true;
	return kernels;
}

/* Of integers, averages have all of 16 bits for the range of what they are made of. */
Value averagesOf(const Value &in, const SplitAxis &y, const SplitAxis &x)
{
	constexpr double stepsOf8Bits = 128;
	Value averages;

	averages.name = in.name + " averages";
	averages.type = in.type;
	averages.quantization = in.quantization;
	averages.shape = { 1, y.size, x.size, in.shape[3] };
	if (in.type == ElementType::Int8) {
		averages.type = ElementType::Int16;
		averages.quantization =
			Quantization{ in.quantization.channel(0).scale / stepsOf8Bits, 0 };
	}
	return averages;
}

/* The same reduction in steps; nothing if it is none that has to be. */
std::vector<Operator> inSteps(Model &model, const Operator &whole)
{
	const Value in = model.values[whole.inputs.front()];
	const auto pool = reductionOf(whole, in.shape);
	if (!pool)
		return {};
	auto y = axisOf(pool->kernel.y, pool->stride.y, in.shape[1]);
	auto x = axisOf(pool->kernel.x, pool->stride.x, in.shape[2]);
	if (!y || !x || fits(*y, *x))
		return {};
	std::vector<Operator> steps;
	Operator step = whole;
	double factor = pool->method == Pool::Method::Sum ? 1 : 1.0 / (y->window() * x->window());
	while (!fits(*y, *x)) {
		const op::Axes part{ x->part(), y->part() };
		step.kind = Pool{ Pool::Method::Average,
				  part,
				  part,
				  { 0, x->after(), 0, y->after() },
				  true,
				  {} };
		y = y->inParts();
		x = x->inParts();
		factor *= part.x * part.y;
		step.outputs = { model.add(averagesOf(model.values[step.inputs.front()], *y, *x)) };
		steps.push_back(step);
		step.inputs = step.outputs;
	}
	Value sums = model.values[whole.outputs.front()];
	sums.name += " sums";
	sums.shape = { 1, y->isSummed ? 1 : y->size, x->isSummed ? 1 : x->size, in.shape[3] };
	Convolution sum;
	sum.groups = in.shape[3];
	sum.activation = pool->activation;
	step.kind = sum;
	step.inputs.push_back(model.add(ones(in.shape[3], *y, *x, factor)));
	step.outputs = { model.add(std::move(sums)) };
	steps.push_back(step);
	step.kind = Reshape{};
	step.inputs = step.outputs;
	step.outputs = whole.outputs;
	steps.push_back(step);
	return steps;
}

} /* namespace */

void splitWindows(Model &model)
{
	expandEach(model, [&](const Operator &operation) { return inSteps(model, operation); });
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * Sums and averages over more lines or columns than a kernel has are made in two steps: first
 * averages of some of them, side by side, then a sum of these. Larger pictures of 8 bits whose
 * kernels need more bits as well: columns, then lines, with 16 bits between them.
 */
#include "passes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t mostOfKernel = 32;
constexpr uint32_t mostOfStride = 8;
/* Kernels of at most this size, for an atom of channels each, leave room in the convolution buffer.
 */
constexpr uint32_t mostElements = 480;
/* A kernel with so few elements on both axes is well below that. */
constexpr uint32_t fewElements = 16;

/* An axis of a picture, whose elements are summed or stay apart. */
struct SplitAxis {
	uint32_t size;
	bool isSummed;

	uint32_t window() const { return isSummed ? size : 1; }
	/* Elements that are put together, so that fewer are left. */
	uint32_t part() const { return std::min((window() - 1) / fewElements + 1, mostOfStride); }
	SplitAxis inParts() const { return { (size - 1) / part() + 1, isSummed }; }
	/* Elements that the last part lacks. */
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
std::optional<Pool> reductionOf(const Operator &operation)
{
	const auto *pool = std::get_if<Pool>(&operation.kind);

	if (!pool || isExtreme(pool->method) || !isNone(pool->padding))
		return std::nullopt;
	return *pool;
}

/* Averages of integers use all of 16 bits for the range of their input. */
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
	const auto pool = reductionOf(whole);
	if (!pool)
		return {};
	auto y = axisOf(pool->kernel.y, pool->stride.y, in.shape[1]);
	auto x = axisOf(pool->kernel.x, pool->stride.x, in.shape[2]);
	if (!y || !x || fits(*y, *x))
		return {};
	Chain chain{ model, whole, whole.inputs.front() };
	double factor = pool->method == Pool::Method::Sum ? 1 : 1.0 / (y->window() * x->window());
	while (!fits(*y, *x)) {
		const op::Axes part{ x->part(), y->part() };
		const op::Padding after{ 0, x->after(), 0, y->after() };
		y = y->inParts();
		x = x->inParts();
		factor *= part.x * part.y;
		chain.add(Pool{ Pool::Method::Average, part, part, after, true, {} },
			  model.add(averagesOf(model.values[chain.last], *y, *x)));
	}
	Convolution sum;
	sum.groups = in.shape[3];
	sum.activation = pool->activation;
	const ValueId ones = model.add(onesOf(in.shape[3], { y->window(), x->window() }, factor));
	const ValueId sums = model.addLike(
		whole.outputs.front(), " sums",
		{ 1, y->isSummed ? 1 : y->size, x->isSummed ? 1 : x->size, in.shape[3] });
	chain.add(sum, sums, { ones });
	chain.add(Reshape{}, whole.outputs.front());
	return std::move(chain.operators);
}

/* Parts of the nearest element are twice the factor along an axis, at most. */
bool fitsKernels(const Enlarge &enlarge)
{
	const auto most = [](uint32_t factor) { return factor > 1 ? uint64_t{ 2 } * factor : 1; };

	return enlarge.method == Enlarge::Method::Nearest ||
	       most(enlarge.factor.x) * most(enlarge.factor.y) <= INT8_MAX;
}

} /* namespace */

void splitWindows(Model &model)
{
	expandEach(model, [&](const Operator &operation) { return inSteps(model, operation); });
}

void splitEnlargements(Model &model)
{
	constexpr double stepsOf8Bits = 128;

	expandEach(model, [&](Operator &operation) -> std::vector<Operator> {
		auto *lines = std::get_if<Enlarge>(&operation.kind);
		const Value in = model.values[operation.inputs.front()];
		if (!lines || in.type != ElementType::Int8 || lines->factor.x == 1 ||
		    lines->factor.y == 1 || fitsKernels(*lines))
			return {};
		Value wide = in;
		wide.name += " wide";
		wide.type = ElementType::Int16;
		wide.quantization =
			Quantization{ in.quantization.channel(0).scale / stepsOf8Bits, 0 };
		wide.shape[2] *= lines->factor.x;
		Operator columns = operation;
		std::get<Enlarge>(columns.kind).factor.y = 1;
		lines->factor.x = 1;
		columns.outputs = operation.inputs = { model.add(std::move(wide)) };
		return { columns, operation };
	});
}

} /* namespace nvdla::compiler */

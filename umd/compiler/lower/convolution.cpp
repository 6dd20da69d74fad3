/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <nvdla/core_geometry.h>

#include "base/number/half_range.h"
#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* Integers less their zero points: 2018's uint8 weights have one anywhere. */
std::vector<double> withoutZero(const Value &weights)
{
	std::vector<double> numbers = rawNumbers(weights);
	const size_t kernel = numbers.size() / weights.shape.front();

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] -=
			weights.quantization.channel(static_cast<uint32_t>(i / kernel)).zeroPoint;
	return numbers;
}

/*
 * Kernels of FP16 whose largest number is beyond its range are multiplied by a power of two, and
 * their sums divided by it; not by so much that the bias leaves the range.
 */
void scaleToHalf(Kernels &kernels)
{
	constexpr int mostBits = 24; /* 2^-24 is the smallest factor of SDP */
	const size_t size = size_t{ kernels.c } * kernels.r * kernels.s;

	for (uint32_t k = 0; k < kernels.k; k++) {
		double *const first = kernels.elements.data() + k * size;
		double largest = 0;
		for (size_t i = 0; i < size; i++)
			largest = std::max(largest, std::fabs(first[i]));
		if (largest == 0 || (largest >= smallestNormalHalf && largest <= largestHalf))
			continue;
		int power = std::min(-std::ilogb(largest), mostBits);
		if (power > 0 && kernels.bias[k] != 0)
			power = std::clamp(std::ilogb(largestHalf / kernels.bias[k]), 0, power);
		for (size_t i = 0; i < size; i++)
			first[i] = std::ldexp(first[i], power);
		kernels.scales[k] = std::ldexp(1, -power);
	}
}

/*
 * The bias of an operator in real numbers. Its integers are steps of the sums where they have no
 * scale of their own, or that of the sums but for rounding.
 */
std::vector<double> biasOf(Lowerer &lowerer, const Operator &operation, const Kernels &kernels)
{
	constexpr double rounding = 1e-5; /* of scales and their product in float */
	const Value &bias = lowerer.value(operation.inputs[2]);
	const bool half = lowerer.storage(operation.inputs[0]) == DataType::Half;
	const bool hasOwnScale = !bias.quantization.none();
	std::vector<double> numbers = realNumbers(bias);

	lowerer.need(!half || isFloat(bias.type) || hasOwnScale, "bias",
		     "is integers that stand for nothing; give it a scale");
	if (half || isFloat(bias.type))
		return numbers;
	const std::vector<double> steps = rawNumbers(bias);
	const double input = lowerer.quantization(operation.inputs[0]).scale;
	for (uint32_t k = 0; k < numbers.size() && k < kernels.k; k++) {
		const double step = input * kernels.scales[k];
		const Quantization own = bias.quantization.channel(k);
		if (!hasOwnScale ||
		    (own.zeroPoint == 0 && std::fabs(own.scale - step) <= rounding * step))
			numbers[k] = steps[k] * step;
	}
	return numbers;
}

/* The largest sum of a kernel's products with integers of a type, in steps of the output. */
double largestSum(const Kernels &kernels, uint32_t k, const Quantization &in,
		  const IntegerLimits &limits, const Quantization &out)
{
	const size_t size = size_t{ kernels.c } * kernels.r * kernels.s;
	const double input =
		std::max(std::fabs(static_cast<double>(limits.lowest - in.zeroPoint)),
			 std::fabs(static_cast<double>(limits.highest - in.zeroPoint)));
	double sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += std::fabs(kernels.elements[k * size + i]);
	return sum * input * in.scale * kernels.scales[k] / out.scale;
}

/*
 * Kernels with a scale of 0, or with one as small as those of cells that never fire, add nothing
 * to a result. Their scale would leave the others no bits and a bias none at all: they become
 * zeros, which may have any scale.
 */
void silence(Kernels &kernels, const Quantization &in, const IntegerLimits &limits,
	     const Quantization &out)
{
	constexpr double nothing = 0x1p-10; /* of a step */
	const size_t size = size_t{ kernels.c } * kernels.r * kernels.s;
	std::vector<uint32_t> silent;
	double scale = 0;

	for (uint32_t k = 0; k < kernels.k; k++) {
		if (largestSum(kernels, k, in, limits, out) < nothing)
			silent.push_back(k);
		else
			scale = std::max(scale, kernels.scales[k]);
	}
	if (scale == 0)
		scale = out.scale / in.scale / 256;
	for (const uint32_t k : silent) {
		std::fill_n(kernels.elements.begin() + static_cast<ptrdiff_t>(k * size), size, 0.0);
		kernels.scales[k] = scale;
	}
}

} /* namespace */

bool needsWideWeights(const Value &weights)
{
	if (isFloat(weights.type) || weights.shape.empty() || !elementCount(weights.shape))
		return false;
	const IntegerLimits limits = integerLimits(8U);
	const std::vector<double> numbers = withoutZero(weights);

	return std::any_of(numbers.begin(), numbers.end(), [&](double number) {
		return number < static_cast<double>(limits.lowest) ||
		       number > static_cast<double>(limits.highest);
	});
}

Kernels kernelsOf(Lowerer &lowerer, const Operator &operation)
{
	const Value &weights = lowerer.value(operation.inputs[1]);
	const bool half = lowerer.storage(operation.inputs[0]) == DataType::Half;
	const Extents &shape = weights.shape;
	Kernels kernels;

	kernels.k = shape[0];
	kernels.c = shape[1];
	kernels.r = shape.size() > 2 ? shape[2] : 1;
	kernels.s = shape.size() > 3 ? shape[3] : 1;
	kernels.elements = half ? realNumbers(weights) : withoutZero(weights);
	kernels.bias = std::vector<double>(kernels.k);
	for (uint32_t k = 0; k < kernels.k; k++)
		kernels.scales.push_back(half ? 1 : weights.quantization.channel(k).scale);
	if (operation.inputs.size() > 2)
		kernels.bias = biasOf(lowerer, operation, kernels);
	if (half)
		scaleToHalf(kernels);
	else
		silence(kernels, lowerer.quantization(operation.inputs[0]),
			integerLimits(lowerer.range(operation.inputs[0])),
			lowerer.quantization(operation.outputs[0]));
	return kernels;
}

void lower(Lowerer &lowerer, const Operator &operation, const Convolution &conv)
{
	const ValueId input = operation.inputs[0];
	const ValueId output = operation.outputs[0];
	const Value &weights = lowerer.value(operation.inputs[1]);

	lowerer.makeNatural(input);
	lowerer.need(weights.shape[2] <= maxKernelSize && weights.shape[3] <= maxKernelSize,
		     "kernel",
		     fmt::format("is {} x {}; {} lines and columns are possible", weights.shape[2],
				 weights.shape[3], maxKernelSize));
	lowerer.need(isFloat(weights.type) || lowerer.storage(input) != DataType::Half ||
			     !weights.quantization.none(),
		     "kernel", "are integers that stand for nothing");
	if (lowerer.failed())
		return;
	convolve(lowerer, kernelsOf(lowerer, operation),
		 { .input = input,
		   .output = output,
		   .out = naturalCube(lowerer.value(output).shape),
		   .stride = conv.stride,
		   .dilation = conv.dilation,
		   .padding = conv.padding,
		   .groups = conv.groups,
		   .activation = conv.activation,
		   .canSum = true });
}

/* Rows are the columns of a picture, or one row all elements of it: then a kernel takes all. */
void lower(Lowerer &lowerer, const Operator &operation, const FullyConnected &full)
{
	const ValueId input = operation.inputs[0];
	const ValueId output = operation.outputs[0];
	Kernels kernels = kernelsOf(lowerer, operation);
	/* A reshaped value may lie in a surface whose channels are not its rows. */
	if (lowerer.cube(input).c != kernels.c && lowerer.cube(input).elements() != kernels.c)
		lowerer.makeNatural(input);
	const Cube cube = lowerer.cube(input);
	const bool rows = cube.c == kernels.c;

	if (!lowerer.need(rows || (cube.elements() == kernels.c && cube.h <= maxKernelSize &&
				   cube.w <= maxKernelSize),
			  "input",
			  fmt::format("{} channels, {} lines and {} columns meet weights of {} "
				      "channels; these have to be the channels, or all elements of "
				      "at most {} lines and columns",
				      cube.c, cube.h, cube.w, kernels.c, maxKernelSize)))
		return;
	if (!rows) {
		std::vector<double> elements(kernels.elements.size());
		const size_t plane = size_t{ cube.h } * cube.w;
		for (size_t i = 0; i < elements.size(); i++) {
			const size_t k = i / kernels.c, rest = i % kernels.c;
			const size_t hw = rest / cube.c, c = rest % cube.c;
			elements[(k * cube.c + c) * plane + hw] = kernels.elements[i];
		}
		kernels.elements = std::move(elements);
		kernels.c = cube.c;
		kernels.r = cube.h;
		kernels.s = cube.w;
	}
	const Cube out = rows ? Cube{ kernels.k, cube.h, cube.w } : Cube{ kernels.k, 1, 1 };
	convolve(lowerer, kernels,
		 { .input = input,
		   .output = output,
		   .out = out,
		   .activation = full.activation,
		   .canSum = true });
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

#include "base/number/half_range.h"
#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* Returns integers minus their zero points, which for uint8 weights can be any of 0 to 255. */
std::vector<float> withoutZero(Value weights)
{
	std::vector<Quantization> zeros;

	for (const Quantization &one : weights.quantization.values())
		zeros.push_back({ 1, one.zeroPoint });
	weights.quantization = TensorQuantization(std::move(zeros));
	return realNumbers<float>(weights);
}

/*
 * Brings each kernel whose largest number is too large or too small for FP16 into FP16's range by a
 * power of two, by which the sums are divided again. The bias limits the power: it has to stay in
 * the range, too.
 */
void scaleToHalf(Kernels &kernels)
{
	constexpr int mostBits = 24; /* SDP divides by 2^power: 2^-24 is the smallest FP16 number */

	for (uint32_t k = 0; k < kernels.k; k++) {
		double largest = 0;
		for (const double element : kernels.one(k))
			largest = std::max(largest, std::fabs(element));
		if (largest == 0 || (largest >= smallestNormalHalf && largest <= largestHalf))
			continue;
		int power = std::min(-std::ilogb(largest), mostBits);
		if (power > 0 && kernels.bias[k] != 0)
			power = std::clamp(std::ilogb(largestHalf / kernels.bias[k]), 0, power);
		for (float &element : kernels.one(k))
			element = std::ldexp(element, power);
		kernels.scales[k] = std::ldexp(1, -power);
	}
}

/* Largest magnitude of an input less its zero point. */
double largestInput(const Quantization &in, const IntegerLimits &limits)
{
	return static_cast<double>(
		std::max(in.zeroPoint - limits.lowest, limits.highest - in.zeroPoint));
}

/*
 * Replaces kernels whose sums are less than 2^-10 steps of the output by zeros: their scale is 0 or
 * tiny (as of unused channels). Zeros may have any scale, so they get that of another kernel.
 * The tiny scale would leave the other kernels' multipliers too few bits, and a bias none.
 */
void silence(Kernels &kernels, const Quantization &in, const IntegerLimits &limits,
	     const Quantization &out)
{
	constexpr double nothing = 0x1p-10; /* in steps of the output */
	const double input = largestInput(in, limits);
	std::vector<uint32_t> silent;
	double scale = 0;

	for (uint32_t k = 0; k < kernels.k; k++) {
		const double largest =
			kernels.largestSum(k) * input * in.scale * kernels.scales[k] / out.scale;
		if (largest < nothing)
			silent.push_back(k);
		else
			scale = std::max(scale, kernels.scales[k]);
	}
	if (scale == 0)
		scale = out.scale / in.scale / 256;
	for (const uint32_t k : silent) {
		std::ranges::fill(kernels.one(k), 0.0f);
		kernels.scales[k] = scale;
	}
}

/* Number of bits by which the largest sum that the kernels can make exceeds 32 bits */
uint8_t excessBits(const Kernels &kernels, double input)
{
	double most = 0;

	for (size_t k = 0; k < kernels.k; k++)
		most = std::max(most, kernels.largestSum(k) * input);
	uint8_t bits = 0;
	while (std::ldexp(most, -bits) > INT32_MAX)
		bits++;
	return bits;
}

/*
 * Adapts a factor that divides sums of 8-bit integers by a whole number. Multipliers are not exact.
 * If the factor is larger by a quarter of the distance between two quotients, ties are rounded away
 * from zero, as in a division, and no other result changes.
 */
double dividing(double factor)
{
	constexpr double largestQuotient = 128;

	return factor * (1 + factor / (4 * largestQuotient));
}

/* For each output of a transposed convolution, sum of the kernel elements that inputs multiply. */
std::vector<double> metWeights(const Kernels &kernels, uint32_t k, const Cube &in,
			       const ConvolutionPass &pass)
{
	const size_t taps = size_t{ kernels.r } * kernels.s;
	std::vector<double> sums(size_t{ pass.out.h } * pass.out.w);

	for (size_t tap = 0; tap < taps; tap++) {
		double sum = 0;
		for (size_t c = 0; c < kernels.c; c++)
			sum += kernels.one(k)[c * taps + tap];
		for (uint64_t at = 0; at < uint64_t{ in.h } * in.w; at++) {
			/* An index before the output is negative, so it wraps to a huge number. */
			const uint64_t y =
				at / in.w * pass.stride.y + tap / kernels.s - pass.padding.top;
			const uint64_t x =
				at % in.w * pass.stride.x + tap % kernels.s - pass.padding.left;
			if (y < pass.out.h && x < pass.out.w)
				sums[y * pass.out.w + x] += sum;
		}
	}
	return sums;
}

/* Scaling of a convolution's sums. */
struct Scaling {
	uint8_t truncated; /* number of bits that the accumulator cuts off */
	Affine function;   /* SDP's function, from the truncated sums to the results */
};

/* Computes how sums become results: truncation, factors and biases. Documentation/umd/numbers.md
 * has the formulas and their sources. */
Scaling scalingOf(const Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass)
{
	const bool half = lowerer.storage(pass.input) == DataType::Half;
	const Quantization in = lowerer.quantization(pass.input);
	const Quantization out = lowerer.quantization(pass.output);
	const double input = half ? 0 : largestInput(in, integerLimits(lowerer.range(pass.input)));
	const uint8_t truncated = excessBits(kernels, input);
	const double zero = pass.keepsZero || !pass.packed.empty() ? 0 : in.zeroPoint;
	/* At the edges of a transposed convolution's result, some kernel elements have no input. */
	const bool hasEdges = pass.isTransposed && (zero != 0 || pass.normalizes);
	const Cube shape = hasEdges || pass.factors.size() > 1 ? pass.out : Cube{};
	Affine affine{ {}, {}, { kernels.k, shape.h, shape.w }, pass.activation, pass.firstBits };
	affine.largest = 0;
	for (uint32_t k = 0; k < kernels.k; k++) {
		const auto elements = kernels.one(k);
		const double step = in.scale * kernels.scales[k];
		affine.largest = std::max(affine.largest,
					  std::ldexp(kernels.largestSum(k) * input +
							     std::fabs(kernels.bias[k] / step),
						     -truncated));
		const std::vector<double> sums =
			hasEdges ? metWeights(kernels, k, lowerer.cube(pass.input), pass)
				 : std::vector{ std::accumulate(elements.begin(), elements.end(),
								0.0) };
		for (size_t i = 0; i < std::max(sums.size(), pass.factors.size()); i++) {
			const double sum = sums[i % sums.size()];
			const double bias = kernels.bias[k] / step - zero * sum;
			double factor = pass.normalizes && sum != 0
						? 1 / sum
						: pass.factors[i % pass.factors.size()];
			if (pass.keepsZero && lowerer.is8Bits(pass.input))
				factor = dividing(factor);
			affine.bias.push_back(std::ldexp(bias, -truncated));
			affine.scale.push_back(std::ldexp(step * factor / out.scale, truncated));
		}
	}
	return { truncated, std::move(affine) };
}

/* Adds a convolution. \return the name of its sums */
std::string addSums(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass,
		    uint8_t truncated)
{
	const bool isTransposed = pass.isTransposed, isPacked = !pass.packed.empty();
	const DataType type = lowerer.storage(pass.input);
	const Cube in = pass.from.empty() ? lowerer.cube(pass.input) : pass.in;
	const std::string surface = pass.from.empty() ? lowerer.surface(pass.input) : pass.from;
	const std::string name = lowerer.step(isTransposed ? "deconvolution" : "convolution");
	const std::string sums = lowerer.unique(name + " sums");
	const std::string weights = lowerer.addWeights(
		{ .name = name + " kernels",
		  .k = kernels.k,
		  .c = isPacked ? pass.channels : kernels.c,
		  .r = kernels.r,
		  .s = kernels.s,
		  .elements = isPacked
				      ? Elements{ type, {} }
				      : Elements{ type, elementsFromFloat(type, kernels.elements) },
		  .packed = pass.packed });
	const auto zero = static_cast<int16_t>(lowerer.quantization(pass.input).zeroPoint);
	/* One window over the whole input needs no stride; a pooling's may exceed the core's. */
	const op::Axes stride{
		in.w + pass.padding.left + pass.padding.right == kernels.s ? 1 : pass.stride.x,
		in.h + pass.padding.top + pass.padding.bottom == kernels.r ? 1 : pass.stride.y
	};

	if (isTransposed)
		lowerer.add(op::Deconvolution{ .name = name,
					       .input = surface,
					       .weights = weights,
					       .output = sums,
					       .stride = pass.stride,
					       .padding = pass.padding,
					       .accumulatorShift = truncated });
	else
		lowerer.add(op::Convolution{ .name = name,
					     .input = surface,
					     .weights = weights,
					     .output = sums,
					     .stride = stride,
					     .dilation = pass.dilation,
					     .padding = pass.padding,
					     .padValue = pass.padValue.value_or(zero),
					     .groups = pass.groups,
					     .accumulatorShift = truncated });
	return sums;
}

} /* namespace */

double Kernels::largestSum(size_t kernel) const
{
	double sum = 0;

	for (const double element : one(kernel))
		sum += std::fabs(element);
	return sum;
}

std::vector<double> biasOf(Lowerer &lowerer, const Operator &operation, const Kernels &kernels)
{
	constexpr double rounding = 1e-5; /* relative: scales and their product are floats */
	const Value &bias = lowerer.value(operation.inputs[2]);
	const bool half = lowerer.storage(operation.inputs[0]) == DataType::Half;
	const bool hasOwnScale = !bias.quantization.none();
	std::vector<double> numbers = realNumbers(bias);

	lowerer.support(!half || isFloat(bias.type) || hasOwnScale, "bias",
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

bool needsWideWeights(const Value &weights)
{
	if (isFloat(weights.type) || weights.shape.empty() || !elementCount(weights.shape))
		return false;
	return std::ranges::any_of(withoutZero(weights), [](float number) {
		return number < INT8_MIN || number > INT8_MAX;
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
	kernels.elements = half ? realNumbers<float>(weights) : withoutZero(weights);
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
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Value &weights = lowerer.value(operation.inputs[1]);

	lowerer.makeNatural(input);
	lowerer.support(weights.shape[2] <= maxKernelSize && weights.shape[3] <= maxKernelSize,
			"kernel",
			fmt::format("is {} x {}; {} lines and columns are possible",
				    weights.shape[2], weights.shape[3], maxKernelSize));
	lowerer.support(isFloat(weights.type) || lowerer.storage(input) != DataType::Half ||
				!weights.quantization.none(),
			"kernel", "are integers that stand for nothing");
	convolve(lowerer, kernelsOf(lowerer, operation),
		 { .input = input,
		   .output = output,
		   .out = naturalCube(lowerer.value(output).shape),
		   .stride = conv.stride,
		   .dilation = conv.dilation,
		   .padding = conv.padding,
		   .groups = conv.groups,
		   .activation = conv.activation,
		   .canFuse = true });
}

/* Each row of the input is a position of a picture, and the row's elements are the channels. Or the
 * whole picture is one row, which each kernel covers. */
void lower(Lowerer &lowerer, const Operator &operation, const FullyConnected &full)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	Kernels kernels = kernelsOf(lowerer, operation);
	const auto isOneRow = [&kernels](const Cube &cube) {
		return cube.elements() == kernels.c && cube.h <= maxKernelSize &&
		       cube.w <= maxKernelSize;
	};
	/* The channels of a reshaped value's surface may be other than the elements of a row. */
	if (lowerer.cube(input).c != kernels.c && !isOneRow(lowerer.cube(input)))
		lowerer.makeNatural(input);
	const Cube cube = lowerer.cube(input);
	const bool rows = cube.c == kernels.c;

	lowerer.support(rows || isOneRow(cube), "input",
			fmt::format("{} channels, {} lines and {} columns meet weights of {} "
				    "channels; these have to be the channels, or all elements of "
				    "at most {} lines and columns",
				    cube.c, cube.h, cube.w, kernels.c, maxKernelSize));
	if (!rows) {
		for (uint32_t k = 0; k < kernels.k; k++) {
			const std::vector<float> one(kernels.one(k).begin(), kernels.one(k).end());
			for (size_t i = 0; i < one.size(); i++)
				kernels.one(k)[i % cube.c * cube.h * cube.w + i / cube.c] = one[i];
		}
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
		   .canFuse = true });
}

int sumBits(const Lowerer &lowerer, ValueId input, ValueId output, uint32_t count)
{
	int exponent = 0;

	if (count == 0)
		return 0;
	std::frexp(lowerer.quantization(input).scale / lowerer.quantization(output).scale,
		   &exponent);
	return std::max(static_cast<int>(std::bit_width(count)) - 1 - exponent, 0);
}

Kernels uniformKernels(const Extents &shape, float element)
{
	return { .k = shape[0],
		 .c = shape[1],
		 .r = shape[2],
		 .s = shape[3],
		 .elements = std::vector<float>(elementCount(shape), element),
		 .scales = std::vector<double>(shape[0], 1),
		 .bias = std::vector<double>(shape[0], 0) };
}

Kernels selection(uint32_t c, const std::vector<int64_t> &channels)
{
	Kernels kernels = uniformKernels({ static_cast<uint32_t>(channels.size()), c, 1, 1 }, 0);

	for (size_t k = 0; k < channels.size(); k++) {
		if (channels[k] >= 0)
			kernels.elements[k * c + static_cast<size_t>(channels[k])] = 1;
	}
	return kernels;
}

void convolve(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass)
{
	const Scaling scaling = scalingOf(lowerer, kernels, pass);
	std::optional<Residual> residual;
	const Operator *behind = nullptr;
	ValueId result = pass.output;

	if (pass.canFuse && pass.activation.isNone()) {
		residual = lowerer.residualOf(pass.out, scaling.function);
		behind = functionBehind(lowerer, pass.input, pass.out, scaling.function);
	}
	if (residual || behind)
		result = residual ? residual->output : behind->outputs.front();
	const std::string output = pass.to.empty() ? lowerer.write(result, pass.out) : pass.to;
	const std::string sums = addSums(lowerer, kernels, pass, scaling.truncated);
	Lowerer::Stage stage = lowerer.stage("scale", pass.input, output, result);
	stage.input = sums;
	stage.cube = pass.out;
	stage.stream = true;
	stage.keepsZero = pass.keepsZero;
	if (behind)
		applyFunction(lowerer, *behind, stage);
	if (residual)
		lowerer.sum(stage, scaling.function, *residual);
	else
		lowerer.affine(stage, scaling.function);
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace nvdla::compiler
{

namespace
{

Elements elementsOf(const std::vector<double> &numbers, DataType type)
{
	if (type == DataType::Half)
		return Elements::half(std::vector<float>(numbers.begin(), numbers.end()));
	if (type == DataType::Int8)
		return Elements::of(std::vector<int8_t>(numbers.begin(), numbers.end()));
	return Elements::of(std::vector<int16_t>(numbers.begin(), numbers.end()));
}

/* What becomes of the sums. */
struct Scaling {
	uint8_t truncated; /* bits, in the accumulator */
	Affine function;   /* SDP's */
};

/* VTA, "CONV2D operator"; precision, "offset". */
Scaling scalingOf(const Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass)
{
	const bool half = lowerer.storage(pass.input) == DataType::Half;
	const Quantization in = lowerer.quantization(pass.input);
	const Quantization out = lowerer.quantization(pass.output);
	const uint8_t truncated =
		half ? uint8_t{ 0 } : excessBits(kernels, in, lowerer.range(pass.input));
	const size_t kernel = size_t{ kernels.c } * kernels.r * kernels.s;
	const Cube shape{ kernels.k, pass.factorShape.h, pass.factorShape.w };
	Affine affine{ {}, {}, shape, pass.activation, pass.firstBits };

	for (uint32_t k = 0; k < kernels.k; k++) {
		const double *elements = &kernels.elements[k * kernel];
		const double step = in.scale * kernels.scales[k];
		const double sum = std::accumulate(elements, elements + kernel, 0.0);
		const double zero = pass.keepsZero ? 0 : in.zeroPoint;
		const double bias = kernels.bias[k] / step - zero * sum;
		for (double factor : pass.factors) {
			if (pass.keepsZero && lowerer.is8Bits(pass.input))
				factor = dividing(factor);
			affine.bias.push_back(std::ldexp(bias, -truncated));
			affine.scale.push_back(std::ldexp(step * factor / out.scale, truncated));
		}
	}
	return { truncated, std::move(affine) };
}

} /* namespace */

uint8_t excessBits(const Kernels &kernels, const Quantization &in, DataType range)
{
	const IntegerLimits limits = integerLimits(range);
	const auto zero = static_cast<double>(in.zeroPoint);
	const double largest = std::max(std::fabs(static_cast<double>(limits.lowest)),
					std::fabs(static_cast<double>(limits.highest))) +
			       std::fabs(zero);
	const size_t kernel = size_t{ kernels.c } * kernels.r * kernels.s;
	double most = 0;

	for (size_t one = 0; one < kernels.k; one++) {
		double sum = 0;
		for (size_t i = 0; i < kernel; i++)
			sum += std::fabs(kernels.elements[one * kernel + i]);
		most = std::max(most, sum * largest);
	}
	uint8_t bits = 0;
	while (std::ldexp(most, -bits) > INT32_MAX)
		bits++;
	return bits;
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

GraphWeights weightsOf(const Kernels &kernels, DataType type, const std::string &name)
{
	return { .name = name,
		 .k = kernels.k,
		 .c = kernels.c,
		 .r = kernels.r,
		 .s = kernels.s,
		 .elements = elementsOf(kernels.elements, type) };
}

Kernels uniformKernels(const Extents &shape, double element)
{
	return { .k = shape[0],
		 .c = shape[1],
		 .r = shape[2],
		 .s = shape[3],
		 .elements = std::vector<double>(elementCount(shape), element),
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
	const DataType type = lowerer.storage(pass.input);
	const Cube in = pass.from.empty() ? lowerer.cube(pass.input) : pass.in;
	const std::string surface = pass.from.empty() ? lowerer.surface(pass.input) : pass.from;

	/* A window that is all there is has no stride; poolings may have one beyond the core's. */
	const op::Axes stride{
		in.w + pass.padding.left + pass.padding.right == kernels.s ? 1 : pass.stride.x,
		in.h + pass.padding.top + pass.padding.bottom == kernels.r ? 1 : pass.stride.y
	};

	const Scaling scaling = scalingOf(lowerer, kernels, pass);
	std::optional<Residual> residual;
	if (pass.canSum && pass.activation.isNone())
		residual = lowerer.residualOf(pass.out, scaling.function);
	const ValueId result = residual ? residual->output : pass.output;
	std::string output = pass.to;
	if (output.empty()) {
		lowerer.setCube(result, pass.out);
		output = lowerer.write(result);
	}
	const std::string name = lowerer.step("convolution");
	const std::string weights = lowerer.addWeights(weightsOf(kernels, type, name + " kernels"));
	const op::Convolution conv{
		.name = name,
		.input = surface,
		.weights = weights,
		.output = lowerer.unique(name + " sums"),
		.stride = stride,
		.dilation = pass.dilation,
		.padding = pass.padding,
		.padValue =
			static_cast<int16_t>(pass.keepsZero && !pass.countsPadding
						     ? 0
						     : lowerer.quantization(pass.input).zeroPoint),
		.groups = pass.groups,
		.accumulatorShift = scaling.truncated,
	};
	lowerer.add(conv);
	Lowerer::Stage stage =
		lowerer.stage(lowerer.step("scale"), conv.output, type, output, result);
	stage.cube = pass.out;
	stage.stream = true;
	stage.keepsZero = pass.keepsZero;
	if (!pass.to.empty())
		stage.to = type;
	if (residual)
		lowerer.sum(stage, scaling.function, *residual);
	else
		lowerer.affine(stage, scaling.function);
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions, and enlargements of pictures, which are transposed convolutions, too.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t maxDeconvolutionStride = 32;

/* For each element of the output, the sum of the kernel's elements that meet the input. */
std::vector<double> metWeights(const Kernels &kernels, uint32_t k, const Cube &in, const Cube &out,
			       const ConvolutionPass &pass)
{
	std::vector<double> plane(size_t{ kernels.r } * kernels.s);
	std::vector<double> sums(size_t{ out.h } * out.w);
	auto meets = [](uint32_t at, uint32_t cut, uint32_t tap, uint32_t stride, uint32_t size) {
		const int64_t from = int64_t{ at } + cut - tap;
		return from >= 0 && from % stride == 0 && from / stride < size;
	};

	for (size_t rs = 0; rs < plane.size(); rs++) {
		for (uint32_t c = 0; c < kernels.c; c++)
			plane[rs] += kernels.at(k, c, rs);
	}
	for (uint32_t y = 0; y < out.h; y++) {
		for (uint32_t r = 0; r < kernels.r; r++) {
			if (!meets(y, pass.padding.top, r, pass.stride.y, in.h))
				continue;
			for (uint32_t x = 0; x < out.w; x++) {
				for (uint32_t s = 0; s < kernels.s; s++) {
					if (meets(x, pass.padding.left, s, pass.stride.x, in.w))
						sums[size_t{ y } * out.w + x] +=
							plane[size_t{ r } * kernels.s + s];
				}
			}
		}
	}
	return sums;
}

/* Scaling as behind a convolution, but at edges some kernel elements meet no input. */
Affine epilogue(const Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass,
		bool normalizes, uint8_t truncated)
{
	const Quantization in = lowerer.quantization(pass.input);
	const Quantization out = lowerer.quantization(pass.output);
	const Cube shape = lowerer.cube(pass.output);
	const int32_t zero = pass.keepsZero ? 0 : in.zeroPoint;
	const bool alike = zero == 0 && !normalizes;
	Affine affine{ {}, {}, { kernels.k, 1, 1 }, pass.activation };

	if (!alike)
		affine.shape = shape;
	for (uint32_t k = 0; k < kernels.k; k++) {
		const double step = in.scale * kernels.scales[k];
		const std::vector<double> met =
			alike ? std::vector<double>{ 1 }
			      : metWeights(kernels, k, lowerer.cube(pass.input), shape, pass);
		for (const double sum : met) {
			const double bias = kernels.bias[k] / step - zero * sum;
			double factor = normalizes && sum != 0 ? 1 / sum : 1;
			if (pass.keepsZero && lowerer.is8Bits(pass.input))
				factor = dividing(factor);
			affine.bias.push_back(std::ldexp(bias, -truncated));
			affine.scale.push_back(std::ldexp(step * factor / out.scale, truncated));
		}
	}
	return affine;
}

/* \a normalizes: each sum is divided by the sum of the kernel elements that meet the input. */
void deconvolve(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass,
		bool normalizes)
{
	const DataType type = lowerer.storage(pass.input);
	const bool half = type == DataType::Half;
	const std::string name = lowerer.step("deconvolution");

	lowerer.need(pass.stride.x <= maxDeconvolutionStride &&
			     pass.stride.y <= maxDeconvolutionStride,
		     "stride",
		     fmt::format("is {} x {}; up to {} are possible", pass.stride.y, pass.stride.x,
				 maxDeconvolutionStride));
	lowerer.makeNatural(pass.input);
	lowerer.needRoom(naturalCube(lowerer.value(pass.output).shape).elements());
	const uint8_t truncated = half ? uint8_t{ 0 }
				       : excessBits(kernels, lowerer.quantization(pass.input),
						    lowerer.range(pass.input));
	lowerer.setCube(pass.output, naturalCube(lowerer.value(pass.output).shape));
	const std::string output = lowerer.write(pass.output);
	const std::string weights = lowerer.addWeights(weightsOf(kernels, type, name + " kernels"));
	op::Deconvolution deconv{ .name = name,
				  .input = lowerer.surface(pass.input),
				  .weights = weights,
				  .output = lowerer.unique(name + " sums"),
				  .stride = pass.stride,
				  .padding = pass.padding,
				  .accumulatorShift = truncated };
	lowerer.add(deconv);
	Lowerer::Stage stage =
		lowerer.stage(lowerer.step("scale"), deconv.output, type, output, pass.output);
	stage.stream = true;
	stage.keepsZero = pass.keepsZero;
	lowerer.affine(stage, epilogue(lowerer, kernels, pass, normalizes, truncated));
}

/* Weights with which an element is added to its neighbourhood along an axis, as whole numbers. */
struct Spread {
	std::vector<double> parts;
	uint32_t before; /* number of them before the element's own place */
};

Spread spreadOf(Enlarge::Method method, uint32_t factor)
{
	const auto whole = static_cast<int64_t>(factor);
	Spread spread{ {}, 0 };

	if (method == Enlarge::Method::Nearest)
		return { std::vector<double>(factor, 1), 0 };
	/* Distances are doubled, so that centers are whole numbers. */
	const int64_t center = method == Enlarge::Method::LinearOfCenters ? whole - 1 : 0;
	for (int64_t at = -whole; at < 2 * whole; at++) {
		const int64_t part = 2 * whole - std::abs(2 * at - center);
		if (part <= 0)
			continue;
		spread.before += at < 0;
		spread.parts.push_back(static_cast<double>(part));
	}
	return spread;
}

} /* namespace */

void lower(Lowerer &lowerer, const Operator &operation, const TransposedConvolution &conv)
{
	deconvolve(lowerer, kernelsOf(lowerer, operation),
		   { .input = operation.inputs[0],
		     .output = operation.outputs[0],
		     .stride = conv.stride,
		     .padding = conv.padding,
		     .activation = conv.activation },
		   false);
}

/*
 * Each element adds weighted copies of itself around it. At the edges, the weights of missing
 * neighbours go to the others.
 */
void lower(Lowerer &lowerer, const Operator &operation, const Enlarge &enlarge)
{
	lowerer.makeNatural(operation.inputs[0]);
	const Cube in = lowerer.cube(operation.inputs[0]);
	const Spread x = spreadOf(enlarge.method, enlarge.factor.x);
	const Spread y = spreadOf(enlarge.method, enlarge.factor.y);
	const auto r = static_cast<uint32_t>(y.parts.size());
	const auto s = static_cast<uint32_t>(x.parts.size());
	const double most = *std::max_element(x.parts.begin(), x.parts.end()) *
			    *std::max_element(y.parts.begin(), y.parts.end());

	lowerer.need(lowerer.storage(operation.inputs[0]) != DataType::Int8 || most <= INT8_MAX,
		     "factor",
		     fmt::format("is {} x {}, more than kernels of 8 bits can weigh",
				 enlarge.factor.y, enlarge.factor.x));
	lowerer.needRoom(uint64_t{ in.c } * in.c * r * s);
	Kernels kernels = uniformKernels({ in.c, in.c, r, s }, 0);
	for (size_t c = 0; c < in.c; c++) {
		for (size_t rs = 0; rs < size_t{ r } * s; rs++)
			kernels.elements[(c * in.c + c) * r * s + rs] =
				y.parts[rs / s] * x.parts[rs % s];
	}
	const Cube out{ in.c, in.h * enlarge.factor.y, in.w * enlarge.factor.x };
	auto after = [](uint32_t size, uint32_t factor, const Spread &spread, uint32_t wanted) {
		const auto taps = static_cast<uint32_t>(spread.parts.size());
		return (size - 1) * factor + taps - spread.before - wanted;
	};
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	deconvolve(lowerer, kernels,
		   { .input = input,
		     .output = output,
		     .stride = enlarge.factor,
		     .padding = { x.before, after(in.w, enlarge.factor.x, x, out.w), y.before,
				  after(in.h, enlarge.factor.y, y, out.h) },
		     .keepsZero = lowerer.averagesIntegers(input, output) },
		   true);
}

} /* namespace nvdla::compiler */

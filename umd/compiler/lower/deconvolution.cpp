/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions; among them are enlargements of pictures, with computed kernels.
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

void deconvolve(Lowerer &lowerer, const Kernels &kernels, ConvolutionPass pass)
{
	lowerer.support(pass.stride.x <= maxDeconvolutionStride &&
				pass.stride.y <= maxDeconvolutionStride,
			"stride",
			fmt::format("is {} x {}; up to {} are possible", pass.stride.y,
				    pass.stride.x, maxDeconvolutionStride));
	lowerer.makeNatural(pass.input);
	pass.out = naturalCube(lowerer.value(pass.output).shape);
	pass.isTransposed = true;
	lowerer.needRoom(pass.out.elements());
	convolve(lowerer, kernels, pass);
}

/* Weights, as whole numbers, of an input element in the outputs around it, along one axis */
struct Spread {
	std::vector<double> parts;
	uint32_t before; /* number of weights before the element's own place */
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
		     .activation = conv.activation });
}

/*
 * Each input element adds weighted copies of itself to the outputs around its place. Each output is
 * divided by the sum of its weights, which is less at the edges, where neighbours are missing.
 */
void lower(Lowerer &lowerer, const Operator &operation, const Enlarge &enlarge)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	lowerer.makeNatural(input);
	const Cube in = lowerer.cube(input);
	const Spread x = spreadOf(enlarge.method, enlarge.factor.x);
	const Spread y = spreadOf(enlarge.method, enlarge.factor.y);
	const auto r = static_cast<uint32_t>(y.parts.size());
	const auto s = static_cast<uint32_t>(x.parts.size());
	const double most = std::ranges::max(x.parts) * std::ranges::max(y.parts);

	lowerer.support(lowerer.storage(input) != DataType::Int8 || most <= INT8_MAX, "factor",
			fmt::format("is {} x {}, more than kernels of 8 bits can weigh",
				    enlarge.factor.y, enlarge.factor.x));
	lowerer.needRoom(uint64_t{ in.c } * in.c * r * s);
	Kernels kernels = uniformKernels({ in.c, in.c, r, s }, 0);
	for (size_t c = 0; c < in.c; c++) {
		for (size_t rs = 0; rs < size_t{ r } * s; rs++)
			kernels.elements[(c * in.c + c) * r * s + rs] =
				y.parts[rs / s] * x.parts[rs % s];
	}
	deconvolve(lowerer, kernels,
		   { .input = input,
		     .output = output,
		     .stride = enlarge.factor,
		     .padding = { x.before, s - x.before - enlarge.factor.x, y.before,
				  r - y.before - enlarge.factor.y },
		     .keepsZero = lowerer.averagesIntegers(input, output),
		     .normalizes = true });
}

} /* namespace nvdla::compiler */

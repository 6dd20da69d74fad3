/* SPDX-License-Identifier: MIT */
#include <nvdla/layer_scaling.h>

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "invalid.h"
#include "sdp_operands.h"

namespace nvdla
{

namespace
{

/* Returns the sum of the weights of each kernel. */
std::vector<double> weightSums(const WeightDesc &desc, std::span<const std::byte> weights)
{
	const std::vector<float> elements = elementsToFloat(desc.type, weights);
	std::vector<double> sums;

	for (auto kernel = elements.begin(); kernel != elements.end();) {
		const auto end = kernel + static_cast<ptrdiff_t>(desc.kernelElements());
		sums.push_back(std::accumulate(kernel, end, 0.0));
		kernel = end;
	}
	return sums;
}

/* Makes the parameters of (x + bias) * scale + zeroPoint. There is a bias and a scale for each
 * channel; biases are in steps of x. */
Result<AffineScaling> makeAffine(std::span<const double> biases, std::span<const double> scales,
				 int32_t zeroPoint)
{
	auto multipliers = sdpMultipliers(scales);
	if (!multipliers)
		return forward(multipliers);

	AffineScaling scaling;
	scaling.multipliers = std::move(*multipliers);
	scaling.output = { -zeroPoint, 1, 0 };
	scaling.biasShift = toOperands(biases, scaling.bias);
	for (size_t k = 0; k < biases.size(); k++) {
		const double given = std::ldexp(scaling.bias[k], scaling.biasShift);
		scaling.biasError =
			std::max(scaling.biasError, std::fabs((given - biases[k]) * scales[k]));
	}
	return scaling;
}

Result<void> check(const ConvolutionQuantization &quantization, const WeightDesc &desc,
		   size_t weights, size_t bias)
{
	constexpr const char *what = "scale convolution";
	const std::string where = "weights " + desc.describe();
	const size_t scales = quantization.weightScales.size();

	if (desc.type != DataType::Int8 && desc.type != DataType::Int16)
		return fail(ErrorCode::Unsupported, what, where,
			    "only integers have scales; fp16 goes through unscaled");
	if (desc.elements() == 0 || weights != desc.elements() * elementBytes(desc.type))
		return invalid(what, where,
			       fmt::format("{} bytes given, {} needed", weights,
					   desc.elements() * elementBytes(desc.type)));
	if (scales != 1 && scales != desc.kernels)
		return invalid(
			what, where,
			fmt::format("{} weight scales, 1 or {} needed", scales, desc.kernels));
	if (bias != 0 && bias != desc.kernels)
		return invalid(what, where,
			       fmt::format("{} biases, {} needed", bias, desc.kernels));
	for (double scale :
	     { quantization.input.scale, quantization.output.scale, quantization.winogradScale }) {
		if (!(scale > 0) || !std::isfinite(scale))
			return invalid(what, where,
				       fmt::format("scale is {}, must be positive", scale));
	}
	return {};
}

} /* namespace */

Result<ConvolutionScaling> scaleConvolution(const ConvolutionQuantization &quantization,
					    const WeightDesc &desc,
					    std::span<const std::byte> weights,
					    std::span<const double> bias)
{
	auto checked = check(quantization, desc, weights.size(), bias.size());
	if (!checked)
		return forward(checked);

	/*
	 * Value that reaches SDP, after the truncations of the convolution pipeline, for the
	 * product of one step of the input and one step of a weight.
	 */
	const double reach = std::ldexp(
		quantization.winogradScale,
		-static_cast<int>(quantization.preTruncate + quantization.accumulatorTruncate));
	const std::vector<double> sums = weightSums(desc, weights);
	std::vector<double> scales, biases;
	for (uint32_t k = 0; k < desc.kernels; k++) {
		const auto &weightScales = quantization.weightScales;
		const double weightScale = weightScales[weightScales.size() == 1 ? 0 : k];
		const double step = quantization.input.scale * weightScale / reach;
		scales.push_back(step / quantization.output.scale);
		biases.push_back((bias.empty() ? 0 : bias[k] / step) -
				 quantization.input.zeroPoint * sums[k] * reach);
	}

	auto affine = makeAffine(biases, scales, quantization.output.zeroPoint);
	if (!affine)
		return forward(affine);
	return ConvolutionScaling{ std::move(*affine), quantization.input.zeroPoint };
}

Result<AffineScaling> scaleBatchNorm(const Quantization &input, const Quantization &output,
				     std::span<const double> mean, std::span<const double> factor)
{
	std::vector<double> scales, biases;

	if (mean.size() != factor.size())
		return invalid("scale batch normalization", "",
			       fmt::format("{} means, {} factors", mean.size(), factor.size()));
	for (size_t k = 0; k < mean.size(); k++) {
		biases.push_back(-input.steps(mean[k]));
		scales.push_back(input.scale * factor[k] / output.scale);
	}
	return makeAffine(biases, scales, output.zeroPoint);
}

Result<QuantizedWeights> quantizeWeights(const WeightDesc &desc, std::span<const float> weights,
					 WeightScales scales)
{
	constexpr const char *what = "quantize weights";
	const std::string where = "weights " + desc.describe();

	if (desc.type != DataType::Int8 && desc.type != DataType::Int16)
		return fail(ErrorCode::Unsupported, what, where, "only integers have scales");
	if (weights.empty() || weights.size() != desc.elements())
		return invalid(what, where,
			       fmt::format("{} elements given, {} needed", weights.size(),
					   desc.elements()));

	const size_t perScale =
		scales == WeightScales::PerKernel ? desc.kernelElements() : desc.elements();
	std::vector<float> steps;
	QuantizedWeights quantized;
	for (size_t first = 0; first < weights.size(); first += perScale) {
		const auto group = weights.subspan(first, perScale);
		const auto [low, high] = std::minmax_element(group.begin(), group.end());
		Quantization numbers;
		if (*low != 0 || *high != 0) {
			auto found = quantizationOf(*low, *high, desc.type, ZeroPoint::Zero);
			if (!found)
				return forward(found);
			numbers = *found;
		}
		quantized.scales.push_back(numbers.scale);
		for (float weight : group)
			steps.push_back(static_cast<float>(numbers.quantize(weight, desc.type)));
	}
	quantized.elements = elementsFromFloat(desc.type, steps);
	return quantized;
}

Result<ElementwiseScaling> scaleElementwise(Elementwise operation, const Quantization &main,
					    const Quantization &operand)
{
	Quantization wanted = main;
	Quantization result = main;

	switch (operation) {
	case Elementwise::Max:
	case Elementwise::Min:
		break;
	case Elementwise::Sum:
		wanted.zeroPoint = 0;
		break;
	case Elementwise::Product:
		if (main.zeroPoint != 0)
			return invalid(
				"scale element-wise product", "main stream",
				fmt::format("zero point is {}, must be 0: add it in a unit before",
					    main.zeroPoint));
		wanted = { operand.scale, 0 };
		result.scale = main.scale * operand.scale;
		break;
	}

	auto converter = makeConverter(operand, wanted);
	if (!converter)
		return forward(converter);
	return ElementwiseScaling{ *converter, result };
}

Result<CdpScaling> scaleCdp(const Quantization &input, const Quantization &output,
			    int32_t fractionBits, double lutOutputScale)
{
	if (!(lutOutputScale > 0) || !std::isfinite(lutOutputScale))
		return invalid("scale CDP", "table",
			       fmt::format("output scale is {}, must be positive", lutOutputScale));

	const double step = std::ldexp(1, -fractionBits);
	auto in = makeConverter(input, { step, 0 });
	if (!in)
		return forward(in);
	auto out = makeConverter({ step * lutOutputScale, 0 }, output);
	if (!out)
		return forward(out);
	return CdpScaling{ *in, *out, step * step };
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include <nvdla/real_layer.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/layer_scaling.h>

namespace nvdla
{

namespace
{

constexpr const char *addingLayer = "add layer";

tl::unexpected<Error> refused(const RealLayer &layer, ErrorCode code, const char *field,
			      std::string why)
{
	return fail(code, addingLayer, fmt::format("'{}', {}", layer.convolution.name, field),
		    std::move(why));
}

Result<void> check(const RealLayer &layer)
{
	const uint64_t count = uint64_t{ layer.k } * layer.c * layer.r * layer.s;
	auto isNumber = [](float number) { return std::isfinite(number); };

	if (layer.type != DataType::Int8 && layer.type != DataType::Int16)
		return refused(layer, ErrorCode::Unsupported, "type",
			       fmt::format("is {}; Int8 and Int16 have scales, FP16 takes weights "
					   "and operands as they are (Elements::half())",
					   dataTypeName(layer.type)));
	if (layer.convolution.winograd)
		return refused(layer, ErrorCode::Unsupported, "winograd",
			       "transforms weights and data, which takes bits that integers do not "
			       "have; leave it out for a direct convolution");
	if (count == 0 || count != layer.weights.size())
		return refused(layer, ErrorCode::InvalidArgument, "weights",
			       fmt::format("are {} for {} x {} x {} x {}", layer.weights.size(),
					   layer.k, layer.c, layer.r, layer.s));
	if (!layer.bias.empty() && layer.bias.size() != layer.k)
		return refused(
			layer, ErrorCode::InvalidArgument, "bias",
			fmt::format("has {} numbers for {} kernels", layer.bias.size(), layer.k));
	if (!std::ranges::all_of(layer.weights, isNumber) ||
	    !std::ranges::all_of(layer.bias, isNumber))
		return refused(layer, ErrorCode::InvalidArgument, "weights",
			       "and bias have an element that is infinite or no number");
	if (layer.lowest && *layer.lowest != 0)
		return refused(layer, ErrorCode::Unsupported, "lowest",
			       fmt::format("is {}; 0 is possible (ReLU)", *layer.lowest));
	if (layer.highest && !(*layer.highest > 0))
		return refused(layer, ErrorCode::InvalidArgument, "highest",
			       fmt::format("is {}; a number above 0 is needed", *layer.highest));
	return {};
}

/* The largest magnitude of the numbers that integers of a type represent. */
double magnitude(const Quantization &quantization, DataType type)
{
	const IntegerLimits limits = integerLimits(type);

	return std::max(std::fabs(quantization.real(static_cast<double>(limits.lowest))),
			std::fabs(quantization.real(static_cast<double>(limits.highest))));
}

/*
 * A kernel of zeros can have any scale. It gets the largest scale of the other kernels, so that it
 * does not reduce the precision of the multipliers, which have a common shift.
 */
void scaleZeros(const RealLayer &layer, QuantizedWeights &quantized)
{
	const size_t kernel = layer.weights.size() / layer.k;
	std::vector<size_t> zeros;
	double largest = 0;

	for (size_t k = 0; k < layer.k; k++) {
		const auto first = layer.weights.begin() + static_cast<ptrdiff_t>(k * kernel);
		if (std::all_of(first, first + static_cast<ptrdiff_t>(kernel),
				[](float weight) { return weight == 0; }))
			zeros.push_back(k);
		else
			largest = std::max(largest, quantized.scales[k]);
	}
	for (const size_t k : zeros)
		quantized.scales[k] = largest > 0 ? largest : quantized.scales[k];
}

/* A layer's integers and scales, and the operations made of them. */
class LayerNumbers
{
public:
	LayerNumbers(const RealLayer &layer, QuantizedWeights quantized)
		: layer_(layer), quantized_(std::move(quantized)),
		  integers_(elementsToFloat(layer.type, quantized_.elements))
	{
	}

	Result<void> scale();
	LayerRounding rounding() const;
	void addTo(Graph &graph) const;

private:
	size_t kernelSize() const { return layer_.weights.size() / layer_.k; }
	double step(size_t k) const { return layer_.input.scale * quantized_.scales[k]; }
	uint8_t excessBits() const;
	LayerRounding roundingOf(size_t k) const;
	op::Sdp sdp() const;

	const RealLayer &layer_;
	QuantizedWeights quantized_;
	std::vector<float> integers_;
	uint8_t truncated_ = 0;
	ConvolutionScaling scaling_;
};

/* Bits by which the largest possible sum of products exceeds the 32 bits of SDP's input. */
uint8_t LayerNumbers::excessBits() const
{
	const double input = magnitude(layer_.input, layer_.type) / layer_.input.scale +
			     std::fabs(static_cast<double>(layer_.input.zeroPoint));
	double most = 0;
	uint8_t bits = 0;

	for (size_t k = 0; k < layer_.k; k++) {
		double sum = 0;
		for (size_t i = 0; i < kernelSize(); i++)
			sum += std::fabs(integers_[k * kernelSize() + i]);
		most = std::max(most, sum * input);
	}
	while (std::ldexp(most, -bits) > INT32_MAX)
		bits++;
	return bits;
}

Result<void> LayerNumbers::scale()
{
	truncated_ = excessBits();
	const std::vector<double> bias(layer_.bias.begin(), layer_.bias.end());
	auto scaling = scaleConvolution({ .input = layer_.input,
					  .weightScales = quantized_.scales,
					  .output = layer_.output,
					  .accumulatorTruncate = truncated_ },
					{ layer_.type, layer_.k, layer_.c, layer_.r, layer_.s },
					quantized_.elements, bias);
	if (!scaling)
		return forward(scaling);
	scaling_ = std::move(*scaling);
	return {};
}

LayerRounding LayerNumbers::roundingOf(size_t k) const
{
	const double input = magnitude(layer_.input, layer_.type);
	const double scale = std::ldexp(step(k), truncated_) / layer_.output.scale;
	const double given =
		std::ldexp(scaling_.multipliers.operands[k], -scaling_.multipliers.shift);
	const double bias = layer_.bias.empty() ? 0 : layer_.bias[k];
	double off = 0, largest = std::fabs(bias);

	for (size_t i = k * kernelSize(); i < (k + 1) * kernelSize(); i++) {
		const double used = integers_[i] * quantized_.scales[k];
		off += std::fabs(used - layer_.weights[i]) * input;
		largest += std::fabs(used) * input;
	}
	/* Sums beyond the output's range saturate, so a multiplier's rounding does not matter. */
	largest = std::min(largest, magnitude(layer_.output, layer_.type));
	return { .weights = off,
		 .multipliers = std::fabs(given / scale - 1) * largest,
		 .accumulator = truncated_ ? std::ldexp(step(k), truncated_ - 1) : 0 };
}

LayerRounding LayerNumbers::rounding() const
{
	const double half = layer_.output.scale / 2;
	LayerRounding all{ .bias = scaling_.biasError * layer_.output.scale,
			   .output = layer_.highest ? 2 * half : half };

	for (size_t k = 0; k < layer_.k; k++) {
		const LayerRounding one = roundingOf(k);
		all.weights = std::max(all.weights, one.weights);
		all.multipliers = std::max(all.multipliers, one.multipliers);
		all.accumulator = std::max(all.accumulator, one.accumulator);
	}
	return all;
}

op::Sdp LayerNumbers::sdp() const
{
	const std::string &name = layer_.convolution.name;
	op::Sdp sdp{ .name = name + " scale",
		     .input = name + " sums",
		     .output = layer_.convolution.output,
		     .x1 = op::SdpUnit{ .alu = op::Alu::Sum,
					.multiply = true,
					.activation = layer_.lowest ? op::Activation::Relu
								    : op::Activation::None,
					.operands = name + " operands",
					.aluShift = scaling_.biasShift,
					.shift = scaling_.multipliers.shift },
		     .converter = scaling_.output };

	/* The limit has no zero point, because the converter adds the zero point after Y. */
	if (layer_.highest)
		sdp.y = op::SdpUnit{ .alu = op::Alu::Min,
				     .aluOperand = static_cast<int32_t>(
					     integerLimits(DataType::Int16)
						     .saturate(*layer_.highest /
							       layer_.output.scale)) };
	return sdp;
}

void LayerNumbers::addTo(Graph &graph) const
{
	op::Convolution conv = layer_.convolution;

	conv.weights = conv.name + " weights";
	conv.output = conv.name + " sums";
	conv.padValue = static_cast<int16_t>(scaling_.paddingValue);
	conv.accumulatorShift = truncated_;
	graph.weights({ .name = conv.weights,
			.k = layer_.k,
			.c = layer_.c,
			.r = layer_.r,
			.s = layer_.s,
			.elements = { layer_.type, quantized_.elements } });
	graph.operands(
		{ .name = conv.name + " operands",
		  .c = layer_.k,
		  .alu = Elements::of(std::span<const int16_t>(scaling_.bias)),
		  .mul = Elements::of(std::span<const int16_t>(scaling_.multipliers.operands)) });
	graph.add(conv);
	graph.add(sdp());
}

} /* namespace */

Result<LayerRounding> addLayer(Graph &graph, const RealLayer &layer)
{
	if (auto checked = check(layer); !checked)
		return forward(checked);
	auto quantized = quantizeWeights({ layer.type, layer.k, layer.c, layer.r, layer.s },
					 layer.weights, WeightScales::PerKernel);
	if (!quantized)
		return forward(quantized);
	scaleZeros(layer, *quantized);
	LayerNumbers numbers(layer, std::move(*quantized));
	if (auto scaled = numbers.scale(); !scaled)
		return forward(scaled);
	numbers.addTo(graph);
	return numbers.rounding();
}

} /* namespace nvdla */

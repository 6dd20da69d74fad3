/* SPDX-License-Identifier: MIT */
#include <cmath>

#include "generator.h"

namespace nvdla::test
{

namespace
{

uint32_t outputSize(uint32_t in, uint32_t pads, uint32_t kernel, uint32_t stride, uint32_t dilation)
{
	return (in + pads - ((kernel - 1) * dilation + 1)) / stride + 1;
}

} /* namespace */

GraphWeights Generator::weightsFor(const op::Convolution &conv, uint32_t channels)
{
	GraphWeights weights{ .name = conv.weights, .k = dice_.size(1, 40), .c = channels };

	weights.compressed = dice_.chance(20) && core_.has(Capability::Compression);
	weights.onChip = dice_.chance(20) && core_.hasOnChipMemory;
	return weights;
}

/* Sparse ones have zeros, and something else at least once. */
void Generator::fillWeights(GraphWeights &weights, DataType type)
{
	const size_t count = size_t{ weights.k } * weights.c * weights.r * weights.s;
	const size_t bytes = elementBytes(type);

	weights.elements = dice_.elements(type, count);
	if (!weights.compressed)
		return;
	for (size_t i = 0; i < count; i++) {
		const auto element =
			weights.elements.bytes.begin() + static_cast<ptrdiff_t>(i * bytes);
		if (dice_.chance(60))
			std::fill_n(element, bytes, std::byte{ 0 });
	}
	weights.elements.bytes.front() = std::byte{ 1 };
}

void Generator::addConvolution()
{
	const bool image = dice_.chance(25);
	Known in = image ? imageInput() : choose();
	if (!image && case_.inputNames.size() < 3 && dice_.chance(10) && core_.maxBatch > 1)
		in = newInput(anyType(), dice_.size(2, 3), dice_.size(1, 40), dice_.size(2, 6),
			      dice_.size(2, 6));
	op::Convolution conv{ .name = name("conv"),
			      .input = in.name,
			      .weights = name("weights"),
			      .output = name("stream") };
	GraphWeights weights = weightsFor(conv, in.c);
	conv.stride = { dice_.size(1, 3), dice_.size(1, 3) };
	if (!image && dice_.chance(25))
		conv.dilation = { dice_.size(1, 3), dice_.size(1, 3) };
	auto kernel = [&](uint32_t side, uint32_t dilation) {
		return dice_.size(1, std::min<uint32_t>(4, (side - 1) / dilation + 1));
	};
	weights.s = kernel(in.w, conv.dilation.x);
	weights.r = kernel(in.h, conv.dilation.y);
	if (image && core_.imageStrideInKernel)
		conv.stride.x = std::min(conv.stride.x, weights.s);
	if (dice_.chance(60)) {
		conv.padding = { dice_.size(0, weights.s - 1), dice_.size(0, weights.s - 1),
				 dice_.size(0, weights.r - 1), dice_.size(0, weights.r - 1) };
		if (in.type != DataType::Half && dice_.chance(50))
			conv.padValue = static_cast<int16_t>(dice_.pick(-100, 100));
	}
	if (image && weights.s * pixelFormatInfo(in.format)->channels <= core_.macChannels / 4 &&
	    dice_.chance(50))
		conv.postExtension = dice_.chance(50) ? 2 : 4;
	DataType type = in.type;
	if (image && in.type != DataType::Half && dice_.chance(60)) {
		conv.pixels.signedPixels = dice_.chance(50);
		conv.pixels.converter = dice_.converter(60, 3, 2);
		if (dice_.chance(40))
			conv.pixels.mean = { 3, -5, 17, 60 };
		type = anyType();
		if (type == DataType::Half)
			conv.padValue = 0;
	}
	const bool point = outputSize(in.h, conv.padding.top + conv.padding.bottom, weights.r,
				      conv.stride.y, conv.dilation.y) == 1 &&
			   outputSize(in.w, conv.padding.left + conv.padding.right, weights.s,
				      conv.stride.x, conv.dilation.x) == 1;
	/* A batch of single points cannot have the strides that it needs. */
	if (in.n > 1 && point)
		return;
	chooseGroups(conv, weights);
	fillWeights(weights, type);
	finishConvolution(std::move(conv), std::move(weights), in);
}

/* Half of them have as many as there are channels. */
void Generator::chooseGroups(op::Convolution &conv, GraphWeights &weights)
{
	if (weights.c == 1 || !dice_.chance(20))
		return;
	conv.groups = dice_.chance(50) ? weights.c : dice_.size(2, weights.c);
	while (weights.c % conv.groups)
		conv.groups--;
	weights.k = conv.groups * dice_.size(1, std::max(1U, 40 / conv.groups));
	weights.c /= conv.groups;
}

/* The input follows from an output that Winograd can make. */
void Generator::addWinograd()
{
	op::Convolution conv{ .name = name("winograd"),
			      .weights = name("weights"),
			      .output = name("stream"),
			      .winograd = true };
	conv.stride = { dice_.size(1, 2), dice_.size(1, 2) };
	conv.padding = { dice_.size(0, 1), dice_.size(0, 1), dice_.size(0, 1), dice_.size(0, 1) };
	GraphWeights weights = weightsFor(conv, dice_.size(1, 34));
	weights.s = conv.stride.x == 1 ? 3 : dice_.size(5, 6);
	weights.r = conv.stride.y == 1 ? 3 : dice_.size(5, 6);
	weights.winogradScale = dice_.chance(50) ? 1.0f : 0.5f;
	const uint32_t w = 8 + 4 * dice_.size(0, 1);
	const uint32_t h = 8 + 4 * dice_.size(0, 3);
	const Known in = newInput(
		anyType(), 1, weights.c,
		(h - 1) * conv.stride.y + weights.r - conv.padding.top - conv.padding.bottom,
		(w - 1) * conv.stride.x + weights.s - conv.padding.left - conv.padding.right);
	conv.input = in.name;
	conv.winogradShift = static_cast<uint8_t>(in.type == DataType::Half ? 0 : dice_.pick(0, 2));
	fillWeights(weights, in.type);
	finishConvolution(std::move(conv), std::move(weights), in);
}

void Generator::finishConvolution(op::Convolution conv, GraphWeights weights, const Known &in)
{
	const DataType type = weights.elements.type;
	const auto taps = static_cast<double>(weights.c * weights.r * weights.s);
	int bits = static_cast<int>(std::log2(taps) / 2) + (type == DataType::Int8 ? 13 : 18);

	if (type != DataType::Half) {
		conv.accumulatorShift = static_cast<uint8_t>(dice_.pick(0, 4));
		bits -= conv.accumulatorShift;
	}
	const Known stream{ conv.output,
			    type,
			    weights.k,
			    outputSize(in.h, conv.padding.top + conv.padding.bottom, weights.r,
				       conv.stride.y, conv.dilation.y),
			    outputSize(in.w, conv.padding.left + conv.padding.right, weights.s,
				       conv.stride.x, conv.dilation.x),
			    in.n,
			    PixelFormat::Feature,
			    type == DataType::Half };
	chooseBands(conv, in, stream);
	consumed_.insert(in.name);
	anyHalf_ |= type == DataType::Half;
	const std::string line = fmt::format(
		"{}{}{}{} {} kernel {}x{}x{}x{} groups {} stride {}x{} dilation {}x{} padding {} "
		"post {} bands {} -> {}",
		conv.reuseData ? "same data " : "", conv.reuseWeights ? "same weights " : "",
		weights.compressed ? "sparse " : "", conv.winograd ? "winograd" : "conv", shape(in),
		weights.k, weights.c, weights.r, weights.s, conv.groups, conv.stride.x,
		conv.stride.y, conv.dilation.x, conv.dilation.y, text(conv.padding),
		conv.postExtension, conv.bands, shape(stream));
	if (conv.groups == 1)
		last_ = { conv, weights, in };
	else
		last_.reset();
	if (case_.constants.weights.emplace(weights.name, weights).second)
		case_.graph.weights(std::move(weights));
	const bool whole = conv.bands < 2;
	add(std::move(conv), line);
	finishSdp(sdpFor(stream, true, type == DataType::Half, bits), stream,
		  whole && dice_.chance(30));
}

/* Another convolution of the last one's input, weights or both. */
void Generator::addSibling()
{
	op::Convolution conv = last_->conv;
	GraphWeights weights = last_->weights;
	Known in = last_->in;
	const bool banded = conv.bands > 1;
	const bool image = in.format != PixelFormat::Feature;

	if (banded && image)
		return;
	conv.name = name("again");
	conv.output = name("stream");
	conv.reuseData = !banded && (image || dice_.chance(60));
	conv.reuseWeights = !conv.reuseData || dice_.chance(50);
	if (!conv.reuseData)
		in = newInput(in.type, in.n, in.c, in.h, in.w);
	conv.input = in.name;
	if (!conv.reuseWeights) {
		weights.name = conv.weights = name("weights");
		weights.k = dice_.size(1, 40);
		fillWeights(weights, weights.elements.type);
	}
	/* Winograd's tiles depend on strides, and strides of batches on the shape. */
	if (!conv.winograd && in.n == 1 && !(image && core_.imageStrideInKernel))
		conv.stride = { dice_.size(1, 3), dice_.size(1, 3) };
	finishConvolution(std::move(conv), std::move(weights), in);
}

/* Bands of single elements cannot be: they would not have the strides that they need. */
void Generator::chooseBands(op::Convolution &conv, const Known &in, const Known &stream)
{
	const uint32_t fewest = conv.winograd ? 8 : 1;

	conv.bands = 0;
	if (in.n > 1 || in.w == 1 || stream.w == 1 || stream.h < 2 * fewest || conv.reuseData ||
	    !dice_.chance(30))
		return;
	conv.bands = dice_.size(2, std::min(stream.h / fewest, 4u));
}

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include "conv_layer.h"
#include "descriptors.h"

namespace nvdla::assembly
{

namespace
{

constexpr uint32_t winogradKernelSide = 3;

uint32_t outputSize(uint32_t in, uint32_t before, uint32_t after, uint32_t kernel, uint32_t stride,
		    uint32_t dilation)
{
	const uint32_t padded = before + in + after;
	const uint32_t window = (kernel - 1) * dilation + 1;

	return padded < window ? 0 : (padded - window) / stride + 1;
}

void checkRanges(Lowering &lowering, const ConvLayer &layer)
{
	const op::Convolution &op = layer.op;
	const TensorDesc &in = layer.in.desc;
	const WeightDesc &weights = layer.plain;

	lowering.need(op.stride.x >= 1 && op.stride.x <= 8 && op.stride.y >= 1 && op.stride.y <= 8,
		      "stride",
		      fmt::format("{} x {}; 1 to 8 are possible", op.stride.x, op.stride.y));
	lowering.need(op.dilation.x >= 1 && op.dilation.x <= 32 && op.dilation.y >= 1 &&
			      op.dilation.y <= 32,
		      "dilation",
		      fmt::format("{} x {}; 1 to 32 are possible", op.dilation.x, op.dilation.y));
	lowering.need(layer.weights.c == in.c, "weights",
		      fmt::format("'{}' have {} channels, '{}' has {}", op.weights, layer.weights.c,
				  in.name, in.c));
	lowering.need(!layer.in.planar, "input", fmt::format("'{}' is planar", in.name));
	lowering.need(layer.image || in.type == weights.type, "weights",
		      fmt::format("'{}' are {}, '{}' is {}: only images are converted", op.weights,
				  dataTypeName(weights.type), in.name, dataTypeName(in.type)));
	lowering.need(!layer.image || in.n == 1, "input",
		      fmt::format("'{}' is a batch of {} pictures, of which each has to be a part",
				  in.name, in.n));
	lowering.need(layer.image || op.postExtension == 1, "postExtension",
		      fmt::format("'{}' is no image", in.name));
	lowering.need(op.postExtension == 1 || op.postExtension == 2 || op.postExtension == 4,
		      "postExtension", fmt::format("{}; 1, 2 or 4 are possible", op.postExtension));
	const bool isInteger = layer.image && in.type != DataType::Half;
	lowering.need(isInteger || !op.pixels.converter, "pixels.converter",
		      fmt::format("'{}' is no picture of integers: the core converts nothing else",
				  in.name));
	lowering.need(isInteger || !op.pixels.mean, "pixels.mean",
		      fmt::format("'{}' is no picture of integers: the core subtracts nothing from "
				  "FP16 pixels; put the mean into the biases",
				  in.name));
	lowering.need(op.pixels.converter || !op.pixels.mean, "pixels.mean",
		      "needs pixels.converter, which subtracts it");
	lowering.need(layer.padding.left < weights.width * op.dilation.x &&
			      layer.padding.top < weights.height * op.dilation.y,
		      "padding", "is not less than the kernel");
}

/*
 * The input of Winograd needs winogradMargin more columns and lines than the output has. Sets the
 * right and bottom padding accordingly.
 */
void padWinograd(Lowering &lowering, ConvLayer &layer)
{
	const op::Convolution &op = layer.op;
	const TensorDesc &in = layer.in.desc;

	lowering.need(!layer.image, "winograd", fmt::format("'{}' is an image", in.name));
	lowering.need(op.dilation.x == 1 && op.dilation.y == 1, "winograd",
		      "and dilation exclude each other");
	lowering.need(layer.outW >= 8 && layer.outW % 4 == 0 && layer.outH >= 8 &&
			      layer.outH % 4 == 0,
		      "winograd",
		      fmt::format("the output would be {} wide and {} high; both have to be "
				  "divisible by 4, and 8 or more",
				  layer.outW, layer.outH));
	if (lowering.failed())
		return;
	layer.padding.right = (layer.outW + winogradMargin) * op.stride.x - in.w - op.padding.left;
	layer.padding.bottom = (layer.outH + winogradMargin) * op.stride.y - in.h - op.padding.top;
}

/* Sets layer.core. For images and for Winograd, the core sees other shapes than the user's. */
void setCore(Lowering &lowering, ConvLayer &layer)
{
	const op::Convolution &op = layer.op;

	layer.core = layer.image ? imageKernel(layer.plain) : layer.plain;
	if (!op.winograd)
		return;
	auto core = winogradKernel(lowering.geometry(), layer.plain,
				   { op.stride.x, op.stride.y, layer.weights.winogradScale });
	lowering.need(bool(core), "weights",
		      fmt::format("'{}': {} lines and {} columns with this stride are no {} x {} "
				  "kernel",
				  op.weights, layer.plain.height, layer.plain.width,
				  winogradKernelSide, winogradKernelSide));
	if (core)
		layer.core = *core;
}

/* Sizes as CSC sees them (programming guide, DATAIN_SIZE_EXT and WEIGHT_SIZE_EXT). */
void setSizes(const ConvLayer &layer, nvdla_conv_op_desc &conv)
{
	const Shape seen = layer.seenByCsc();

	conv.input_width_csc = static_cast<__u16>(seen.w);
	conv.input_height_csc = static_cast<__u16>(seen.h);
	conv.input_channel_csc = static_cast<__u16>(seen.c);
	conv.kernel_width_csc = static_cast<__u16>(layer.core.width);
	conv.kernel_height_csc = static_cast<__u16>(layer.core.height);
	conv.kernel_channel_csc = static_cast<__u16>(layer.core.channels);
	conv.input_width_cmac = static_cast<__u16>(layer.outW);
	conv.input_height_cmac = static_cast<__u16>(layer.outH);
	conv.bytes_per_kernel =
		static_cast<__u32>(layer.core.kernelElements() * elementBytes(layer.core.type));
}

void setPixels(const ConvLayer &layer, nvdla_conv_op_desc &conv, nvdla_extended_op_desc &extended)
{
	const op::PixelConversion &pixels = layer.op.pixels;

	if (!layer.image)
		return;
	conv.data_format = static_cast<__u8>(layer.in.desc.format);
	extended.pixel_x_offset = static_cast<__u8>(layer.in.firstPixel);
	conv.pixel_override = pixels.signedPixels;
	conv.post_extension = static_cast<__u8>(std::countr_zero(layer.op.postExtension));
	if (pixels.converter)
		conv.in_cvt = descriptor(*pixels.converter);
	if (pixels.mean) {
		conv.mean_format = 1;
		conv.mean_ry = (*pixels.mean)[0];
		conv.mean_gu = (*pixels.mean)[1];
		conv.mean_bv = (*pixels.mean)[2];
		conv.mean_ax = (*pixels.mean)[3];
	}
}

void setWindow(const ConvLayer &layer, nvdla_conv_op_desc &conv)
{
	conv.conv_stride_x = static_cast<__u8>(layer.op.stride.x);
	conv.conv_stride_y = static_cast<__u8>(layer.op.stride.y);
	conv.dilation_x = static_cast<__u8>(layer.op.dilation.x);
	conv.dilation_y = static_cast<__u8>(layer.op.dilation.y);
	conv.pad_x_left = static_cast<__u8>(layer.padding.left);
	conv.pad_x_right = static_cast<__u8>(layer.padding.right);
	conv.pad_y_top = static_cast<__u8>(layer.padding.top);
	conv.pad_y_bottom = static_cast<__u8>(layer.padding.bottom);
	conv.pad_val = layer.op.padValue;
}

void fill(Lowering &lowering, const ConvLayer &layer, SurfaceState &out)
{
	const TensorDesc &in = layer.in.desc;
	nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	nvdla_conv_surface_desc &cubes = lowering.node.surface.conv;

	conv.conv_mode = layer.op.winograd ? NVDLA_CONV_MODE_WINOGRAD : NVDLA_CONV_MODE_DIRECT;
	conv.data_format = NVDLA_FORMAT_FEATURE;
	conv.in_precision = lowering.precision(in.type, "input");
	conv.out_precision = lowering.precision(layer.core.type, "weights");
	conv.batch = static_cast<__u8>(in.n);
	conv.batch_stride = in.n > 1 ? static_cast<__u32>(in.size / in.n) : 0;
	conv.fetch_grain = 1;
	conv.pra_truncate = layer.op.winogradShift;
	lowering.node.operation.extended.nan_to_zero = layer.op.nanToZero;
	conv.out_cvt = { 1, layer.op.accumulatorShift, 1, 0 };
	setSizes(layer, conv);
	setWindow(layer, conv);
	setPixels(layer, conv, lowering.node.operation.extended);
	conv.release = conv.input_height_csc;
	divideBuffer(lowering, layer);
	placeWeights(lowering, layer);
	cubes.src_data = lowering.read("src_data", layer.in);
	if (in.lineStrideUv) {
		cubes.offset_u = in.surfaceStride;
		cubes.in_line_uv_stride = in.lineStrideUv;
	}
	cubes.dst_data = lowering.write("dst_data", out);
	lowering.reuse(layer);
}

} /* namespace */

bool isSparse(const GraphWeights &weights)
{
	return weights.compressed &&
	       std::ranges::any_of(weights.elements.bytes,
				   [](std::byte byte) { return byte != std::byte{ 0 }; });
}

void checkElements(Lowering &lowering, const GraphWeights &weights)
{
	const uint64_t count = uint64_t{ weights.k } * weights.c * weights.r * weights.s;

	lowering.need(weights.packed.empty() ||
			      (weights.elements.bytes.empty() && !weights.compressed &&
			       !weights.onChip && !weights.fractionBits),
		      "weights",
		      fmt::format("'{}' are packed by a step: they have no elements, and are "
				  "neither compressed, on-chip nor fixed-point",
				  weights.name));
	lowering.need(count > 0 && (count == weights.elements.count() || !weights.packed.empty()),
		      "weights",
		      fmt::format("'{}' have {} elements for {} x {} x {} x {}", weights.name,
				  weights.elements.count(), weights.k, weights.c, weights.r,
				  weights.s));
}

Shape ConvLayer::seenByCsc() const
{
	const TensorDesc &desc = in.desc;

	if (!op.winograd)
		return { plain.channels, desc.h, desc.w };
	return { core.channels, divideUp(padding.top + desc.h + padding.bottom, op.stride.y),
		 divideUp(padding.left + desc.w + padding.right, op.stride.x) };
}

uint32_t ConvLayer::windowLines() const
{
	return (plain.height - 1) * op.dilation.y + 1;
}

std::string channelsFrom(uint32_t first, uint32_t count)
{
	return fmt::format("channels {} to {}", first, first + count - 1);
}

GraphWeights weightsLike(const GraphWeights &whole, const std::string &name, uint32_t k, uint32_t c)
{
	return { .name = name,
		 .k = k,
		 .c = c,
		 .r = whole.r,
		 .s = whole.s,
		 .elements = { whole.elements.type, {} },
		 .winogradScale = whole.winogradScale,
		 .compressed = whole.compressed,
		 .onChip = whole.onChip,
		 .fractionBits = whole.fractionBits };
}

std::optional<ConvLayer> convLayer(Lowering &lowering, const op::Convolution &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	const auto weights = lowering.symbols().weights.find(op.weights);

	lowering.need(weights != lowering.symbols().weights.end(), "weights",
		      fmt::format("the graph has no weights '{}'", op.weights));
	if (lowering.failed())
		return {};
	const GraphWeights &given = *weights->second;
	const PixelFormatInfo *pixels = pixelFormatInfo(in.desc.format);
	ConvLayer layer{ .op = op,
			 .weights = given,
			 .in = in,
			 .image = !isFeature(in.desc.format),
			 .plain = { given.elements.type, given.k,
				    pixels ? pixels->channels : given.c, given.r, given.s },
			 .padding = op.padding };
	checkElements(lowering, given);
	checkRanges(lowering, layer);
	if (lowering.failed())
		return {};

	layer.outW = outputSize(in.desc.w, op.padding.left, op.padding.right, given.s, op.stride.x,
				op.dilation.x);
	layer.outH = outputSize(in.desc.h, op.padding.top, op.padding.bottom, given.r, op.stride.y,
				op.dilation.y);
	lowering.need(layer.outW && layer.outH, "input",
		      fmt::format("'{}' is smaller than the kernel", in.desc.name));
	if (op.winograd && !lowering.failed())
		padWinograd(lowering, layer);
	if (!lowering.failed())
		setCore(lowering, layer);
	if (lowering.failed())
		return {};
	return layer;
}

void lower(Lowering &lowering, const op::Convolution &op)
{
	const auto layer = convLayer(lowering, op);

	if (!layer)
		return;
	SurfaceState &out = lowering.output(
		op.output, layer->plain.type,
		{ layer->plain.kernels, layer->outH, layer->outW, layer->in.desc.n });
	if (!lowering.failed())
		fill(lowering, *layer, out);
}

} /* namespace nvdla::assembly */

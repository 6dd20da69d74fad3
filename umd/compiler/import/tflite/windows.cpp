/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's convolutions, poolings, products of matrices and resizing of pictures.
 */
#include <cstring>
#include <numeric>

#include <fmt/core.h>

#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

namespace
{

using legalize::Weights;

/* Strides and padding in the options of a pooling or convolution. */
template<typename Options>
legalize::Windows windowsOf(OperatorReader &reader, const Options &options)
{
	return { .stride =
			 legalize::axesOf(reader, "stride", options.stride_h(), options.stride_w()),
		 .same = options.padding() == fb::Padding::SAME ? legalize::Same::Upper
								: legalize::Same::No };
}

template<Pool::Method method>
Tensor readPool(OperatorReader &reader)
{
	const auto &options = reader.options<fb::Pool2DOptions>();
	legalize::Windows windows = windowsOf(reader, options);

	windows.kernel =
		legalize::axesOf(reader, "window", options.filter_height(), options.filter_width());
	return legalize::pool(reader, method, reader.input(0), windows,
			      { .activation = reader.clamp(options.activation()) });
}

/* Returns the weights. A single scale is adapted so that its product with the input's scale equals
 * TensorFlow Lite's, which is rounded to single precision, except in INT8 convolutions. */
Value weightsOf(OperatorReader &reader, const Tensor &x, bool isConvolution)
{
	const Value &input = reader.value(x);
	Value weights = reader.constant(1);

	if (isFloat(input.type) || weights.quantization.values().size() != 1 ||
	    (isConvolution && input.type != ElementType::UInt8))
		return weights;
	Quantization one = weights.quantization.channel(0);
	const double scale = input.quantization.channel(0).scale;
	one.scale = static_cast<float>(scale * one.scale) / scale;
	weights.quantization = one;
	return weights;
}

/* Each depthwise kernel reads a single channel of the input. */
template<typename Options, bool isDepthwise>
Tensor readConvolution(OperatorReader &reader)
{
	const auto &options = reader.options<Options>();
	const Tensor x = reader.input(0);
	const Value weights = weightsOf(reader, x, true);

	reader.need(weights.shape.size() == 4 && x.shape.size() == 4 &&
			    (!isDepthwise || weights.shape[0] == 1),
		    "weights",
		    isDepthwise ? "are not 1 x height x width x channels, of a picture"
				: "have not four axes, or the picture has not");
	legalize::Windows windows = windowsOf(reader, options);
	windows.dilation =
		legalize::axesOf(reader, "dilation", options.dilation_h(), options.dilation_w());
	const uint32_t channels = weights.shape[3], given = x.shape[3];
	const legalize::AxisOrder order =
		isDepthwise ? legalize::AxisOrder{ 3, 0, 1, 2 } : legalize::AxisOrder{ 0, 3, 1, 2 };
	return legalize::convolution(reader, x, windows,
				     { permuted(weights, order), biasOf(reader, x) },
				     isDepthwise ? given : given / std::max(channels, 1U),
				     reader.clamp(options.activation()));
}

/* The input is rows of as many elements as the weights have columns, whatever its axes. */
Tensor readFullyConnected(OperatorReader &reader)
{
	const auto &options = reader.options<fb::FullyConnectedOptions>();
	Tensor x = reader.input(0);
	const Value &weights = reader.value(1);

	reader.support(options.weights_format() == 0, "weights_format",
		       "is that of another processor; convert the model without it");
	const uint32_t columns = weights.shape.size() == 2 ? weights.shape[1] : 0;
	reader.need(
		columns && elementCount(x.shape) % columns == 0, "weights",
		fmt::format("of {} do not go with {}", toString(weights.shape), toString(x.shape)));
	if (x.shape.size() < 2 || x.shape.back() != columns || reader.output().shape.size() == 2)
		x = reader.inShape(
			x, { static_cast<uint32_t>(elementCount(x.shape) / columns), columns });
	const Clamp activation = reader.clamp(options.activation());
	const Tensor made =
		weights.isConstant
			? legalize::product(reader, x,
					    { weightsOf(reader, x, false), biasOf(reader, x) },
					    activation)
			: legalize::product(reader, x,
					    legalize::transposed(reader, reader.input(1), { 1, 0 }),
					    biasOf(reader, x), activation);
	return reader.inShape(made, reader.output().shape);
}

/* An input whose last two axes are exchanged, if \a isAdjoint. */
Tensor matricesOf(OperatorReader &reader, size_t index, bool isAdjoint)
{
	const Tensor tensor = reader.input(index);
	std::vector<int64_t> perm(tensor.shape.size());

	std::iota(perm.begin(), perm.end(), 0);
	if (!isAdjoint || perm.size() < 2)
		return tensor;
	std::swap(perm.back(), perm[perm.size() - 2]);
	return legalize::transposed(reader, tensor, perm);
}

/* A product with a constant matrix, C x K, or K x C if adj_y; or one of computed matrices. */
Tensor readProduct(OperatorReader &reader)
{
	const auto &options = reader.options<fb::BatchMatMulOptions>();
	const Tensor rows = matricesOf(reader, 0, options.adj_x());
	if (!reader.isConstant(1))
		return legalize::product(reader, rows, matricesOf(reader, 1, options.adj_y()), {},
					 {});
	Value weights = weightsOf(reader, rows, false);
	const Extents shape = weights.shape;

	reader.support(shape.size() >= 2 &&
			       elementCount(shape) ==
				       uint64_t{ shape[shape.size() - 2] } * shape.back(),
		       "weights", fmt::format("are {}; one matrix is known", toString(shape)));
	/* Drop leading axes of one element. */
	const auto more = static_cast<uint32_t>(shape.size() - 2);
	weights.shape = { shape[more], shape.back() };
	weights.quantizedAxis -= std::min(weights.quantizedAxis, more);
	return legalize::product(
		reader, rows, { options.adj_y() ? weights : permuted(weights, { 1, 0 }), {} }, {});
}

/* Transposed convolution of input \a input with the weights of input 1 and bias input \a bias. */
Tensor transposed(OperatorReader &reader, op::Axes stride, const Clamp &activation, size_t input,
		  size_t bias)
{
	const Tensor x = reader.input(input);
	const Value weights = weightsOf(reader, x, true);
	const Extents &out = reader.output().shape;

	reader.need(weights.shape.size() == 4 && out.size() == 4, "shapes", "are not of four axes");
	/* Sums beyond the output's size are cut off, half of them at the front. */
	return legalize::transposedConvolution(
		reader, x, { {}, stride, {}, {} },
		{ permuted(weights, { 0, 3, 1, 2 }), biasOf(reader, x, bias) }, 1,
		{ 0, out[1], true }, { 0, out[2], true }, activation);
}

/* Input 0, the output's shape, is not read: the output tensor states the same shape. */
Tensor readTransposedConvolution(OperatorReader &reader)
{
	const auto &options = reader.options<fb::TransposeConvOptions>();

	return transposed(
		reader, legalize::axesOf(reader, "stride", options.stride_h(), options.stride_w()),
		reader.clamp(options.activation()), 2, 3);
}

/* Resizes to the size that the file states for the output. */
template<typename Options, bool isNearest>
Tensor readResize(OperatorReader &reader)
{
	const auto &options = reader.options<Options>();
	const Tensor x = reader.picture(reader.input(0));
	const Extents &out = reader.output().shape;

	reader.need(out.size() == 4 && elementCount(x.shape), "shapes", "are not of four axes");
	const bool corners = options.align_corners(), centers = options.half_pixel_centers();
	const bool halfUp = corners || centers;
	return legalize::resize(
		reader, x,
		{ .isNearest = isNearest,
		  .centers = centers,
		  .corners = corners,
		  .inSinglePrecision = true,
		  .rounding = halfUp ? legalize::Rounding::HalfUp : legalize::Rounding::Floor,
		  .lines = out[1],
		  .columns = out[2],
		  .factorY = double{ 1 } * out[1] / x.shape[1],
		  .factorX = double{ 1 } * out[2] / x.shape[2] });
}

using enum fb::BuiltinOperator;

} /* namespace */

std::vector<Value> biasOf(OperatorReader &reader, const Tensor &x, size_t at)
{
	if (!reader.hasInput(at))
		return {};
	Value bias = reader.constant(at);
	if (!isFloat(reader.value(x).type))
		bias.quantization = {};
	return { std::move(bias) };
}

/* MediaPipe's operator: its options are three integers, padding and the strides. */
Tensor readConvolution2DTransposeBias(OperatorReader &reader)
{
	int32_t options[3] = {};
	const std::vector<uint8_t> bytes = reader.customOptions();

	reader.need(bytes.size() >= sizeof(options), "options",
		    fmt::format("have {} bytes, {} are needed", bytes.size(), sizeof(options)));
	std::memcpy(options, bytes.data(), sizeof(options));
	return transposed(reader, legalize::axesOf(reader, "options", options[2], options[1]), {},
			  0, 2);
}

const OperatorTable windowOperators = {
	{ AVERAGE_POOL_2D, readPool<Pool::Method::Average> },
	{ BATCH_MATMUL, readProduct },
	{ CONV_2D, readConvolution<fb::Conv2DOptions, false> },
	{ DEPTHWISE_CONV_2D, readConvolution<fb::DepthwiseConv2DOptions, true> },
	{ FULLY_CONNECTED, readFullyConnected },
	{ MAX_POOL_2D, readPool<Pool::Method::Max> },
	{ RESIZE_BILINEAR, readResize<fb::ResizeBilinearOptions, false> },
	{ RESIZE_NEAREST_NEIGHBOR, readResize<fb::ResizeNearestNeighborOptions, true> },
	{ TRANSPOSE_CONV, readTransposedConvolution },
};

} /* namespace nvdla::compiler::tflite */

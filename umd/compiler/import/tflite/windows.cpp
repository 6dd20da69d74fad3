/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite whose windows pass over a picture, and others with weights.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "compiler/import/parts.h"
#include "operators.h"

namespace nvdla::compiler::tflite
{

namespace
{

constexpr uint32_t mostWindow = 1 << 16;
constexpr double mostOfKernels = 1 << 26;

struct WindowOptions {
	fb::Padding padding;
	int32_t strideW, strideH;
	int32_t dilationW, dilationH;
};

struct Window {
	op::Axes stride, dilation;
	op::Padding padding;
};

/* Stride, dilation and padding of a window of w x h over the N, H, W, C tensor \a in. */
Window window(OperatorReader &reader, const Value &in, uint32_t w, uint32_t h,
	      const WindowOptions &options)
{
	constexpr int32_t most = 1 << 16;
	for (const int32_t number :
	     { options.strideW, options.strideH, options.dilationW, options.dilationH })
		reader.need(number >= 1 && number <= most, "options",
			    fmt::format("{} is no stride or dilation", number));
	reader.need(in.shape.size() == 4, "input 0",
		    fmt::format("is {}, four axes are needed", toString(in.shape)));
	reader.need(w >= 1 && w <= most && h >= 1 && h <= most, "window",
		    fmt::format("is {} x {}", h, w));
	if (reader.failed())
		return {};
	Window window{ { static_cast<uint32_t>(options.strideW),
			 static_cast<uint32_t>(options.strideH) },
		       { static_cast<uint32_t>(options.dilationW),
			 static_cast<uint32_t>(options.dilationH) },
		       {} };
	if (options.padding == fb::Padding::VALID)
		return window;
	const Sides x = samePadding(in.shape[2], w, window.stride.x, window.dilation.x);
	const Sides y = samePadding(in.shape[1], h, window.stride.y, window.dilation.y);
	window.padding = { x.before, x.after, y.before, y.after };
	return window;
}

/* The format's integer kernels count a bias in steps of the sums, whatever scale the file gives it.
 */
std::vector<ValueId> withBias(OperatorReader &reader, ValueId input, ValueId weights, size_t at = 2)
{
	std::vector<ValueId> inputs{ input, weights };

	if (reader.hasInput(at)) {
		Value bias = reader.constant(at);
		if (!isFloat(reader.value(input).type))
			bias.quantization = {};
		inputs.push_back(reader.addConstant(std::move(bias)));
	}
	return inputs;
}

/* What the sums have more lines or columns than the output, half of it at the front; or less. */
struct CutOff {
	uint32_t before;
	uint32_t after;
	uint32_t missing; /* behind the sums */
};

CutOff cutOff(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride)
{
	const uint64_t sums = uint64_t{ in - 1 } * stride + kernel;
	const auto total = static_cast<uint32_t>(sums > out ? sums - out : 0);

	return { total / 2, total - total / 2, static_cast<uint32_t>(sums < out ? out - sums : 0) };
}

struct TransposedOptions {
	op::Axes stride;
	Clamp activation;
};

/* Of input \a input with the weights that are input 1, and the bias, if any, that is input \a bias.
 */
void addTransposed(OperatorReader &reader, const TransposedOptions &options, ValueId input,
		   size_t bias)
{
	const ValueId output = reader.output(0);
	const Value weights = reader.constant(1);
	const Extents in = reader.value(input).shape, out = reader.value(output).shape;

	if (reader.failed() ||
	    !reader.need(weights.shape.size() == 4 && in.size() == 4 && out.size() == 4 &&
				 elementCount(in) && elementCount(weights.shape),
			 "shapes", "are not of four axes"))
		return;
	TransposedConvolution conv{ options.stride, {}, options.activation };
	const CutOff x = cutOff(in[2], out[2], weights.shape[2], conv.stride.x);
	const CutOff y = cutOff(in[1], out[1], weights.shape[1], conv.stride.y);
	conv.padding = { x.before, x.after, y.before, y.after };
	/* Where strides are larger than the kernel, the output has elements of the bias alone. */
	const Value kernels = permuted(weights, { 0, 3, 1, 2 });
	const uint32_t lines = weights.shape[1] + y.missing, columns = weights.shape[2] + x.missing;
	const double planes = static_cast<double>(weights.shape[0]) * weights.shape[3];
	if (!reader.support(lines <= mostWindow && columns <= mostWindow &&
				    planes * lines * columns <= mostOfKernels,
			    "shapes",
			    fmt::format("{} has much more elements than are made of {}",
					toString(out), toString(in))))
		return;
	const ValueId all = reader.addConstant(
		y.missing || x.missing ? spreadKernels(kernels, 1, {}, { columns, lines })
				       : kernels);
	reader.add(conv, withBias(reader, input, all, bias), { output });
}

op::Axes strides(OperatorReader &reader, int32_t w, int32_t h)
{
	for (const int32_t stride : { w, h })
		reader.need(stride >= 1 && stride <= UINT16_MAX, "options",
			    fmt::format("{} is no stride", stride));
	return { static_cast<uint32_t>(w), static_cast<uint32_t>(h) };
}

/* Operators one behind the other, from the input to the output; false if there are none. */
bool addSteps(OperatorReader &reader, const std::vector<Step> &steps)
{
	ValueId from = reader.input(0);

	for (size_t i = 0; i < steps.size(); i++) {
		const auto &[kind, shape, copies] = steps[i];
		const ValueId to = i + 1 < steps.size() ? reader.addBetween(reader.input(0), shape)
							: reader.output(0);
		reader.add(kind, std::vector<ValueId>(copies, from), { to });
		from = to;
	}
	return !steps.empty();
}

/* Whether both pictures are some; what is resized is not known otherwise. */
bool needPictures(OperatorReader &reader)
{
	const Extents &in = reader.value(reader.input(0)).shape;
	const Extents &out = reader.value(reader.output(0)).shape;

	reader.need(reader.failed() || (in.size() == 4 && out.size() == 4 && elementCount(in) &&
					elementCount(out)),
		    "shapes", "are not of four axes");
	return !reader.failed();
}

/* Some times as large, then each so many-th; false if the ratio is none of those. */
bool addResize(OperatorReader &reader, Enlarge::Method larger, Shrink smaller)
{
	const Extents in = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const auto y = ratioOf(in[1], out[1]), x = ratioOf(in[2], out[2]);

	if (!y || !x)
		return false;
	const bool enlarges = y->larger > 1 || x->larger > 1;
	const bool shrinks = y->smaller > 1 || x->smaller > 1;
	if (enlarges && shrinks && !mayBeOnTheWay(in, *y, *x))
		return false;
	return addSteps(reader, resizingSteps(in, out, { larger, { x->larger, y->larger } },
					      shrinking(smaller, y->smaller, out[1]),
					      shrinking(smaller, x->smaller, out[2])));
}

/* Which element of an axis each of the output's is, in single precision as the kernels have it. */
std::vector<uint32_t> nearest(uint32_t extent, uint32_t wanted, bool alignsCorners, bool centers)
{
	const bool ends = alignsCorners && wanted > 1;
	const float scale = ends ? static_cast<float>(extent - 1) / static_cast<float>(wanted - 1)
				 : static_cast<float>(extent) / static_cast<float>(wanted);
	std::vector<uint32_t> taken;

	for (uint32_t i = 0; i < wanted; i++) {
		const float place = (static_cast<float>(i) + (centers ? 0.5f : 0.0f)) * scale;
		const float element = alignsCorners ? std::round(place) : std::floor(place);
		taken.push_back(std::min(static_cast<uint32_t>(element), extent - 1));
	}
	return taken;
}

template<Pool::Method method>
void readPool(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_Pool2DOptions);
	const Value &in = reader.value(reader.input(0));
	if (reader.failed())
		return;
	const op::Axes kernel{ static_cast<uint32_t>(options->filter_width()),
			       static_cast<uint32_t>(options->filter_height()) };
	const Window window = tflite::window(
		reader, in, kernel.x, kernel.y,
		{ options->padding(), options->stride_w(), options->stride_h(), 1, 1 });
	reader.add(Pool{ method, kernel, window.stride, window.padding, false,
			 reader.clamp(options->activation()) });
}

/* Depthwise kernels have each channel of the input for themselves. */
template<auto asKind, bool isDepthwise>
void readConvolution(OperatorReader &reader)
{
	const auto *options = reader.options(asKind);
	const ValueId input = reader.input(0);
	const Value in = reader.value(input);
	const Value weights = reader.constant(1);
	if (reader.failed() ||
	    !reader.need(
		    weights.shape.size() == 4 && (!isDepthwise || weights.shape[0] == 1), "weights",
		    isDepthwise ? "are not 1 x height x width x channels" : "have not four axes"))
		return;
	const Window window =
		tflite::window(reader, in, weights.shape[2], weights.shape[1],
			       { options->padding(), options->stride_w(), options->stride_h(),
				 options->dilation_w(), options->dilation_h() });
	if (reader.failed())
		return;
	const uint32_t channels = weights.shape[3], given = in.shape[3];
	const bool fits =
		isDepthwise ? given && channels % given == 0 : channels && given % channels == 0;
	if (!reader.need(fits, "weights",
			 fmt::format("have {} channels, the input {}", channels, given)))
		return;
	Convolution conv{ window.stride, window.dilation, window.padding,
			  isDepthwise ? given : given / channels,
			  reader.clamp(options->activation()) };
	const std::vector<uint32_t> order = isDepthwise ? std::vector<uint32_t>{ 3, 0, 1, 2 }
							: std::vector<uint32_t>{ 0, 3, 1, 2 };
	const ValueId kernels = reader.addConstant(permuted(weights, order));
	reader.add(conv, withBias(reader, input, kernels), { reader.output(0) });
}

void readFullyConnected(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_FullyConnectedOptions);
	const Value &weights = reader.constant(1);
	if (reader.failed())
		return;
	reader.support(options->weights_format() == 0, "weights_format",
		       "is that of another processor; convert the model without it");
	reader.need(weights.shape.size() == 2, "weights", "have not two axes");
	reader.add(FullyConnected{ reader.clamp(options->activation()) },
		   withBias(reader, reader.input(0), reader.input(1)), { reader.output(0) });
}

/* With a constant matrix, C x K, or K x C if adj_y. */
void readProduct(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_BatchMatMulOptions);
	Value weights = reader.constant(1);
	const Extents shape = weights.shape;

	if (reader.failed())
		return;
	reader.support(!options->adj_x(), "adj_x", "is set; transpose before it");
	if (!reader.support(shape.size() >= 2 &&
				    elementCount(shape) ==
					    uint64_t{ shape[shape.size() - 2] } * shape.back(),
			    "weights", fmt::format("are {}; one matrix is known", toString(shape))))
		return;
	/* Axes of one element in front fall away. */
	const auto more = static_cast<uint32_t>(shape.size() - 2);
	weights.shape = { shape[more], shape.back() };
	weights.quantizedAxis -= std::min(weights.quantizedAxis, more);
	const ValueId matrix =
		reader.addConstant(options->adj_y() ? weights : permuted(weights, { 1, 0 }));
	reader.add(FullyConnected{}, { reader.input(0), matrix }, { reader.output(0) });
}

/* The first input is the output's shape, which the output has as well. */
void readTransposedConvolution(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_TransposeConvOptions);

	if (options)
		addTransposed(reader,
			      { strides(reader, options->stride_w(), options->stride_h()),
				reader.clamp(options->activation()) },
			      reader.input(2), 3);
}

void readResizeBilinear(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_ResizeBilinearOptions);

	if (!options || !needPictures(reader))
		return;
	const Extents in = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const bool centers = options->half_pixel_centers();
	const bool known = options->align_corners()
				   ? addSteps(reader, stretchingSteps(in, out))
				   : addResize(reader,
					       centers ? Enlarge::Method::LinearOfCenters
						       : Enlarge::Method::Linear,
					       centers ? Shrink::Centers : Shrink::First);
	reader.support(known, "size",
		       fmt::format("of {} becomes {}; up to {} / n of a size, n up to {}, are "
				   "known; with align_corners distances that are whole numbers of "
				   "times as large",
				   toString(in), toString(out), mostLarger, mostSmaller));
}

/* What is no ratio of small numbers is put together of parts. */
void readResizeNearest(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_ResizeNearestNeighborOptions);
	constexpr uint32_t mostTaken = 1 << 16;
	std::vector<std::vector<Part>> axes(4);

	if (!options || !needPictures(reader))
		return;
	const bool corners = options->align_corners(), centers = options->half_pixel_centers();
	if (!corners && addResize(reader, Enlarge::Method::Nearest,
				  centers ? Shrink::MiddleCeil : Shrink::First))
		return;
	const Extents in = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	reader.need(in[0] == out[0] && in[3] == out[3], "shapes", "differ in other axes, too");
	reader.supportElements(reader.input(0));
	for (const size_t axis : { 1U, 2U }) {
		if (reader.support(out[axis] <= mostTaken, "size",
				   fmt::format("of {}", toString(out))))
			axes[axis] = takenParts(reader, "size", in[axis],
						nearest(in[axis], out[axis], corners, centers));
	}
	if (!reader.failed())
		addAxesOfParts(reader, axes);
}

using enum fb::BuiltinOperator;

} /* namespace */

/* MediaPipe's operator: its options are three integers, padding and the strides. */
void readConvolution2DTransposeBias(OperatorReader &reader)
{
	int32_t options[3] = {};
	const std::span<const uint8_t> bytes = reader.customOptions();

	if (!reader.need(
		    bytes.size() >= sizeof(options), "options",
		    fmt::format("have {} bytes, {} are needed", bytes.size(), sizeof(options))))
		return;
	std::memcpy(options, bytes.data(), sizeof(options));
	addTransposed(reader, { strides(reader, options[1], options[2]), {} }, reader.input(0), 2);
}

const OperatorTable windowOperators = {
	{ AVERAGE_POOL_2D, readPool<Pool::Method::Average> },
	{ BATCH_MATMUL, readProduct },
	{ CONV_2D, readConvolution<&fb::Operator::builtin_options_as_Conv2DOptions, false> },
	{ DEPTHWISE_CONV_2D,
	  readConvolution<&fb::Operator::builtin_options_as_DepthwiseConv2DOptions, true> },
	{ FULLY_CONNECTED, readFullyConnected },
	{ MAX_POOL_2D, readPool<Pool::Method::Max> },
	{ RESIZE_BILINEAR, readResizeBilinear },
	{ RESIZE_NEAREST_NEIGHBOR, readResizeNearest },
	{ TRANSPOSE_CONV, readTransposedConvolution },
};

} /* namespace nvdla::compiler::tflite */

/* SPDX-License-Identifier: MIT */
/*
 * Operators of a file that sum up, or look at several elements of a picture.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "single_operator.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t averagePool = 1, maxPool = 17;
constexpr int32_t padCode = 34, padV2 = 60;
constexpr int32_t mean = 40, sum = 74, reduceMax = 82, reduceMin = 89;

} /* namespace */

int32_t SingleOperator::kernels(const Shape &shape, int32_t axis, std::vector<float> &scales)
{
	const std::vector<int8_t> elements = integers(elementsIn(shape), -127);
	const auto count = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
	const bool isPerAxis = chance(0.7);
	const double most = std::exp2(real(-9, -4)), spread = chance(0.3) ? 6 : 2;

	scales.assign(count, static_cast<float>(most));
	for (float &scale : scales)
		scale *= static_cast<float>(isPerAxis ? std::exp2(real(-spread, 0)) : 1);
	return isPerAxis ? builder_.quantized(shape, elements, scales, axis)
			 : builder_.quantized(shape, elements, scales.front(), 0);
}

int32_t SingleOperator::bias(int32_t count, float inputScale, const std::vector<float> &scales,
			     double most)
{
	std::vector<float> steps;
	std::vector<int32_t> elements;

	for (size_t k = 0; k < static_cast<size_t>(count); k++) {
		steps.push_back(inputScale * scales[k]);
		elements.push_back(static_cast<int32_t>(
			std::lround(real(-most, most) * scales[k] / scales[0] / steps.back())));
	}
	return builder_.quantized({ count }, elements, steps, 0);
}

/* Sums of random products; \a most is about what they come to. */
Steps SingleOperator::stepsOfSums(const Steps &in, const std::vector<float> &scales,
				  double summands, double &most)
{
	const double product = 74 * scales.front() * (in.high() - in.low());

	most = std::sqrt(summands) * product;
	return stepsFor(-most, most);
}

int32_t SingleOperator::windows(int32_t extent, int32_t &kernel, int32_t stride, int32_t &dilation,
				fb::Padding padding)
{
	if (padding == fb::Padding::SAME)
		return (extent - 1) / stride + 1;
	kernel = std::min(kernel, extent);
	if ((kernel - 1) * dilation >= extent)
		dilation = 1;
	return (extent - (kernel - 1) * dilation - 1) / stride + 1;
}

void SingleOperator::fullyConnected()
{
	const Shape shape = anyShape();
	Shape made = shape;

	made.back() = static_cast<int32_t>(from(1, 40));
	product(shape, shape.back(), made);
}

/* Four kernels more or less than a group, which does not fit the convolution buffer. */
void SingleOperator::largeFullyConnected()
{
	const Shape shape{ 1, 7, 7, static_cast<int32_t>(from(320, 345)) };

	product(shape, 49 * shape.back(), { 1, static_cast<int32_t>(from(28, 36)) });
}

void SingleOperator::product(const Shape &shape, int32_t columns, const Shape &made)
{
	const int32_t count = made.back();
	const Steps in = steps();
	std::vector<float> scales;
	double most = 0;
	const int32_t x = input(shape, in);
	scales.assign(static_cast<size_t>(count), static_cast<float>(std::exp2(real(-9, -4))));
	const int32_t w = builder_.quantized({ count, columns },
					     integers(static_cast<size_t>(count * columns), -127),
					     scales.front(), 0);
	const Steps out = stepsOfSums(in, scales, columns, most);
	const int32_t b = bias(count, in.scale, scales, most);
	const int32_t result = output(made, out);

	builder_.node(9, { x, w, b }, { result }, fb::BuiltinOptions::FullyConnectedOptions,
		      fb::CreateFullyConnectedOptions(builder_.flat, activation(), 0,
						      made.size() == shape.size()));
	file = builder_.file({ x }, { result });
}

void SingleOperator::batchMatMul()
{
	const Shape shape = picture();
	const Shape rows{ 1, shape[1] * shape[2], shape[3] };
	const int32_t count = static_cast<int32_t>(from(1, 40));
	const Steps in = steps();
	const bool turned = chance(0.5);
	std::vector<float> scales(1, static_cast<float>(std::exp2(real(-9, -4))));
	double most = 0;
	const int32_t x = input(rows, in);
	const Shape matrix = turned ? Shape{ 1, count, shape[3] } : Shape{ 1, shape[3], count };
	const int32_t w =
		builder_.quantized(matrix, integers(elementsIn(matrix), -127), scales.front(), 0);
	const int32_t result =
		output({ 1, rows[1], count }, stepsOfSums(in, scales, shape[3], most));

	builder_.node(126, { x, w }, { result }, fb::BuiltinOptions::BatchMatMulOptions,
		      fb::CreateBatchMatMulOptions(builder_.flat, false, turned));
	file = builder_.file({ x }, { result });
}

/* Both factors are inputs: some matrices, or one for several. */
void SingleOperator::computedBatchMatMul()
{
	const int32_t count = static_cast<int32_t>(from(1, 3)),
		      rows = static_cast<int32_t>(from(2, 20));
	const int32_t columns = static_cast<int32_t>(from(1, 40)),
		      made = static_cast<int32_t>(from(1, 40));
	const bool turnsA = chance(0.3), turnsB = chance(0.5);
	const Steps a = steps();
	Steps b = steps();
	if (chance(0.5))
		b.zero = 0;
	const int32_t x = input(
		turnsA ? Shape{ 1, count, columns, rows } : Shape{ 1, count, rows, columns }, a);
	/* Of turned matrices and one for several of them the two kernels make something else each.
	 */
	const int32_t matrices = !turnsA && chance(0.3) ? 1 : count;
	const int32_t w = input(turnsB ? Shape{ 1, matrices, made, columns }
				       : Shape{ 1, matrices, columns, made },
				b);
	double most = 0;
	const std::vector<float> scales{ (static_cast<float>(b.high() - b.low())) / 254 };
	const int32_t result =
		output({ 1, count, rows, made }, stepsOfSums(a, scales, columns, most));

	builder_.node(126, { x, w }, { result }, fb::BuiltinOptions::BatchMatMulOptions,
		      fb::CreateBatchMatMulOptions(builder_.flat, turnsA, turnsB));
	file = builder_.file({ x, w }, { result });
}

void SingleOperator::convolution()
{
	const Shape shape = picture();
	const Steps in = steps();
	const fb::Padding padding = chance(0.5) ? fb::Padding::SAME : fb::Padding::VALID;
	int32_t w = static_cast<int32_t>(from(1, 5)), h = static_cast<int32_t>(from(1, 5));
	int32_t dilationW = chance(0.2) ? 2 : 1, dilationH = dilationW;
	const int32_t strideW = static_cast<int32_t>(from(1, 2)),
		      strideH = static_cast<int32_t>(from(1, 2));
	const int32_t lines = windows(shape[1], h, strideH, dilationH, padding);
	const int32_t columns = windows(shape[2], w, strideW, dilationW, padding);
	const int32_t count = static_cast<int32_t>(from(1, 24));
	std::vector<float> scales;
	double most = 0;
	const int32_t x = input(shape, in);
	const int32_t all = kernels({ count, h, w, shape[3] }, 0, scales);
	const Steps out = stepsOfSums(in, scales, h * w * shape[3], most);
	const int32_t b = bias(count, in.scale, scales, most);
	const int32_t result = output({ 1, lines, columns, count }, out);

	builder_.node(3, { x, all, b }, { result }, fb::BuiltinOptions::Conv2DOptions,
		      fb::CreateConv2DOptions(builder_.flat, padding, strideW, strideH,
					      activation(), dilationW, dilationH));
	file = builder_.file({ x }, { result });
}

void SingleOperator::depthwise()
{
	const Shape shape = picture();
	const Steps in = steps();
	const fb::Padding padding = chance(0.5) ? fb::Padding::SAME : fb::Padding::VALID;
	int32_t w = static_cast<int32_t>(from(1, 5)), h = static_cast<int32_t>(from(1, 5));
	int32_t dilation = 1;
	const int32_t stride = static_cast<int32_t>(from(1, 2));
	const int32_t lines = windows(shape[1], h, stride, dilation, padding);
	const int32_t columns = windows(shape[2], w, stride, dilation, padding);
	const int32_t times = chance(0.7) ? 1 : 2, count = shape[3] * times;
	std::vector<float> scales;
	double most = 0;
	const int32_t x = input(shape, in);
	const int32_t all = kernels({ 1, h, w, count }, 3, scales);
	const Steps out = stepsOfSums(in, scales, h * w, most);
	const int32_t b = bias(count, in.scale, scales, most);
	const int32_t result = output({ 1, lines, columns, count }, out);

	builder_.node(4, { x, all, b }, { result }, fb::BuiltinOptions::DepthwiseConv2DOptions,
		      fb::CreateDepthwiseConv2DOptions(builder_.flat, padding, stride, stride,
						       times, activation()));
	file = builder_.file({ x }, { result });
}

void SingleOperator::transposedConvolution()
{
	const Shape shape = picture();
	const Steps in = steps();
	const int32_t size = static_cast<int32_t>(from(1, 4)),
		      stride = static_cast<int32_t>(from(1, 3));
	const int32_t count = static_cast<int32_t>(from(1, 8));
	const bool same = chance(0.5);
	const int32_t more = same ? 0 : std::max(size - stride, 0);
	const Shape made{ 1, shape[1] * stride + more, shape[2] * stride + more, count };
	std::vector<float> scales;
	double most = 0;
	const int32_t list = builder_.list(made);
	const int32_t x = input(shape, in);
	const int32_t all = kernels({ count, size, size, shape[3] }, 0, scales);
	const double overlap = std::max(1.0, static_cast<double>(size) / stride);
	const Steps out = stepsOfSums(in, scales, shape[3] * overlap * overlap, most);
	const int32_t b = bias(count, in.scale, scales, most);
	const int32_t result = output(made, out);

	builder_.node(67, chance(0.5) ? Shape{ list, all, x, b } : Shape{ list, all, x },
		      { result }, fb::BuiltinOptions::TransposeConvOptions,
		      fb::CreateTransposeConvOptions(builder_.flat,
						     same ? fb::Padding::SAME : fb::Padding::VALID,
						     stride, stride));
	file = builder_.file({ x }, { result });
}

template<int32_t code>
void SingleOperator::pool()
{
	const Shape shape = picture();
	const Steps all = steps();
	const fb::Padding padding = chance(0.5) ? fb::Padding::SAME : fb::Padding::VALID;
	int32_t w = static_cast<int32_t>(from(1, 6)), h = static_cast<int32_t>(from(1, 6));
	int32_t dilation = 1;
	const int32_t strideW = static_cast<int32_t>(from(1, 3)),
		      strideH = static_cast<int32_t>(from(1, 3));
	const int32_t lines = windows(shape[1], h, strideH, dilation, padding);
	const int32_t columns = windows(shape[2], w, strideW, dilation, padding);
	const int32_t x = input(shape, all);
	const int32_t result = output({ 1, lines, columns, shape[3] }, all);

	description += fmt::format(" of {} x {}", h, w);
	builder_.node(code, { x }, { result }, fb::BuiltinOptions::Pool2DOptions,
		      fb::CreatePool2DOptions(builder_.flat, padding, strideW, strideH, w, h,
					      activation()));
	file = builder_.file({ x }, { result });
}

/* With a PAD in front, whose elements count. */
void SingleOperator::paddedAverage()
{
	const Shape shape = picture();
	const Steps all = steps();
	const int32_t size = static_cast<int32_t>(from(2, 5));
	const int32_t more = static_cast<int32_t>(from(1, static_cast<uint32_t>(size) - 1));
	const Shape padded{ 1, shape[1] + size, shape[2] + size, shape[3] };
	const int32_t x = input(shape, all), before = size - more;
	const int32_t list =
		builder_.constant<int32_t>({ 4, 2 }, { 0, 0, before, more, before, more, 0, 0 });
	const int32_t between = output(padded, all);
	const int32_t result = output({ 1, shape[1] + 1, shape[2] + 1, shape[3] }, all);

	builder_.node(padCode, { x, list }, { between });
	builder_.node(averagePool, { between }, { result }, fb::BuiltinOptions::Pool2DOptions,
		      fb::CreatePool2DOptions(builder_.flat, fb::Padding::VALID, 1, 1, size, size));
	file = builder_.file({ x }, { result });
}

template<int32_t code>
void SingleOperator::reduction()
{
	const std::vector<int32_t> choices[] = { { 1, 2 }, { 1 }, { 2 }, { 3 } };
	constexpr bool isExtreme = code == reduceMax || code == reduceMin;
	Shape shape = picture();
	/* Of PDP's windows. */
	constexpr int32_t mostLines = 8;
	for (size_t axis = 1; axis < 3 && isExtreme; axis++)
		shape[axis] = std::min(shape[axis], mostLines);
	if (!isExtreme && chance(0.2))
		shape = { 1, static_cast<int32_t>(from(20, 50)), static_cast<int32_t>(from(20, 50)),
			  static_cast<int32_t>(from(1, 9)) };
	const std::vector<int32_t> axes = choices[from(0, 3)];
	const Steps in = steps();
	const bool keeps = chance(0.5);
	double count = 1;
	Shape made;

	for (int32_t axis = 0; axis < 4; axis++) {
		const bool isReduced = std::ranges::find(axes, axis) != axes.end();
		const int32_t extent = shape[static_cast<size_t>(axis)];
		count *= isReduced ? extent : 1;
		if (!isReduced || keeps)
			made.push_back(isReduced ? 1 : extent);
	}
	const int32_t x = input(shape, in), list = builder_.list(axes);
	const double spread = code == sum ? count : 1;
	const Steps out =
		code == mean || code == sum ? stepsFor(in.low() * spread, in.high() * spread) : in;
	const int32_t result = output(made, out);
	description += fmt::format(" of {} elements, axis {}", count, axes.front());
	builder_.node(code, { x, list }, { result }, fb::BuiltinOptions::ReducerOptions,
		      fb::CreateReducerOptions(builder_.flat, keeps));
	file = builder_.file({ x }, { result });
}

template<int32_t code>
void SingleOperator::pad()
{
	const Shape shape = picture();
	const Steps all = steps();
	std::vector<int32_t> paddings{ 0, 0 };
	Shape made = shape;

	for (size_t axis = 1; axis < 4; axis++) {
		const bool isPadded = axis < 3 || chance(0.3);
		for (int end = 0; end < 2; end++) {
			paddings.push_back(isPadded ? static_cast<int32_t>(from(0, 3)) : 0);
			made[axis] += paddings.back();
		}
	}
	const int32_t x = input(shape, all);
	const int32_t list = builder_.constant<int32_t>({ 4, 2 }, paddings);
	Shape operands{ x, list };
	if (code == padV2)
		operands.push_back(constant({ 1 }, all));
	const int32_t result = output(made, all);
	builder_.node(code, operands, { result });
	file = builder_.file({ x }, { result });
}

void SingleOperator::mirrorPad()
{
	const Shape shape = picture();
	const Steps all = steps();
	std::vector<int32_t> paddings{ 0, 0 };
	Shape made = shape;

	for (size_t axis = 1; axis < 4; axis++) {
		for (int end = 0; end < 2; end++) {
			const auto most = static_cast<uint32_t>(std::min(shape[axis] - 1, 3));
			paddings.push_back(axis < 3 ? static_cast<int32_t>(from(0, most)) : 0);
			made[axis] += paddings.back();
		}
	}
	const int32_t x = input(shape, all);
	const int32_t list = builder_.constant<int32_t>({ 4, 2 }, paddings);
	const int32_t result = output(made, all);
	builder_.node(100, { x, list }, { result }, fb::BuiltinOptions::MirrorPadOptions,
		      fb::CreateMirrorPadOptions(builder_.flat,
						 static_cast<fb::MirrorPadMode>(from(0, 1))));
	file = builder_.file({ x }, { result });
}

/* Times as large are powers of two, of thirds three along one axis; what is smaller is half. */
template<SingleOperator::Sizes sizes>
void SingleOperator::resizeBilinear()
{
	const bool shrinks = sizes == Sizes::Smaller || sizes == Sizes::BothWays;
	Shape shape = picture();
	const Steps all = steps();
	const uint32_t way = from(0, shrinks ? 1 : 2);
	const bool centers = way == 1, corners = way == 2;
	const size_t one = from(1, 2);
	Shape made = shape;

	for (size_t axis = 1; axis < 3; axis++) {
		const bool isThird = sizes == Sizes::Thirds && axis == one;
		const bool halves = sizes == Sizes::Smaller || (shrinks && axis == one);
		const int32_t times = isThird ? 3 : 1 << from(shrinks, 2);
		if (halves)
			shape[axis] *= 2;
		else
			made[axis] = corners ? (shape[axis] - 1) * times + 1 : shape[axis] * times;
	}
	const int32_t x = input(shape, all), list = builder_.list({ made[1], made[2] });
	const int32_t result = output(made, all);
	description += centers ? " centers" : corners ? " corners" : "";
	builder_.node(23, { x, list }, { result }, fb::BuiltinOptions::ResizeBilinearOptions,
		      fb::CreateResizeBilinearOptions(builder_.flat, corners, centers));
	file = builder_.file({ x }, { result });
}

void SingleOperator::resizeNearest()
{
	const Shape shape = picture();
	const Steps all = steps();
	const uint32_t way = from(0, 2);
	Shape made = shape;

	for (size_t axis = 1; axis < 3; axis++)
		made[axis] = static_cast<int32_t>(from(1, 24));
	const int32_t x = input(shape, all), list = builder_.list({ made[1], made[2] });
	const int32_t result = output(made, all);
	builder_.node(97, { x, list }, { result }, fb::BuiltinOptions::ResizeNearestNeighborOptions,
		      fb::CreateResizeNearestNeighborOptions(builder_.flat, way == 1, way == 2));
	file = builder_.file({ x }, { result });
}

std::span<const SingleOperator::Kind> SingleOperator::windowKinds()
{
	using Self = SingleOperator;
	static const Kind kinds[] = {
		{ "FULLY_CONNECTED", &Self::fullyConnected },
		{ "FULLY_CONNECTED_large", &Self::largeFullyConnected },
		{ "BATCH_MATMUL", &Self::batchMatMul },
		{ "BATCH_MATMUL_computed", &Self::computedBatchMatMul },
		{ "CONV_2D", &Self::convolution },
		{ "DEPTHWISE_CONV_2D", &Self::depthwise },
		{ "TRANSPOSE_CONV", &Self::transposedConvolution },
		{ "AVERAGE_POOL_2D", &Self::pool<averagePool> },
		{ "AVERAGE_POOL_2D_padded", &Self::paddedAverage },
		{ "MAX_POOL_2D", &Self::pool<maxPool> },
		{ "MEAN", &Self::reduction<mean> },
		{ "SUM", &Self::reduction<sum> },
		{ "REDUCE_MAX", &Self::reduction<reduceMax> },
		{ "REDUCE_MIN", &Self::reduction<reduceMin> },
		{ "RESIZE_BILINEAR", &Self::resizeBilinear<Sizes::Larger> },
		{ "RESIZE_BILINEAR_thirds", &Self::resizeBilinear<Sizes::Thirds> },
		{ "RESIZE_BILINEAR_smaller", &Self::resizeBilinear<Sizes::Smaller> },
		{ "RESIZE_BILINEAR_both_ways", &Self::resizeBilinear<Sizes::BothWays> },
		{ "RESIZE_NEAREST_NEIGHBOR", &Self::resizeNearest },
		{ "PAD", &Self::pad<padCode> },
		{ "PADV2", &Self::pad<padV2> },
		{ "MIRROR_PAD", &Self::mirrorPad },
	};

	return kinds;
}

} /* namespace nvdla::test */

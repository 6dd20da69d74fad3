/* SPDX-License-Identifier: MIT */
/*
 * Convolutions, poolings and products of matrices.
 */
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Number of elements to add to an axis of \a in elements for ceil(in / stride) windows */
uint32_t samePadding(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation)
{
	const uint32_t last = in ? (in - 1) / stride * stride : 0;
	const uint64_t needed = last + uint64_t{ kernel - 1 } * dilation + 1;

	return static_cast<uint32_t>(in && needed > in ? needed - in : 0);
}

/* Returns the windows with numbers in place of SAME padding. */
Windows padded(Builder &builder, const Extents &picture, Windows windows)
{
	const op::Axes &kernel = windows.kernel;

	builder.need(kernel.x >= 1 && kernel.y >= 1 && kernel.x <= mostOfWindow &&
			     kernel.y <= mostOfWindow,
		     "kernel", fmt::format("is {} x {}", kernel.y, kernel.x));
	if (windows.same == Same::No)
		return windows;
	const uint32_t y = samePadding(picture[1], kernel.y, windows.stride.y, windows.dilation.y);
	const uint32_t x = samePadding(picture[2], kernel.x, windows.stride.x, windows.dilation.x);
	const uint32_t more = windows.same == Same::Lower ? 1 : 0;
	const uint32_t top = (y + more) / 2, left = (x + more) / 2;
	windows.padding = { left, x - left, top, y - top };
	return windows;
}

/* Number of windows along an axis of \a padded elements, padding included; 0 if none fits */
uint32_t windowsOf(uint64_t padded, uint32_t taps, uint32_t stride, uint32_t dilation)
{
	const uint64_t window = uint64_t{ taps - 1 } * dilation + 1;

	return padded < window ? 0 : static_cast<uint32_t>((padded - window) / stride + 1);
}

/* Description of the windows' results, with \a channels channels */
Tensor windowed(Builder &builder, const Tensor &picture, const Windows &windows, uint32_t channels)
{
	const auto &[kernel, stride, dilation, padding, same] = windows;
	const Extents x = inValueOrder(picture, picture.shape);
	const uint64_t lines = uint64_t{ x[1] } + padding.top + padding.bottom;
	const uint64_t columns = uint64_t{ x[2] } + padding.left + padding.right;
	const uint32_t height = windowsOf(lines, kernel.y, stride.y, dilation.y);
	const uint32_t width = windowsOf(columns, kernel.x, stride.x, dilation.x);

	builder.need(height && width, "kernel",
		     fmt::format("of {} x {} does not fit into {}", kernel.y, kernel.x,
				 toString(picture.shape)));
	return withValueShape(picture, { x[0], height, width, channels });
}

/* Padding behind the input, enlarged for one more window if the windows leave elements over */
uint32_t ceilPadding(uint32_t in, uint32_t before, uint32_t after, uint32_t kernel, uint32_t stride)
{
	const uint32_t padded = in + before + after;

	if (padded < kernel)
		return after;
	const uint32_t rest = (padded - kernel) % stride;
	const uint32_t more = rest ? stride - rest : 0;
	/* Add no window that would begin behind the input, in the padding. */
	const uint32_t last = (padded - kernel) / stride * stride + stride;
	return more && last < in + before ? after + more : after;
}

Tensor pooled(Builder &builder, const Pool &pool, const Tensor &x, const Tensor &like)
{
	return isExtreme(pool.method) ? builder.make(pool, { x.id }, builder.joined(x), like)
				      : builder.compute(pool, x, like);
}

/* Adds padding as elements of the picture: averages count these, but not the padding that only
 * completes the last window. */
Tensor zeroPadded(Builder &builder, const Tensor &x, const op::Padding &padding)
{
	Extents shape = inValueOrder(x, x.shape);

	if (isNone(padding))
		return x;
	shape[1] += padding.top + padding.bottom;
	shape[2] += padding.left + padding.right;
	return builder.move(
		Pad{ { 0, padding.top, padding.left, 0 }, { 0, padding.bottom, padding.right, 0 } },
		x, withValueShape(x, shape));
}

/* Returns the bias with a single axis; a bias of one number is repeated for all kernels. */
std::vector<Value> rowsOfBias(std::vector<Value> bias, uint32_t kernels)
{
	for (Value &one : bias) {
		if (elementCount(one.shape) == 1 && (isFloat(one.type) || !one.quantization.none()))
			one = floatConstant(std::vector<double>(kernels, realNumbers(one)[0]),
					    { kernels });
		one.shape = { static_cast<uint32_t>(elementCount(one.shape)) };
		one.quantizedAxis = 0;
	}
	return bias;
}

/* Returns the tensor's own order of axes if a Product accepts it, otherwise the file's order. A
 * Product accepts the axis that counts the matrices between rows and columns and, if mayBeTurned,
 * rows and columns exchanged. */
AxisOrder matrixOrder(const Tensor &tensor, bool mayBeTurned)
{
	const size_t rank = tensor.shape.size();

	for (const bool turned : { false, mayBeTurned }) {
		for (const bool beside : { false, rank > 2 }) {
			AxisOrder order = asInFile(rank);
			if (turned)
				std::swap(order[rank - 1], order[rank - 2]);
			if (beside)
				std::swap(order[rank - 2], order[rank - 3]);
			if (severalOf(tensor.shape, order) == severalOf(tensor.shape, tensor.order))
				return order;
		}
	}
	return asInFile(rank);
}

/* Whether the axis that counts the matrices lies between rows and columns */
bool areBeside(const AxisOrder &order)
{
	return order.size() > 2 && order[order.size() - 2] + 3 == order.size();
}

Tensor withAxes(Builder &builder, const Tensor &tensor, size_t rank)
{
	return tensor.shape.size() == rank ? builder.plain(tensor)
					   : builder.reshaped(tensor, withRank(tensor.shape, rank));
}

} /* namespace */

op::Axes axesOf(Builder &builder, const std::string &field, int64_t y, int64_t x)
{
	for (const int64_t number : { y, x })
		builder.need(number >= 1 && number <= mostOfWindow, field,
			     fmt::format("{} is not possible", number));
	return { static_cast<uint32_t>(x), static_cast<uint32_t>(y) };
}

Tensor pool(Builder &builder, Pool::Method method, const Tensor &from, const Windows &windows,
	    const PoolRules &rules)
{
	Tensor x = builder.pictureOrLine(from);
	const Extents in = inValueOrder(x, x.shape);
	Windows all = padded(builder, in, windows);
	const op::Padding padding = all.padding;
	bool countsPadding = rules.countsPadding;

	builder.support(all.dilation.x == 1 && all.dilation.y == 1, "dilations",
			"of a pooling are not 1");
	if (rules.ceils) {
		all.padding.right =
			ceilPadding(in[2], padding.left, padding.right, all.kernel.x, all.stride.x);
		all.padding.bottom =
			ceilPadding(in[1], padding.top, padding.bottom, all.kernel.y, all.stride.y);
		if (countsPadding &&
		    (all.padding.right != padding.right || all.padding.bottom != padding.bottom)) {
			x = zeroPadded(builder, x, padding);
			all.padding = { 0, all.padding.right - padding.right, 0,
					all.padding.bottom - padding.bottom };
			countsPadding = false;
		}
	}
	const Pool made{ method,      all.kernel,    all.stride,
			 all.padding, countsPadding, rules.activation };
	return builder.asLineLike(from, pooled(builder, made, x, windowed(builder, x, all, in[3])));
}

Tensor poolAll(Builder &builder, Pool::Method method, const Tensor &from)
{
	const Tensor x = builder.pictureOrLine(from);

	const Extents in = inValueOrder(x, x.shape);
	const Tensor like = withValueShape(x, { in[0], 1, 1, in[3] });
	Pool whole = wholeAverage(in);
	whole.method = method;
	return builder.asLineLike(from, pooled(builder, whole, x, like));
}

Tensor convolution(Builder &builder, const Tensor &from, const Windows &windows, Weights weights,
		   int64_t groups, const Clamp &activation)
{
	const Tensor x = builder.pictureOrLine(from);
	Value &kernels = weights.kernels;

	if (kernels.shape.size() == 3 && from.shape.size() == 3)
		kernels.shape.insert(kernels.shape.begin() + 2, 1);
	builder.support(kernels.shape.size() == 4, "weights",
			fmt::format("are {}; kernels with lines and columns are known",
				    toString(kernels.shape)));
	builder.need(groups >= 1 && groups <= mostOfWindow, "group", fmt::format("is {}", groups));
	Windows all = windows;
	all.kernel = { kernels.shape[3], kernels.shape[2] };
	all = padded(builder, inValueOrder(x, x.shape), all);
	const Tensor like = windowed(builder, x, all, kernels.shape[0]);
	const Convolution made{ all.stride, all.dilation, all.padding,
				static_cast<uint32_t>(groups), activation };
	return builder.asLineLike(
		from, builder.compute(made, x, like, builder.addWeights(std::move(weights))));
}

Tensor dilated(Builder &builder, const Tensor &samples, const std::string &spreading,
	       const std::vector<int64_t> &block, const std::vector<int64_t> &crops)
{
	const Operator *writer = builder.writer(samples.id);
	const bool isConvolved = writer && isAny<Convolution>(writer->kind);
	const Operator *spread = isConvolved ? builder.writer(writer->inputs.front()) : nullptr;
	const auto valueOf = [&](ValueId id) { return builder.value(Tensor{ .id = id }); };
	const auto numbersOf = [&](ValueId id) {
		const Value value = valueOf(id);
		return value.isConstant && !bytesError(value) ? wholeNumbers(value)
							      : std::vector<int64_t>{};
	};

	builder.support(spread && isAny<Unknown>(spread->kind) && spread->type == spreading &&
				spread->inputs.size() == 3,
			"input 0", fmt::format("is no convolution of what {} makes", spreading));
	const Operator convolved = *writer;
	const Tensor parts{ .id = spread->outputs[0] };
	const Extents shape = valueOf(spread->inputs[0]).shape;
	const Tensor picture{ spread->inputs[0], shape, asInFile(shape.size()) };
	const std::vector<int64_t> around = numbersOf(spread->inputs[2]);
	builder.support(builder.same(picture) == builder.same(parts) &&
				builder.same(samples) == builder.computed(samples),
			"quantization", "is not the same before and behind it");
	builder.need(block == numbersOf(spread->inputs[1]), "block",
		     fmt::format("is not that of {}", spreading));
	Convolution made = std::get<Convolution>(convolved.kind);
	const auto isPossible = [](int64_t number) {
		return number >= 0 && number <= mostOfWindow;
	};
	const auto side = [&](size_t at, uint32_t own) {
		const int64_t all = own * block[at / 2] + around[at] - crops[at];
		builder.support(isPossible(all), "crops",
				fmt::format("leave {} elements of padding", all));
		return static_cast<uint32_t>(all);
	};

	builder.support(picture.shape.size() == 4 && block.size() == 2 && around.size() == 4 &&
				crops.size() == 4,
			"block", "is not of lines and columns");
	builder.support(made.stride.x == 1 && made.stride.y == 1, "stride",
			"of the convolution before it is not 1");
	for (const std::vector<int64_t> *numbers : { &block, &around, &crops })
		builder.need(std::ranges::all_of(*numbers, isPossible), "block",
			     "or crops are not possible");
	made.padding = { side(2, made.padding.left), side(3, made.padding.right),
			 side(0, made.padding.top), side(1, made.padding.bottom) };
	made.dilation =
		axesOf(builder, "block", block[0] * made.dilation.y, block[1] * made.dilation.x);
	const Extents &kernels = builder.value(Tensor{ .id = convolved.inputs[1] }).shape;
	const Windows windows{
		{ kernels[3], kernels[2] }, made.stride, made.dilation, made.padding
	};
	const Tensor result =
		builder.compute(made, picture, windowed(builder, picture, windows, kernels[0]),
				{ convolved.inputs.begin() + 1, convolved.inputs.end() });
	/* Added operators invalidate \a spread, so look it up again. */
	std::get<Unknown>(builder.writer(parts.id)->kind).isFolded = true;
	return result;
}

Tensor product(Builder &builder, const Tensor &rows, Weights weights, const Clamp &activation)
{
	const Value &kernels = weights.kernels;

	builder.support(!builder.isConstant(rows) && rows.shape.size() >= 2 &&
				kernels.shape.size() == 2,
			"inputs", "are not computed rows and a constant matrix");
	const Tensor x =
		rows.places.empty() ? builder.inOrder(rows, asInFile(rows.shape.size())) : rows;
	const uint32_t columns = kernels.shape[1];
	builder.need(columns == x.shape.back(), "weights",
		     fmt::format("of {}, turned, do not go with {}", toString(kernels.shape),
				 toString(x.shape)));
	if (!x.places.empty())
		rearrange(weights.kernels, x.places);
	Tensor like{ 0, x.shape, asInFile(x.shape.size()) };
	like.shape.back() = kernels.shape[0];
	weights.bias = rowsOfBias(std::move(weights.bias), like.shape.back());
	return builder.compute(FullyConnected{ activation }, x, like,
			       builder.addWeights(std::move(weights)));
}

Tensor product(Builder &builder, const Tensor &a, const Tensor &b, std::vector<Value> bias,
	       const Clamp &activation)
{
	const size_t rank = std::max(a.shape.size(), b.shape.size());

	builder.support(std::min(a.shape.size(), b.shape.size()) >= 2, "inputs",
			fmt::format("are {} and {}; matrices are known", toString(a.shape),
				    toString(b.shape)));
	Tensor rows = withAxes(builder, builder.needComputed(a), rank);
	Tensor columns = withAxes(builder, builder.needComputed(b), rank);
	/* With 1 as extent of the summed axis, broadcasting gives the product's shape. */
	Extents left = rows.shape, right = columns.shape;
	const bool fits = std::exchange(left[rank - 1], 1) == std::exchange(right[rank - 2], 1);
	const auto made = broadcastShape(left, right);
	builder.need(fits && made, "inputs",
		     fmt::format("of {} and {} do not go together", toString(a.shape),
				 toString(b.shape)));
	rows = builder.inOrder(rows, matrixOrder(rows, false));
	columns = builder.inOrder(columns, matrixOrder(columns, true));
	const Tensor like{ 0, *made, rows.order };
	std::vector<ValueId> others{ columns.id };
	for (Value &one : rowsOfBias(std::move(bias), like.shape.back()))
		others.push_back(builder.addConstant(std::move(one)));
	return builder.compute(Product{ .ofChannels = columns.order.back() + 1 == rank,
					.besideA = areBeside(rows.order),
					.besideB = areBeside(columns.order),
					.activation = activation },
			       rows, like, others);
}

} /* namespace nvdla::compiler::legalize */

/* SPDX-License-Identifier: MIT */
#include "evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/number/channel_functions.h"
#include "base/number/products.h"
#include "base/tensor/number_kernels.h"
#include "compiler/ir/walk.h"

namespace nvdla::compiler
{

namespace
{

/* Inputs and output of an operator that is being computed */
struct RealStep {
	const Model &model;
	const Operator &operation;
	std::vector<const RealNumbers *> inputs; /* empty for kernels: see TurnedKernels */
	RealNumbers &result;			 /* has the output's size, and is 0 at first */

	const RealNumbers &in(size_t input) const { return *inputs[input]; }
	const Extents &shape(size_t input) const
	{
		return model.values[operation.inputs[input]].shape;
	}
	const Extents &outShape() const { return model.values[operation.outputs.front()].shape; }
	/* Length and number of the result's rows, which run along its last axis */
	size_t channels() const { return outShape().back(); }
	size_t rows() const { return result.size() / channels(); }
};

/* Size and positions of an operator's windows on its input picture */
struct Window {
	op::Axes kernel;
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;

	uint32_t taps() const { return kernel.x * kernel.y; }
	/* Channels of the input's pixel under \a tap for the result's pixel \a row; nullptr in the
	 * padding */
	const float *at(const RealStep &step, size_t row, uint32_t tap) const
	{
		const Extents &x = step.shape(0);
		const auto oy = static_cast<int64_t>(row / step.outShape()[2]);
		const auto ox = static_cast<int64_t>(row % step.outShape()[2]);
		const int64_t line =
			oy * stride.y + int64_t{ tap / kernel.x } * dilation.y - padding.top;
		const int64_t column =
			ox * stride.x + int64_t{ tap % kernel.x } * dilation.x - padding.left;

		if (line < 0 || column < 0 || line >= x[1] || column >= x[2])
			return nullptr;
		return &step.in(0)[static_cast<size_t>(line * x[2] + column) * x[3]];
	}
};

/* Calls visit(row, tap, pixel), as of Window::at(), for each tap that is not in the padding. */
template<typename Visit>
void eachTap(const RealStep &step, const Window &window, const Visit &visit)
{
	for (size_t row = 0; row < step.rows(); row++) {
		for (uint32_t tap = 0; tap < window.taps(); tap++) {
			if (const float *pixel = window.at(step, row, tap))
				visit(row, tap, pixel);
		}
	}
}

/* Some of an operator's kernels (k, of c channels each), in the order [tap][channel][kernel] */
struct TurnedKernels {
	uint32_t k;
	uint32_t c;
	uint32_t taps;
	RealNumbers numbers;

	TurnedKernels(const RealStep &step, size_t firstK, uint32_t count)
		: k(count), c(step.shape(1)[1]),
		  taps(step.shape(1).size() > 2 ? step.shape(1)[2] * step.shape(1)[3] : 1),
		  numbers(size_t{ k } * c * taps)
	{
		const Value &kernels = step.model.values[step.operation.inputs[1]];
		const size_t size = size_t{ c } * taps;

		for (uint32_t kernel = 0; kernel < k; kernel++) {
			const auto one =
				realNumbers<float>(kernels, (firstK + kernel) * size, size);
			const float *from = one.data();
			for (uint32_t channel = 0; channel < c; channel++)
				for (uint32_t tap = 0; tap < taps; tap++)
					numbers[(size_t{ tap } * c + channel) * k + kernel] =
						*from++;
		}
	}
	const float *ofTap(uint32_t tap) const { return &numbers[size_t{ tap } * c * k]; }
};

/* Adds the products of kernels firstK to firstK + count - 1 to the results. pixelAt(row, tap) is
 * like Window::at(). */
template<typename PixelAt>
void addRows(const RealStep &step, size_t firstK, uint32_t count, const PixelAt &pixelAt)
{
	const TurnedKernels kernels(step, firstK, count);
	const RealNumbers padding(kernels.c);
	RealNumbers unused(kernels.k); /* takes sums for rows behind the last one */
	const size_t rows = step.rows();

	for (size_t first = 0; first < rows; first += pixelsAtOnce) {
		for (uint32_t tap = 0; tap < kernels.taps; tap++) {
			ProductInputs from;
			ProductSums sums;
			for (size_t i = 0; i < pixelsAtOnce; i++) {
				const size_t row = std::min(first + i, rows - 1);
				const float *pixel = pixelAt(row, tap);
				from[i] = pixel ? pixel : padding.data();
				sums[i] = first + i < rows
						  ? &step.result[row * step.channels() + firstK]
						  : unused.data();
			}
			addProducts(from, sums, kernels.ofTap(tap), kernels.c, kernels.k);
		}
	}
}

/* Copies the result's elements from the input's, at the indices that \a walk gives. */
void take(const RealStep &step, const Walk &walk)
{
	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = step.in(0)[walk(i)];
}

/* Position of output element \a at in an axis of the input, which has \a size elements. */
float placeInInput(uint32_t at, uint32_t factor, uint32_t size, Enlarge::Method method)
{
	const float center = method == Enlarge::Method::LinearOfCenters ? 0.5f : 0.0f;
	const float place = (static_cast<float>(at) + center) / static_cast<float>(factor);

	return std::clamp(place - center, 0.0f, static_cast<float>(size - 1));
}

/* Applies a function to each row of the last axis. The function changes the row's numbers in place;
 * if makesOne, only the first of them is the result. */
template<typename Function>
void eachRow(const RealStep &step, bool makesOne, Function function)
{
	const size_t channels = step.shape(0).empty() ? 1 : step.shape(0).back();
	const size_t made = makesOne ? 1 : channels;
	size_t to = 0;

	for (size_t row = 0; row < step.in(0).size(); row += channels, to += made) {
		const float *from = &step.in(0)[row];
		std::vector<double> numbers(from, from + channels);
		function(numbers);
		std::copy_n(numbers.begin(), made, &step.result[to]);
	}
}

/* A function for each kind of operator; evaluate() adds biases and applies activations. */

void compute(const RealStep &step, const Convolution &conv)
{
	const Extents &w = step.shape(1);
	const uint32_t count = w[0] / conv.groups;
	const Window window{ { w[3], w[2] }, conv.stride, conv.dilation, conv.padding };

	if (conv.groups == w[0] && w[1] == 1) { /* depthwise: vectorized over adjacent channels */
		const TurnedKernels kernels(step, 0, w[0]);
		eachTap(step, window, [&](size_t row, uint32_t tap, const float *pixel) {
			float *sums = &step.result[row * w[0]];
			const float *factors = kernels.ofTap(tap);
			for (uint32_t c = 0; c < w[0]; c++)
				sums[c] += pixel[c] * factors[c];
		});
		return;
	}
	for (uint32_t group = 0; group < conv.groups; group++)
		addRows(step, size_t{ group } * count, count, [&](size_t row, uint32_t tap) {
			const float *pixel = window.at(step, row, tap);
			return pixel ? pixel + size_t{ group } * w[1] : nullptr;
		});
}

void compute(const RealStep &step, const TransposedConvolution &conv)
{
	const Extents &x = step.shape(0), &w = step.shape(1), &y = step.outShape();
	const TurnedKernels kernels(step, 0, w[0]);
	const float *pixel = step.in(0).data();

	for (uint32_t at = 0; at < x[1] * x[2]; at++, pixel += x[3]) {
		for (uint32_t tap = 0; tap < kernels.taps; tap++) {
			const int64_t oy = int64_t{ at / x[2] } * conv.stride.y + tap / w[3] -
					   conv.padding.top;
			const int64_t ox = int64_t{ at % x[2] } * conv.stride.x + tap % w[3] -
					   conv.padding.left;
			if (oy < 0 || ox < 0 || oy >= y[1] || ox >= y[2])
				continue;
			float *sums = &step.result[static_cast<size_t>(oy * y[2] + ox) * w[0]];
			const float *row = kernels.ofTap(tap);
			for (uint32_t c = 0; c < w[1]; c++, row += w[0])
				for (uint32_t k = 0; k < w[0]; k++)
					sums[k] += pixel[c] * row[k];
		}
	}
}

void compute(const RealStep &step, const FullyConnected &)
{
	constexpr uint32_t atOnce = 64; /* number of kernels; limits TurnedKernels's memory */
	const uint32_t kernels = step.shape(1)[0], channels = step.shape(1)[1];

	for (uint32_t first = 0; first < kernels; first += atOnce)
		addRows(step, first, std::min(atOnce, kernels - first),
			[&](size_t row, uint32_t) { return &step.in(0)[row * channels]; });
}

void compute(const RealStep &step, const Product &product)
{
	const Matrices a(step.shape(0), product.besideA), b(step.shape(1), product.besideB);
	const Matrices y(step.outShape(), product.besideA);
	RealNumbers kernel(a.columns);

	for (uint32_t sample = 0; sample < y.samples; sample++)
		for (uint32_t matrix = 0; matrix < y.count; matrix++)
			for (uint32_t k = 0; k < y.columns; k++) {
				for (uint32_t c = 0; c < a.columns; c++)
					kernel[c] = step.in(
						1)[product.ofChannels ? b.at(sample, matrix, c, k)
								      : b.at(sample, matrix, k, c)];
				for (uint32_t row = 0; row < y.rows; row++) {
					const float *from =
						&step.in(0)[a.at(sample, matrix, row, 0)];
					step.result[y.at(sample, matrix, row, k)] =
						std::inner_product(kernel.begin(), kernel.end(),
								   from, 0.0F);
				}
			}
}

void compute(const RealStep &step, const Pool &pool)
{
	constexpr float infinity = std::numeric_limits<float>::infinity();
	const bool isLargest = pool.method == Pool::Method::Max;
	const bool isLeast = pool.method == Pool::Method::Min;
	const Window window{ pool.kernel, pool.stride, {}, pool.padding };
	const size_t channels = step.channels();
	std::vector<uint32_t> counts(step.rows());

	std::ranges::fill(step.result, isLargest ? -infinity : isLeast ? infinity : 0);
	eachTap(step, window, [&](size_t row, uint32_t, const float *pixel) {
		counts[row]++;
		for (size_t c = 0; c < channels; c++) {
			float &made = step.result[row * channels + c];
			made = isLargest ? std::max(made, pixel[c])
			       : isLeast ? std::min(made, pixel[c])
					 : made + pixel[c];
		}
	});
	for (size_t i = 0; pool.method == Pool::Method::Average && i < step.result.size(); i++)
		step.result[i] /= static_cast<float>(
			pool.countPadding ? window.taps() : std::max(counts[i / channels], 1U));
}

void compute(const RealStep &step, const Elementwise &elementwise)
{
	const Walk a = repeated(step.shape(0), step.outShape());
	const Walk b = repeated(step.shape(1), step.outShape());
	const bool isAlike = step.shape(0) == step.shape(1);

	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = static_cast<float>(elementwise(step.in(0)[isAlike ? i : a(i)],
								step.in(1)[isAlike ? i : b(i)]));
}

void compute(const RealStep &step, const Reshape &)
{
	step.result = step.in(0);
}

void compute(const RealStep &step, const Pad &pad)
{
	Walk walk{ step.shape(0), packedStrides(step.outShape()) };

	std::fill(step.result.begin(), step.result.end(), static_cast<float>(pad.value));
	for (size_t axis = 0; axis < pad.before.size(); axis++)
		walk.first += pad.before[axis] * walk.strides[axis];
	for (size_t i = 0; i < step.in(0).size(); i++)
		step.result[walk(i)] = step.in(0)[i];
}

void compute(const RealStep &step, const Concatenation &concatenation)
{
	const auto begin = step.outShape().begin();
	const size_t runs = elementCount({ begin, begin + concatenation.axis });
	const size_t whole = step.result.size() / runs;
	size_t first = 0;

	for (const RealNumbers *input : step.inputs) {
		const size_t run = input->size() / runs;
		for (size_t i = 0; i < runs; i++)
			std::copy_n(input->data() + i * run, run,
				    step.result.data() + i * whole + first);
		first += run;
	}
}

void compute(const RealStep &step, const Slice &slice)
{
	Walk walk{ step.outShape(), packedStrides(step.shape(0)) };

	for (size_t axis = 0; axis < slice.begin.size(); axis++) {
		walk.first += slice.begin[axis] * walk.strides[axis];
		walk.strides[axis] *= slice.stride[axis];
	}
	take(step, walk);
}

void compute(const RealStep &step, const Transpose &transpose)
{
	take(step, transposed(transpose.extents, transpose.order));
}

void compute(const RealStep &step, const Unary &unary)
{
	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = static_cast<float>(unary(step.in(0)[i]));
}

void compute(const RealStep &step, const PRelu &)
{
	const Walk slopes = repeated(step.shape(1), step.outShape());

	for (size_t i = 0; i < step.result.size(); i++) {
		const float x = step.in(0)[i];
		step.result[i] = x < 0 ? x * step.in(1)[slopes(i)] : x;
	}
}

void compute(const RealStep &step, const Enlarge &enlarge)
{
	const Extents &x = step.shape(0), &y = step.outShape();
	const bool nearest = enlarge.method == Enlarge::Method::Nearest;

	for (size_t i = 0; i < step.result.size(); i++) {
		const auto oy = static_cast<uint32_t>(i / y[3] / y[2]);
		const auto ox = static_cast<uint32_t>(i / y[3] % y[2]);
		const float py = placeInInput(oy, enlarge.factor.y, x[1], enlarge.method);
		const float px = placeInInput(ox, enlarge.factor.x, x[2], enlarge.method);
		const auto line = static_cast<uint32_t>(py), column = static_cast<uint32_t>(px);
		auto at = [&](uint32_t h, uint32_t w) {
			h = std::min(h, x[1] - 1);
			w = std::min(w, x[2] - 1);
			return step.in(0)[(size_t{ h } * x[2] + w) * x[3] + i % y[3]];
		};
		const float dy = nearest ? 0 : py - static_cast<float>(line);
		const float dx = nearest ? 0 : px - static_cast<float>(column);
		step.result[i] =
			(1 - dy) * ((1 - dx) * at(line, column) + dx * at(line, column + 1)) +
			dy * ((1 - dx) * at(line + 1, column) + dx * at(line + 1, column + 1));
	}
}

void compute(const RealStep &step, const Softmax &softmax)
{
	eachRow(step, false, [&](std::vector<double> &numbers) {
		for (double &number : numbers)
			number *= softmax.beta;
		takeLogSoftmax(numbers);
		for (double &number : numbers)
			number = softmax.isLogarithm ? number : std::exp(number);
	});
}

void compute(const RealStep &step, const ChannelReduction &reduction)
{
	eachRow(step, true, [&](std::vector<double> &numbers) {
		double &made = numbers.front();
		if (isExtreme(reduction.method))
			made = reduction.method == Pool::Method::Max ? std::ranges::max(numbers)
								     : std::ranges::min(numbers);
		else
			made = std::accumulate(numbers.begin(), numbers.end(), 0.0) /
			       (reduction.method == Pool::Method::Sum
					? 1.0
					: static_cast<double>(numbers.size()));
	});
}

void compute(const RealStep &step, const OverChannels &over)
{
	using Function = OverChannels::Function;
	const bool isIndex = over.function == Function::ArgMax;

	eachRow(step, isIndex, [&](std::vector<double> &numbers) {
		if (isIndex)
			numbers[0] = static_cast<double>(std::ranges::max_element(numbers) -
							 numbers.begin());
		else if (over.function == Function::Normalize)
			normalize(numbers);
		else if (over.function == Function::Standardize)
			standardize(numbers, over.shift);
		else
			takeLocalResponse(numbers, over.window, over.power, over.scale, over.shift);
	});
}

void compute(const RealStep &, const Unknown &)
{
}

/* Rounds and saturates numbers as if they were stored as integers of the value's type. */
void quantizeAll(RealNumbers &numbers, const Value &value)
{
	const Quantization quantization = value.quantization.channel(0);
	const double scale = quantization.scale;
	const IntegerLimits limits =
		value.type == ElementType::UInt8
			? IntegerLimits{ 0, UINT8_MAX }
			: integerLimits(static_cast<unsigned>(8 * elementBytes(value.type)));
	const auto low = static_cast<double>(limits.lowest - quantization.zeroPoint);
	const auto high = static_cast<double>(limits.highest - quantization.zeroPoint);

	/* The same as Quantization::quantize(), written out because calls would slow the loop. */
	for (float &number : numbers) {
		double steps = std::isnan(number) ? 0 : number / scale;
		steps = std::min(std::max(steps, low), high);
		const auto rounded = static_cast<int32_t>(steps + std::copysign(nearlyHalf, steps));
		number = static_cast<float>(scale * rounded);
	}
}

} /* namespace */

RealNumbers evaluate(const Model &model, const Operator &operation,
		     const std::vector<RealNumbers> &values, RealNumbers result)
{
	const Value &output = model.values[operation.outputs.front()];
	RealStep step{ model, operation, {}, result };
	std::vector<RealNumbers> constants(operation.inputs.size());

	result.assign(elementCount(output.shape), 0);
	for (size_t i = 0; i < constants.size(); i++) {
		const ValueId id = operation.inputs[i];
		const bool isConstant = model.values[id].isConstant;
		if (isConstant && !(i == 1 && hasKernels(operation.kind)))
			constants[i] = realNumbers<float>(model.values[id]);
		step.inputs.push_back(isConstant ? &constants[i] : &values[id]);
	}
	std::visit([&](const auto &kind) { compute(step, kind); }, operation.kind);
	const bool hasBias = traitsOf(operation.kind).isProduct && step.inputs.size() > 2;
	for (size_t i = 0; hasBias && i < result.size(); i++)
		result[i] += step.in(2)[i % step.channels()];
	if (const Clamp *clamp = activationOf(operation.kind); clamp && !clamp->isNone()) {
		const auto low = static_cast<float>(clamp->low);
		const auto high = static_cast<float>(clamp->high);
		for (float &number : result)
			number = std::min(std::max(number, low), high);
	}
	if (!isFloat(output.type) && !output.quantization.none())
		quantizeAll(result, output);
	return result;
}

std::vector<RealNumbers> evaluateAll(const Model &model, std::span<const RealNumbers> inputs,
				     std::vector<RealNumbers> values)
{
	values.resize(model.values.size());
	for (size_t i = 0; i < model.inputs.size(); i++) {
		const ValueId id = model.inputs[i];
		values[id] = inputs[i];
		if (!isFloat(model.values[id].type))
			quantizeAll(values[id], model.values[id]);
	}
	for (const Operator &operation : model.operators) {
		RealNumbers &result = values[operation.outputs.front()];
		result = evaluate(model, operation, values, std::move(result));
	}
	return values;
}

} /* namespace nvdla::compiler */

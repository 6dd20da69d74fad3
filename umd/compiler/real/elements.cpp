/* SPDX-License-Identifier: MIT */
/*
 * Operators on single elements and on all channels, and those that move elements.
 */
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "evaluator.h"

namespace nvdla::compiler
{

namespace
{

/*
 * Addresses of an array's elements in another array: for each axis the distance from one to
 * the next, and the place of the first.
 */
struct Walk {
	Extents shape; /* of what is counted */
	std::vector<size_t> strides;
	size_t first = 0;

	/* Place of the element with an index in the order of the shape. */
	size_t operator()(size_t index) const
	{
		size_t at = first;

		for (size_t axis = shape.size(); axis-- > 0;) {
			at += index % shape[axis] * strides[axis];
			index /= shape[axis];
		}
		return at;
	}
};

/* Elements one behind the other. */
std::vector<size_t> packedStrides(const Extents &shape)
{
	std::vector<size_t> strides(shape.size(), 1);

	for (size_t axis = shape.size(); axis-- > 1;)
		strides[axis - 1] = strides[axis] * shape[axis];
	return strides;
}

/* Axes of one element are repeated, and those that are missing in front. */
Walk repeated(const Extents &shape, const Extents &to)
{
	const std::vector<size_t> own = packedStrides(shape);
	Walk walk{ to, std::vector<size_t>(to.size(), 0) };

	for (size_t axis = 0; axis < shape.size(); axis++) {
		if (shape[axis] != 1)
			walk.strides[to.size() - shape.size() + axis] = own[axis];
	}
	return walk;
}

float apply(Elementwise::Function function, float a, float b)
{
	switch (function) {
	case Elementwise::Function::Add:
		return a + b;
	case Elementwise::Function::Subtract:
		return a - b;
	case Elementwise::Function::Multiply:
		return a * b;
	case Elementwise::Function::Maximum:
		return std::max(a, b);
	case Elementwise::Function::Minimum:
		return std::min(a, b);
	case Elementwise::Function::Divide:
		return a / b;
	}
	return 0;
}

/* Position of an output element in an axis of the input. */
float placeInInput(uint32_t at, uint32_t factor, uint32_t size, Enlarge::Method method)
{
	const float center = method == Enlarge::Method::LinearOfCenters ? 0.5f : 0.0f;
	const float place = (static_cast<float>(at) + center) / static_cast<float>(factor);

	return std::clamp(place - center, 0.0f, static_cast<float>(size - 1));
}

using Row = std::span<const float>;

double sumOfSquares(Row x, double mean = 0)
{
	return std::accumulate(x.begin(), x.end(), 0.0, [&](double sum, float number) {
		return sum + std::pow(number - mean, 2);
	});
}

void normalize(Row x, float *y)
{
	constexpr double leastLength = 1e-6;
	const double length = std::max(std::sqrt(sumOfSquares(x)), leastLength);

	for (const float number : x)
		*y++ = static_cast<float>(number / length);
}

void standardize(Row x, float *y, double epsilon)
{
	const auto count = static_cast<double>(x.size());
	const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
	const double width = std::sqrt(sumOfSquares(x, mean) / count + epsilon);

	for (const float number : x)
		*y++ = width > 0 ? static_cast<float>((number - mean) / width) : 0;
}

void divideByNeighbours(Row x, float *y, const OverChannels &over)
{
	const size_t radius = over.window / 2;

	for (size_t c = 0; c < x.size(); c++) {
		const size_t first = c - std::min(c, radius);
		const double squares =
			sumOfSquares(x.subspan(first, std::min(c + radius + 1, x.size()) - first));
		y[c] = static_cast<float>(x[c] *
					  std::pow(over.shift + over.scale * squares, -over.power));
	}
}

} /* namespace */

void compute(const RealStep &step, const Elementwise &elementwise)
{
	const Walk a = repeated(step.shape(0), step.outShape());
	const Walk b = repeated(step.shape(1), step.outShape());

	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = apply(elementwise.function, step.in(0)[a(i)], step.in(1)[b(i)]);
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
	const std::vector<size_t> strides = packedStrides(step.outShape());
	size_t first = 0;

	for (size_t input = 0; input < step.inputs.size(); input++) {
		const Walk walk{ step.shape(input), strides, first };
		for (size_t i = 0; i < step.in(input).size(); i++)
			step.result[walk(i)] = step.in(input)[i];
		first += step.shape(input)[concatenation.axis] * strides[concatenation.axis];
	}
}

void compute(const RealStep &step, const Slice &slice)
{
	Walk walk{ step.outShape(), packedStrides(step.shape(0)) };

	for (size_t axis = 0; axis < slice.begin.size(); axis++) {
		walk.first += slice.begin[axis] * walk.strides[axis];
		walk.strides[axis] *= slice.stride[axis];
	}
	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = step.in(0)[walk(i)];
}

void compute(const RealStep &step, const Transpose &transpose)
{
	const std::vector<size_t> strides = packedStrides(transpose.extents);
	Walk walk;

	for (const uint32_t axis : transpose.order) {
		walk.shape.push_back(transpose.extents[axis]);
		walk.strides.push_back(strides[axis]);
	}
	for (size_t i = 0; i < step.result.size(); i++)
		step.result[i] = step.in(0)[walk(i)];
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
	const size_t classes = step.outShape().empty() ? 1 : step.outShape().back();

	for (size_t row = 0; row < step.result.size(); row += classes) {
		const float *from = &step.in(0)[row];
		const float largest = *std::max_element(from, from + classes);
		double sum = 0;
		for (size_t c = 0; c < classes; c++) {
			const double power = std::exp((from[c] - largest) * softmax.beta);
			step.result[row + c] = static_cast<float>(power);
			sum += power;
		}
		for (size_t c = 0; c < classes; c++)
			step.result[row + c] = static_cast<float>(
				softmax.isLogarithm
					? (from[c] - largest) * softmax.beta - std::log(sum)
					: step.result[row + c] / sum);
	}
}

void compute(const RealStep &step, const ChannelReduction &reduction)
{
	const size_t channels = step.shape(0).back();

	for (size_t row = 0; row < step.result.size(); row++) {
		const float *from = &step.in(0)[row * channels];
		const double sum = std::accumulate(from, from + channels, 0.0);
		step.result[row] =
			reduction.method == Pool::Method::Max
				? *std::max_element(from, from + channels)
			: reduction.method == Pool::Method::Min
				? *std::min_element(from, from + channels)
			: reduction.method == Pool::Method::Sum
				? static_cast<float>(sum)
				: static_cast<float>(sum / static_cast<double>(channels));
	}
}

void compute(const RealStep &step, const OverChannels &over)
{
	using Function = OverChannels::Function;
	const size_t channels = step.shape(0).empty() ? 1 : step.shape(0).back();

	for (size_t row = 0; row < step.in(0).size() / channels; row++) {
		const Row x(&step.in(0)[row * channels], channels);
		if (over.function == Function::ArgMax) {
			step.result[row] =
				static_cast<float>(std::ranges::max_element(x) - x.begin());
			continue;
		}
		float *y = &step.result[row * channels];
		if (over.function == Function::Normalize)
			normalize(x, y);
		else if (over.function == Function::Standardize)
			standardize(x, y, over.shift);
		else
			divideByNeighbours(x, y, over);
	}
}

} /* namespace nvdla::compiler */

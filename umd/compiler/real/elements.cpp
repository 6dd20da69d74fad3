/* SPDX-License-Identifier: MIT */
/*
 * Operators on single elements and on all channels, and those that move elements.
 */
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/number/channel_functions.h"
#include "compiler/ir/walk.h"
#include "evaluator.h"

namespace nvdla::compiler
{

namespace
{

/* Position of an output element in an axis of the input. */
float placeInInput(uint32_t at, uint32_t factor, uint32_t size, Enlarge::Method method)
{
	const float center = method == Enlarge::Method::LinearOfCenters ? 0.5f : 0.0f;
	const float place = (static_cast<float>(at) + center) / static_cast<float>(factor);

	return std::clamp(place - center, 0.0f, static_cast<float>(size - 1));
}

/* The results of a function of the numbers of the last axis: as many, or one. */
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

} /* namespace */

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

} /* namespace nvdla::compiler */

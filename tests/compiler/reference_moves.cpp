/* SPDX-License-Identifier: MIT */
/*
 * Elements in other places.
 */
#include <algorithm>
#include <numeric>

#include <nvdla/rounding.h>

#include "reference_operator.h"

namespace nvdla::test
{

using namespace compiler;

void OperatorReference::operator()(const Pad &pad)
{
	const Extents x = four(value(0).shape), y = four(out_.shape);
	Extents before = pad.before;
	const double fill = out_.quantization.none()
				    ? pad.value
				    : std::round(out_.quantization.channel(0).steps(pad.value));

	while (before.size() < 4)
		before.insert(before.begin(), 0);
	std::fill(result_.begin(), result_.end(), fill);
	for (size_t i = 0; i < in(0).size(); i++) {
		size_t rest = i, at = 0, step = 1;
		for (size_t axis = 4; axis-- > 0;) {
			at += (rest % x[axis] + before[axis]) * step;
			rest /= x[axis];
			step *= y[axis];
		}
		result_[at] = in(0)[i];
	}
}

void OperatorReference::operator()(const Concatenation &concatenation)
{
	const auto axis = static_cast<ptrdiff_t>(concatenation.axis);
	const size_t outer = std::accumulate(out_.shape.begin(), out_.shape.begin() + axis,
					     size_t{ 1 }, std::multiplies<>());
	const size_t row = result_.size() / outer;
	size_t at = 0;

	for (size_t input = 0; input < operation_.inputs.size(); input++) {
		const size_t part = in(input).size() / outer;
		for (size_t i = 0; i < in(input).size(); i++) {
			double number = in(input)[i];
			if (!isReal() && value(input).quantization != out_.quantization)
				number = saturate(
					whole(std::round(out_.quantization.channel(0).steps(
						real(input, number)))),
					{});
			result_[i / part * row + at + i % part] = number;
		}
		at += part;
	}
}

void OperatorReference::operator()(const Slice &slice)
{
	const Extents x = four(value(0).shape), y = four(out_.shape);
	Extents begin = slice.begin, stride = slice.stride;

	while (begin.size() < 4) {
		begin.insert(begin.begin(), 0);
		stride.insert(stride.begin(), 1);
	}
	for (size_t i = 0; i < result_.size(); i++) {
		size_t rest = i, at = 0, step = 1;
		for (size_t axis = 4; axis-- > 0;) {
			at += (rest % y[axis] * stride[axis] + begin[axis]) * step;
			rest /= y[axis];
			step *= x[axis];
		}
		result_[i] = in(0)[at];
	}
}

namespace
{

/* Where an output element lies among those of an axis of the input. */
double placeAmong(uint32_t at, uint32_t factor, uint32_t size, Enlarge::Method method)
{
	const double center = method == Enlarge::Method::LinearOfCenters ? 0.5 : 0;

	return std::clamp((at + center) / factor - center, 0.0, size - 1.0);
}

} /* namespace */

void OperatorReference::operator()(const Enlarge &enlarge)
{
	const Extents &x = value(0).shape, &y = out_.shape;
	const bool nearest = enlarge.method == Enlarge::Method::Nearest;
	/* TFLite's kernels work on the integers, and round away from their 0. */
	const bool ofIntegers =
		!isReal() && !roundsOnce() && value(0).quantization == out_.quantization;

	for (size_t i = 0; i < result_.size(); i++) {
		const auto c = static_cast<uint32_t>(i % y[3]);
		const double py = placeAmong(static_cast<uint32_t>(i / y[3] / y[2]),
					     enlarge.factor.y, x[1], enlarge.method);
		const double px = placeAmong(static_cast<uint32_t>(i / y[3] % y[2]),
					     enlarge.factor.x, x[2], enlarge.method);
		const auto line = static_cast<uint32_t>(py), column = static_cast<uint32_t>(px);
		auto at = [&](uint32_t h, uint32_t w) {
			h = std::min(h, x[1] - 1);
			w = std::min(w, x[2] - 1);
			const double number = in(0)[(size_t{ h } * x[2] + w) * x[3] + c];
			return ofIntegers ? number : real(0, number);
		};
		const double dy = nearest ? 0 : py - line, dx = nearest ? 0 : px - column;
		const double y =
			(1 - dy) * ((1 - dx) * at(line, column) + dx * at(line, column + 1)) +
			dy * ((1 - dx) * at(line + 1, column) + dx * at(line + 1, column + 1));
		result_[i] = ofIntegers ? roundReal(y) : written(y);
	}
}

void OperatorReference::operator()(const Transpose &transpose)
{
	std::vector<size_t> strides(transpose.extents.size(), 1);

	for (size_t axis = strides.size(); axis-- > 1;)
		strides[axis - 1] = strides[axis] * transpose.extents[axis];
	for (size_t i = 0; i < result_.size(); i++) {
		size_t rest = i, from = 0;
		for (size_t axis = transpose.order.size(); axis-- > 0;) {
			const uint32_t old = transpose.order[axis];
			from += rest % transpose.extents[old] * strides[old];
			rest /= transpose.extents[old];
		}
		result_[i] = in(0)[from];
	}
}

} /* namespace nvdla::test */

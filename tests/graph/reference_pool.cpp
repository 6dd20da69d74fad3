/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include "reference.h"

namespace nvdla::test
{

namespace
{

/* Thresholds of PDP and CDP: 0.0001, and 0.001 of the largest value in the window. */
double threshold(double largest)
{
	return std::min(0.0001, 0.001 * largest);
}

/* Elements of one window, row by row; padding is left out. */
struct Window {
	std::vector<std::vector<double>> rows;
	uint32_t padded = 0;  /* elements of padding */
	double tolerance = 0; /* the largest of its elements */
};

Window windowAt(const op::Pooling &op, const Cube &in, uint32_t c, uint32_t oy, uint32_t ox)
{
	Window window;

	for (uint32_t r = 0; r < op.kernel.y; r++) {
		std::vector<double> row;
		for (uint32_t s = 0; s < op.kernel.x; s++) {
			const int64_t y = int64_t{ oy } * op.stride.y + r - op.padding.top;
			const int64_t x = int64_t{ ox } * op.stride.x + s - op.padding.left;
			if (y < 0 || y >= in.h || x < 0 || x >= in.w) {
				window.padded++;
				continue;
			}
			const size_t at =
				in.index(0, c, static_cast<uint32_t>(y), static_cast<uint32_t>(x));
			row.push_back(in.values[at]);
			if (!in.tolerance.empty())
				window.tolerance = std::max(window.tolerance, in.tolerance[at]);
		}
		if (!row.empty())
			window.rows.push_back(std::move(row));
	}
	return window;
}

/* Sum times 1/width, rounded, times 1/height, rounded; reciprocals have 16 bits. */
double averageInteger(const op::Pooling &op, const Window &window)
{
	int64_t sum = int64_t{ window.padded } * op.padValue;

	for (const auto &row : window.rows) {
		for (double value : row)
			sum += static_cast<int64_t>(value);
	}
	const int64_t scaled = shiftRight(sum * (65536 / op.kernel.x), 16);
	return static_cast<double>(shiftRight(scaled * (65536 / op.kernel.y), 16));
}

/* FP17 between input and output: each row from left to right, then the rows. */
double averageFloat(const op::Pooling &op, const Window &window)
{
	double sum = 0;

	for (size_t r = 0; r < window.rows.size(); r++) {
		double row = window.rows[r][0];
		for (size_t s = 1; s < window.rows[r].size(); s++)
			row = roundTo(row + window.rows[r][s], fp17Bits);
		sum = r ? roundTo(sum + row, fp17Bits) : row;
	}
	sum = roundTo(sum * roundTo(1.0 / op.kernel.x, fp17Bits), fp17Bits);
	return toHalf(roundTo(sum * roundTo(1.0 / op.kernel.y, fp17Bits), fp17Bits));
}

double extreme(const op::Pooling &op, const Window &window)
{
	double result = window.rows[0][0];

	for (const auto &row : window.rows) {
		for (double value : row)
			result = op.method == op::Pool::Max ? std::max(result, value)
							    : std::min(result, value);
	}
	return result;
}

double largest(const Window &window)
{
	double result = 0;

	for (const auto &row : window.rows) {
		for (double value : row)
			result = std::max(result, std::abs(value));
	}
	return result;
}

/* From the middle outwards, pairs first, each step in FP32. */
double squareSumFloat(const op::Normalization &op, const std::vector<double> &channels)
{
	const size_t middle = op.localSize / 2;
	auto square = [&](size_t i) { return roundTo(channels[i] * channels[i], fp32Bits); };
	double sum =
		roundTo(roundTo(square(middle - 1) + square(middle + 1), fp32Bits) + square(middle),
			fp32Bits);

	for (size_t i = 2; i <= middle; i++)
		sum = roundTo(sum + roundTo(square(middle - i) + square(middle + i), fp32Bits),
			      fp32Bits);
	return sum;
}

double normalizeFloat(const op::Normalization &op, const std::vector<double> &channels,
		      const Lut &lut)
{
	const double x = channels[op.localSize / 2];
	const double y = lookUpFloat(lut, LutUnit::Cdp,
				     op.bypassSquareSum ? x : squareSumFloat(op, channels));

	return toHalf(op.bypassMultiply ? y : roundTo(x * y, fp17Bits));
}

double normalizeInteger(const op::Normalization &op, const std::vector<double> &channels,
			const Lut &lut, int bits)
{
	const auto x = static_cast<int64_t>(channels[op.localSize / 2]);
	int64_t sum = x;

	if (!op.bypassSquareSum) {
		sum = 0;
		for (double channel : channels)
			sum += static_cast<int64_t>(channel) * static_cast<int64_t>(channel);
	}
	const int64_t y = lookUp(lut, LutUnit::Cdp, sum);
	return static_cast<double>(saturate(convert(op.bypassMultiply ? y : x * y, op.out), bits));
}

} /* namespace */

Cube pool(const op::Pooling &op, const Cube &in)
{
	const uint32_t h =
		(op.padding.top + in.h + op.padding.bottom - op.kernel.y) / op.stride.y + 1;
	const uint32_t w =
		(op.padding.left + in.w + op.padding.right - op.kernel.x) / op.stride.x + 1;
	const bool average = op.method == op::Pool::Average;
	const bool isFloat = in.type == DataType::Half;
	Cube out = Cube::of(in.type, 1, in.c, h, w);

	for (size_t at = 0; at < out.values.size(); at++) {
		const Window window =
			windowAt(op, in, static_cast<uint32_t>(at / w / h),
				 static_cast<uint32_t>(at / w % h), static_cast<uint32_t>(at % w));
		if (!average)
			out.values[at] = extreme(op, window);
		else
			out.values[at] =
				isFloat ? averageFloat(op, window) : averageInteger(op, window);
		/* What the elements are off by, no pooling makes larger. */
		if (isFloat)
			out.tolerance.push_back(window.tolerance +
						(average ? threshold(largest(window)) : 0));
	}
	return out;
}

Cube normalize(const op::Normalization &op, const Cube &in, const Lut &lut)
{
	const bool isFloat = in.type == DataType::Half;
	const int bits = in.type == DataType::Int8 ? 8 : 16;
	const auto radius = static_cast<int64_t>(op.localSize / 2);
	Cube out = Cube::like(in, in.type);

	for (size_t at = 0; at < out.values.size(); at++) {
		const size_t plane = size_t{ in.h } * in.w;
		const auto c = static_cast<int64_t>(at / plane);
		std::vector<double> channels;
		double most = 0;
		for (int64_t i = c - radius; i <= c + radius; i++) {
			double value = 0;
			if (i >= 0 && i < in.c) {
				value = in.values[static_cast<size_t>(i) * plane + at % plane];
				if (!isFloat)
					value = static_cast<double>(saturate(
						convert(static_cast<int64_t>(value), op.in),
						bits + 1));
			}
			most = std::max(most, std::abs(value));
			channels.push_back(value);
		}
		out.values[at] = isFloat ? normalizeFloat(op, channels, lut)
					 : normalizeInteger(op, channels, lut, bits);
		if (isFloat)
			out.tolerance.push_back(threshold(most));
	}
	return out;
}

} /* namespace nvdla::test */

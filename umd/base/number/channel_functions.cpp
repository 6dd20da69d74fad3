/* SPDX-License-Identifier: MIT */
#include "channel_functions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace nvdla
{

namespace
{

double sumOfSquares(std::span<const double> channels)
{
	return std::inner_product(channels.begin(), channels.end(), channels.begin(), 0.0);
}

} /* namespace */

void normalize(std::span<double> channels)
{
	/* Smallest divisor, as in TensorFlow Lite's kernels, so that nothing is divided by 0. */
	constexpr double least = 1e-6;
	const double length = std::max(std::sqrt(sumOfSquares(channels)), least);

	for (double &value : channels)
		value /= length;
}

void takeLogSoftmax(std::span<double> channels)
{
	const double largest = *std::ranges::max_element(channels);
	double sum = 0;

	for (const double value : channels)
		sum += std::exp(value - largest);
	for (double &value : channels)
		value -= largest + std::log(sum);
}

void standardize(std::span<double> channels, double epsilon)
{
	const auto count = static_cast<double>(channels.size());
	const double mean = std::accumulate(channels.begin(), channels.end(), 0.0) / count;

	for (double &value : channels)
		value -= mean;
	const double width = std::sqrt(sumOfSquares(channels) / count + epsilon);
	for (double &value : channels)
		value = width > 0 ? value / width : 0;
}

void takeLocalResponse(std::span<double> channels, uint32_t window, double power, double scale,
		       double shift)
{
	const std::vector<double> x(channels.begin(), channels.end());
	const size_t radius = window / 2;

	for (size_t c = 0; c < x.size(); c++) {
		const size_t first = c - std::min(c, radius);
		const size_t end = std::min(c + radius + 1, x.size());
		const double squares = sumOfSquares(std::span(x).subspan(first, end - first));
		channels[c] = x[c] * std::pow(shift + scale * squares, -power);
	}
}

} /* namespace nvdla */

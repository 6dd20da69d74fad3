/* SPDX-License-Identifier: MIT */
/*
 * Functions of all channels.
 */
#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluator.h"

namespace nvdla::compiler
{

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

void compute(const RealStep &step, const ArgMax &)
{
	const size_t classes = step.shape(0).back();

	for (size_t row = 0; row < step.result.size(); row++) {
		const float *from = &step.in(0)[row * classes];
		step.result[row] =
			static_cast<float>(std::max_element(from, from + classes) - from);
	}
}

void compute(const RealStep &step, const Normalization &)
{
	constexpr double leastLength = 1e-6;
	const size_t channels = step.outShape().empty() ? 1 : step.outShape().back();

	for (size_t row = 0; row < step.result.size(); row += channels) {
		double squares = 0;
		for (size_t c = 0; c < channels; c++)
			squares += std::pow(step.in(0)[row + c], 2);
		const double length = std::max(std::sqrt(squares), leastLength);
		for (size_t c = 0; c < channels; c++)
			step.result[row + c] = static_cast<float>(step.in(0)[row + c] / length);
	}
}

void compute(const RealStep &step, const LocalResponse &response)
{
	const auto channels = static_cast<int64_t>(step.outShape().back());
	const int64_t radius = response.window / 2;

	for (size_t i = 0; i < step.result.size(); i++) {
		const auto c = static_cast<int64_t>(i) % channels;
		const float *row = &step.in(0)[i - static_cast<size_t>(c)];
		double squares = 0;
		for (int64_t near = std::max<int64_t>(c - radius, 0);
		     near <= std::min(c + radius, channels - 1); near++)
			squares += std::pow(row[near], 2);
		step.result[i] = static_cast<float>(
			step.in(0)[i] *
			std::pow(response.bias + response.alpha * squares, -response.beta));
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

void compute(const RealStep &step, const Standardization &standardization)
{
	const size_t channels = step.outShape().empty() ? 1 : step.outShape().back();
	const auto count = static_cast<double>(channels);

	for (size_t row = 0; row < step.result.size(); row += channels) {
		const float *from = &step.in(0)[row];
		const double mean = std::accumulate(from, from + channels, 0.0) / count;
		double squares = 0;
		for (size_t c = 0; c < channels; c++)
			squares += std::pow(from[c] - mean, 2);
		const double width = std::sqrt(squares / count + standardization.epsilon);
		for (size_t c = 0; c < channels; c++)
			step.result[row + c] =
				width > 0 ? static_cast<float>((from[c] - mean) / width) : 0;
	}
}

} /* namespace nvdla::compiler */

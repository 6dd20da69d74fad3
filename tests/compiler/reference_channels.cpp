/* SPDX-License-Identifier: MIT */
/*
 * Functions of all channels.
 */
#include <algorithm>
#include <cfloat>
#include <numeric>

#include "reference_operator.h"
#include "table_softmax.h"

namespace nvdla::test
{

using namespace compiler;

void OperatorReference::operator()(const OverChannels &over)
{
	switch (over.function) {
	case OverChannels::Function::ArgMax:
		argMax();
		break;
	case OverChannels::Function::Normalize:
		normalize();
		break;
	case OverChannels::Function::Standardize:
		standardize(over.shift);
		break;
	default:
		localResponse(over);
		break;
	}
}

void OperatorReference::argMax()
{
	const uint32_t classes = value(0).shape.back();

	for (size_t row = 0; row < result_.size(); row++) {
		const auto begin = in(0).begin() + static_cast<ptrdiff_t>(row * classes);
		result_[row] =
			static_cast<double>(std::max_element(begin, begin + classes) - begin);
	}
}

void OperatorReference::normalize()
{
	const uint32_t channels = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += channels) {
		double squares = 0;
		for (size_t i = row; i < row + channels; i++)
			squares += std::pow(real(0, in(0)[i]), 2);
		for (size_t i = row; i < row + channels; i++)
			result_[i] =
				written(real(0, in(0)[i]) / std::max(std::sqrt(squares), 1e-6));
	}
}

void OperatorReference::localResponse(const OverChannels &response)
{
	const int64_t channels = out_.shape.back(), radius = response.window / 2;

	for (int64_t i = 0; i < static_cast<int64_t>(result_.size()); i++) {
		double squares = 0;
		for (int64_t c = i % channels - radius; c <= i % channels + radius; c++)
			if (c >= 0 && c < channels)
				squares += std::pow(
					real(0, in(0)[static_cast<size_t>(i - i % channels + c)]),
					2);
		const auto at = static_cast<size_t>(i);
		result_[at] =
			written(real(0, in(0)[at]) *
				std::pow(response.shift + response.scale * squares, -response.power));
	}
}

void OperatorReference::operator()(const ChannelReduction &reduction)
{
	const size_t channels = value(0).shape.back();

	for (size_t row = 0; row < result_.size(); row++) {
		double sum = 0, largest = -DBL_MAX, smallest = DBL_MAX;
		for (size_t c = 0; c < channels; c++) {
			sum += real(0, in(0)[row * channels + c]);
			largest = std::max(largest, real(0, in(0)[row * channels + c]));
			smallest = std::min(smallest, real(0, in(0)[row * channels + c]));
		}
		result_[row] = written(reduction.method == Pool::Method::Max   ? largest
				       : reduction.method == Pool::Method::Min ? smallest
				       : reduction.method == Pool::Method::Sum
					       ? sum
					       : sum / static_cast<double>(channels));
	}
}

void OperatorReference::standardize(double epsilon)
{
	const size_t channels = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += channels) {
		double mean = 0, squares = 0;
		for (size_t i = row; i < row + channels; i++)
			mean += real(0, in(0)[i]) / static_cast<double>(channels);
		for (size_t i = row; i < row + channels; i++)
			squares += std::pow(real(0, in(0)[i]) - mean, 2);
		const double variance = squares / static_cast<double>(channels);
		for (size_t i = row; i < row + channels; i++)
			result_[i] = written((real(0, in(0)[i]) - mean) /
					     std::sqrt(variance + epsilon));
	}
}

void OperatorReference::operator()(const Softmax &softmax)
{
	const uint32_t classes = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += classes) {
		const auto begin = in(0).begin() + static_cast<ptrdiff_t>(row);
		if (value(0).type == ElementType::Int16 && !softmax.isLogarithm) {
			const Numbers y = tableSoftmax(Numbers(begin, begin + classes),
						       scale(value(0)) * softmax.beta);
			std::copy(y.begin(), y.end(),
				  result_.begin() + static_cast<ptrdiff_t>(row));
			continue;
		}
		const double largest = *std::max_element(begin, begin + classes);
		Numbers powers;
		for (uint32_t c = 0; c < classes; c++)
			powers.push_back(std::exp((real(0, in(0)[row + c]) - real(0, largest)) *
						  softmax.beta));
		const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
		for (uint32_t c = 0; c < classes; c++) {
			const double distance =
				(real(0, in(0)[row + c]) - real(0, largest)) * softmax.beta;
			result_[row + c] = written(softmax.isLogarithm ? distance - std::log(sum)
								       : powers[c] / sum);
		}
	}
}

} /* namespace nvdla::test */

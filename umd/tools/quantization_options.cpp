/* SPDX-License-Identifier: MIT */
#include "quantization_options.h"

#include <algorithm>
#include <type_traits>

#include <fmt/core.h>

#include "base/io/number_list.h"

namespace nvdla::tools
{

namespace
{

/* Parses the value that an option has for tensor \a index: numbers, separated by commas. Returns
 * \a fallback if the option was given for fewer tensors. */
template<typename T>
Result<std::vector<T>> parseList(const std::string &name, const std::vector<std::string> &given,
				 size_t index, T fallback)
{
	if (index >= given.size())
		return std::vector<T>{ fallback };

	auto numbers = parseNumbers<T>(given[index], ',');
	if (!numbers)
		return fail(ErrorCode::InvalidArgument, name, given[index],
			    fmt::format("must be {}, or one for each channel: a,b,c",
					std::is_integral_v<T> ? "an integer" : "a number"));
	return std::move(*numbers);
}

} /* namespace */

Result<std::vector<TensorQuantization>> QuantizationOptions::parse(const std::string &start) const
{
	const std::string scaleName = start + "-scale";
	std::vector<TensorQuantization> tensors;

	for (size_t i = 0; i < std::max(scales.size(), zeroPoints.size()); i++) {
		auto scale = parseList<double>(scaleName, scales, i, 1.0);
		if (!scale)
			return forward(scale);
		auto zeroPoint = parseList<int32_t>(start + "-zero", zeroPoints, i, 0);
		if (!zeroPoint)
			return forward(zeroPoint);
		const size_t channels = std::max(scale->size(), zeroPoint->size());
		if ((scale->size() != 1 && scale->size() != channels) ||
		    (zeroPoint->size() != 1 && zeroPoint->size() != channels))
			return fail(
				ErrorCode::InvalidArgument, scaleName, scales[i],
				fmt::format("{} scales and {} zero points: give as many of both, "
					    "or one of either",
					    scale->size(), zeroPoint->size()));
		std::vector<Quantization> values;
		for (size_t c = 0; c < channels; c++)
			values.push_back({ (*scale)[scale->size() == 1 ? 0 : c],
					   (*zeroPoint)[zeroPoint->size() == 1 ? 0 : c] });
		tensors.emplace_back(std::move(values));
	}
	return tensors;
}

} /* namespace nvdla::tools */

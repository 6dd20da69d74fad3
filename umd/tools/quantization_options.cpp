/* SPDX-License-Identifier: MIT */
#include "quantization_options.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/io/number_list.h"

namespace nvdla::tools
{

namespace
{

/* Parses the value that an option has for tensor \a index: numbers, separated by commas. Returns
 * \a fallback if the option was given for fewer tensors. */
template<typename T>
Result<std::vector<T>> parseList(const char *name, const std::vector<std::string> &given,
				 size_t index, T fallback)
{
	if (index >= given.size())
		return std::vector<T>{ fallback };

	auto numbers = parseNumbers<T>(given[index], ',');
	if (!numbers)
		return fail(ErrorCode::InvalidArgument, name, given[index],
			    "must be a number, or one for each channel: a,b,c");
	return std::move(*numbers);
}

} /* namespace */

Result<std::vector<TensorQuantization>> QuantizationOptions::parse(const char *name) const
{
	std::vector<TensorQuantization> tensors;

	for (size_t i = 0; i < std::max(scales.size(), zeroPoints.size()); i++) {
		auto scale = parseList<double>(name, scales, i, 1.0);
		if (!scale)
			return forward(scale);
		auto zeroPoint = parseList<int32_t>(name, zeroPoints, i, 0);
		if (!zeroPoint)
			return forward(zeroPoint);
		const size_t channels = std::max(scale->size(), zeroPoint->size());
		if ((scale->size() != 1 && scale->size() != channels) ||
		    (zeroPoint->size() != 1 && zeroPoint->size() != channels))
			return fail(ErrorCode::InvalidArgument, name, scales[i],
				    fmt::format("{} scales and {} zero points", scale->size(),
						zeroPoint->size()));
		std::vector<Quantization> values;
		for (size_t c = 0; c < channels; c++)
			values.push_back({ (*scale)[scale->size() == 1 ? 0 : c],
					   (*zeroPoint)[zeroPoint->size() == 1 ? 0 : c] });
		tensors.emplace_back(std::move(values));
	}
	return tensors;
}

} /* namespace nvdla::tools */

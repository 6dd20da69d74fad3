/* SPDX-License-Identifier: MIT */
#include <nvdla/quantization.h>

#include <algorithm>

#include <fmt/core.h>

#include "invalid.h"

namespace nvdla
{

namespace
{

} /* namespace */

Result<Quantization> quantizationOf(double low, double high, DataType type, ZeroPoint zeroPoint)
{
	constexpr const char *what = "quantize range";

	if (type != DataType::Int8 && type != DataType::Int16)
		return invalid(what, "type", fmt::format("{} is no integer", dataTypeName(type)));
	if (!(low <= high) || !std::isfinite(high - low) || (low == 0 && high == 0))
		return invalid(what, "range", fmt::format("{} to {} is no range", low, high));

	const IntegerLimits limits = integerLimits(type);
	if (zeroPoint == ZeroPoint::Zero)
		return Quantization{ std::max(std::fabs(low), std::fabs(high)) /
					     static_cast<double>(limits.highest),
				     0 };

	low = std::min(low, 0.0);
	high = std::max(high, 0.0);
	const double scale = (high - low) / static_cast<double>(limits.highest - limits.lowest);
	const int64_t zero = limits.saturate(static_cast<double>(limits.lowest) - low / scale);
	return Quantization{ scale, static_cast<int32_t>(zero) };
}

} /* namespace nvdla */

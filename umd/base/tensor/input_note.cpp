/* SPDX-License-Identifier: MIT */
#include "input_note.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/core.h>

#include "base/io/printable.h"

namespace nvdla
{

namespace
{

/* Returns the number of NaNs: numbers whose bits, without the sign bit, are above those of
 * infinity. */
template<typename Bits>
size_t countAbove(Bits infinity, std::span<const std::byte> data)
{
	size_t count = 0;

	for (size_t at = 0; at + sizeof(Bits) <= data.size(); at += sizeof(Bits)) {
		Bits bits;
		std::memcpy(&bits, data.data() + at, sizeof(bits));
		count += static_cast<Bits>(bits << 1) > static_cast<Bits>(infinity << 1);
	}
	return count;
}

std::string nanNote(const TensorDesc &input, DataType type, std::span<const std::byte> data)
{
	const size_t count = type == DataType::Float  ? countAbove<uint32_t>(0x7f800000, data)
			     : type == DataType::Half ? countAbove<uint16_t>(0x7c00, data)
						      : 0;

	if (!count)
		return {};
	const bool keepsThem = input.type == DataType::Float || input.type == DataType::Half;
	return fmt::format("input '{}' has {} NaN{}{}", printable(input.name), count,
			   count == 1 ? "" : "s", keepsThem ? "" : ": the network gets 0 instead");
}

/* Range of the real numbers that the elements of an input can represent. */
struct Range {
	double low = std::numeric_limits<double>::infinity();
	double high = -std::numeric_limits<double>::infinity();
	double step = 0; /* largest distance between neighbouring numbers */
};

/* Returns the range of all channels together, from the lowest number to the highest. */
Range rangeOf(const TensorDesc &input)
{
	Range range;

	for (uint32_t c = 0; c < input.c; c++) {
		const auto [scale, zeroPoint] = input.quantization.channel(c);
		const auto [lowest, highest] = input.limits(c);
		range.low = std::min(range.low, scale * static_cast<double>(lowest - zeroPoint));
		range.high = std::max(range.high, scale * static_cast<double>(highest - zeroPoint));
		range.step = std::max(range.step, scale);
	}
	return range;
}

size_t countOutside(double low, double high, std::span<const std::byte> floats)
{
	size_t count = 0;

	for (size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float)) {
		float number;
		std::memcpy(&number, floats.data() + at, sizeof(number));
		count += number < low || number > high;
	}
	return count;
}

std::string clippedNote(const TensorDesc &input, DataType type, std::span<const std::byte> data)
{
	const bool isQuantized = input.type == DataType::Int8 || input.type == DataType::Int16 ||
				 input.type == DataType::UInt8;
	const bool areNumbers = type == DataType::Float || type == DataType::Half ||
				type == DataType::Int32 || type == DataType::Int64;

	if (!isQuantized || !areNumbers)
		return {};
	std::vector<float> converted;
	if (type != DataType::Float) {
		converted = elementsToFloat(type, data);
		data = std::as_bytes(std::span(converted));
	}
	/* Tolerate numbers up to one step outside, a usual error of quantization: 1 becomes 127 /
	 * 128. */
	const Range range = rangeOf(input);
	const size_t count = countOutside(range.low - range.step, range.high + range.step, data);
	if (!count)
		return {};
	return fmt::format("{} of {} numbers of input '{}' {} outside {:.4g} to {:.4g} and {} "
			   "clipped",
			   count, data.size() / sizeof(float), printable(input.name),
			   count == 1 ? "is" : "are", range.low, range.high,
			   count == 1 ? "was" : "were");
}

} /* namespace */

std::string inputNote(const TensorDesc &input, DataType type, std::span<const std::byte> data)
{
	const std::string nans = nanNote(input, type, data);
	const std::string clipped = clippedNote(input, type, data);

	return nans.empty() || clipped.empty() ? nans + clipped : nans + "; " + clipped;
}

} /* namespace nvdla */

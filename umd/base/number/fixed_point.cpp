/* SPDX-License-Identifier: MIT */
#include <nvdla/fixed_point.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

/* Largest useful shift: with a larger one, every result is 0 or a limit of the type. */
constexpr uint32_t maxShift = 47;

tl::unexpected<Error> bad(const char *what, std::string why)
{
	return fail(ErrorCode::InvalidArgument, what, "", std::move(why));
}

Result<uint32_t> shiftDown(const char *what, const FixedFormat &input, const FixedFormat &weights,
			   uint32_t truncate, const FixedFormat &to)
{
	const uint32_t sum = input.fractionBits + weights.fractionBits;

	if (to.fractionBits + truncate > sum)
		return bad(what, fmt::format("{} fraction bits, the sum has {} + {} - {}",
					     to.fractionBits, input.fractionBits,
					     weights.fractionBits, truncate));
	return sum - truncate - to.fractionBits;
}

int16_t elementAt(std::span<const std::byte> elements, DataType type, size_t index)
{
	if (type == DataType::Int8)
		return static_cast<int8_t>(elements[index]);
	int16_t value;
	std::memcpy(&value, &elements[index * sizeof(value)], sizeof(value));
	return value;
}

} /* namespace */

Result<FixedFormat> fixedFormatOf(double low, double high, DataType container)
{
	const FixedFormat whole{ container, 0 };
	constexpr int maxFractionBits = 30;
	auto holds = [&](int bits) {
		const IntegerLimits limits = integerLimits(container);
		return roundReal(std::ldexp(low, bits)) >= static_cast<double>(limits.lowest) &&
		       roundReal(std::ldexp(high, bits)) <= static_cast<double>(limits.highest);
	};

	if (container != DataType::Int8 && container != DataType::Int16)
		return bad("choose fixed-point format",
			   fmt::format("{} is no container", dataTypeName(container)));
	if (!(low <= high) || !holds(0))
		return bad("choose fixed-point format",
			   fmt::format("{} to {} does not fit Q{}.0", low, high, whole.bits()));
	int bits = 0;
	while (bits < maxFractionBits && holds(bits + 1))
		bits++;
	return FixedFormat{ container, static_cast<uint32_t>(bits) };
}

int16_t toFixed(double real, const FixedFormat &format, Rounding rounding)
{
	return static_cast<int16_t>(
		integerLimits(format.container)
			.saturate(std::ldexp(real, static_cast<int>(format.fractionBits)),
				  rounding));
}

double fromFixed(int16_t value, const FixedFormat &format)
{
	return std::ldexp(value, -static_cast<int>(format.fractionBits));
}

int16_t convertFixed(int16_t value, const FixedFormat &from, const FixedFormat &to,
		     Rounding rounding)
{
	const IntegerLimits limits = integerLimits(to.container);
	int64_t converted;

	if (to.fractionBits >= from.fractionBits)
		converted = int64_t{ value }
			    << std::min(to.fractionBits - from.fractionBits, maxShift);
	else
		converted = shiftRight(
			value, std::min(from.fractionBits - to.fractionBits, maxShift), rounding);
	return static_cast<int16_t>(limits.saturate(converted));
}

std::vector<std::byte> convertFixed(std::span<const std::byte> elements, const FixedFormat &from,
				    const FixedFormat &to, Rounding rounding)
{
	const size_t count = elements.size() / elementBytes(from.container);
	const size_t bytes = elementBytes(to.container);
	std::vector<std::byte> converted(count * bytes);

	for (size_t i = 0; i < count; i++) {
		const int16_t value =
			convertFixed(elementAt(elements, from.container, i), from, to, rounding);
		/* The host is little-endian, so the first byte of value is all of an Int8. */
		std::memcpy(&converted[i * bytes], &value, bytes);
	}
	return converted;
}

uint32_t accumulationBits(uint64_t additions)
{
	return additions <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(additions - 1));
}

Result<HeadRoom> accumulatorHeadRoom(const FixedFormat &input, const FixedFormat &weights,
				     uint64_t additions, uint32_t accumulatorBits)
{
	constexpr const char *what = "check accumulator";
	const uint32_t product = input.bits() + weights.bits();

	if (accumulatorBits < product + 1)
		return bad(what, fmt::format("{} bits do not hold a product of {} and a sign",
					     accumulatorBits, product));

	HeadRoom room{ accumulatorBits - 1 - product, accumulationBits(additions), input, weights };
	if (room.enough())
		return room;

	const uint32_t lack = room.needed - room.available;
	const uint32_t fromInput = (lack + 1) / 2;
	const uint32_t fromWeights = lack / 2;
	if (fromInput > input.fractionBits || fromWeights > weights.fractionBits)
		return fail(ErrorCode::Unsupported, what, "",
			    fmt::format("{} bits lack, the operands have {} and {} fraction bits",
					lack, input.fractionBits, weights.fractionBits));
	room.input.fractionBits -= fromInput;
	room.weights.fractionBits -= fromWeights;
	return room;
}

Result<uint32_t> biasPreShift(const FixedFormat &input, const FixedFormat &weights,
			      const FixedFormat &bias, uint32_t accumulatorTruncate)
{
	return shiftDown("shift bias", input, weights, accumulatorTruncate, bias);
}

Result<uint32_t> outputShift(const FixedFormat &input, const FixedFormat &weights,
			     const FixedFormat &output, uint32_t accumulatorTruncate)
{
	return shiftDown("shift output", input, weights, accumulatorTruncate, output);
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "host_tensor.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

/* The core has no uint8: an element of uint8 is stored as the int8 that is less by this number. */
constexpr int unsignedOffset = 128;

template<typename T>
T elementAt(std::span<const std::byte> bytes, size_t index)
{
	T element;

	std::memcpy(&element, &bytes[index * sizeof(T)], sizeof(T));
	return element;
}

/* Converts each element to another type: adds \a offset, and saturates. */
template<typename To, typename From>
void shift(std::span<const std::byte> from, std::span<std::byte> to, int offset)
{
	for (size_t i = 0; i < from.size() / sizeof(From); i++) {
		const int value = elementAt<From>(from, i) + offset;
		const auto element = static_cast<To>(std::clamp<int>(
			value, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
		std::memcpy(&to[i * sizeof(To)], &element, sizeof(To));
	}
}

/* Returns whether elements of a type are passed to the device as integers. Elements of other types
 * count as real numbers, which are converted. */
bool isSmallInteger(DataType type)
{
	return type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16;
}

Result<void> checkHost(const TensorDesc &desc, const HostTensor &tensor)
{
	const bool narrow = tensor.type == DataType::Int8 || tensor.type == DataType::UInt8;
	const bool belongs = desc.type == tensor.type || !isSmallInteger(tensor.type) ||
			     (narrow && desc.type != DataType::Half);
	const uint64_t wanted = desc.elements() * elementBytes(tensor.type);

	if (!belongs)
		return fail(ErrorCode::Unsupported, "move tensor", desc.describe(),
			    "the framework's tensor has elements of another type");
	if (tensor.bytes.size() != wanted)
		return fail(ErrorCode::InvalidArgument, "move tensor", desc.describe(),
			    fmt::format("the framework's tensor has {} bytes, {} are needed",
					tensor.bytes.size(), wanted));
	return {};
}

/* Converts a framework's integers of 8 bits to integers of another \a type on the device. */
std::vector<std::byte> integersFromHost(DataType type, const HostTensor &from)
{
	std::vector<std::byte> to(from.bytes.size() * elementBytes(type));

	if (from.type == DataType::UInt8 && type == DataType::Int8)
		shift<int8_t, uint8_t>(from.bytes, to, -unsignedOffset);
	else if (from.type == DataType::UInt8)
		shift<int16_t, uint8_t>(from.bytes, to, -unsignedOffset);
	else
		shift<int16_t, int8_t>(from.bytes, to, 0);
	return to;
}

void integersToHost(DataType type, std::span<const std::byte> from, const HostTensor &to)
{
	if (to.type == DataType::UInt8 && type == DataType::Int8)
		shift<uint8_t, int8_t>(from, to.bytes, unsignedOffset);
	else if (to.type == DataType::UInt8)
		shift<uint8_t, int16_t>(from, to.bytes, unsignedOffset);
	else
		shift<int8_t, int16_t>(from, to.bytes, 0);
}

} /* namespace */

Result<void> packHost(const TensorDesc &desc, ElementOrder order, const HostTensor &from,
		      std::span<std::byte> tensor)
{
	if (auto checked = checkHost(desc, from); !checked)
		return checked;
	if (desc.type == from.type)
		return packElements(desc, from.bytes, tensor, order);
	if (!isSmallInteger(from.type))
		return packFloat(desc, elementsToFloat(from.type, from.bytes), tensor, order);
	return packElements(desc, integersFromHost(desc.type, from), tensor, order);
}

/* Makes a trial: packs elements that contain their own index, one byte of the index at a time, and
 * checks that packing keeps their order. */
bool liesAlike(const TensorDesc &desc, ElementOrder order, DataType type)
{
	const size_t bytes = elementBytes(type);
	const uint64_t count = desc.elements();
	std::vector<std::byte> elements(count * bytes), tensor(desc.size);

	if (desc.type != type || tensor.size() < elements.size())
		return false;
	for (unsigned shift = 0; shift == 0 || (count - 1) >> shift; shift += CHAR_BIT) {
		for (uint64_t i = 0; i < count; i++)
			elements[i * bytes] = static_cast<std::byte>(i >> shift);
		if (!packElements(desc, elements, tensor, order) ||
		    !std::equal(elements.begin(), elements.end(), tensor.begin()))
			return false;
	}
	return true;
}

Result<void> unpackHost(const TensorDesc &desc, ElementOrder order,
			std::span<const std::byte> tensor, const HostTensor &to)
{
	if (auto checked = checkHost(desc, to); !checked)
		return checked;
	if (desc.type == to.type)
		return unpackElements(desc, tensor, to.bytes, order);
	if (isSmallInteger(to.type)) {
		auto elements = unpackElements(desc, tensor, order);
		if (!elements)
			return forward(elements);
		integersToHost(desc.type, *elements, to);
		return {};
	}
	auto values = unpackFloat(desc, tensor, order);
	if (!values)
		return forward(values);
	const std::vector<std::byte> elements = elementsFromFloat(to.type, *values);
	std::memcpy(to.bytes.data(), elements.data(), to.bytes.size());
	return {};
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "host_tensor.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/core.h>

namespace nvdla::plugin
{

namespace
{

/* What uint8 is more than the int8 that stands for it. */
constexpr int unsignedOffset = 128;

template<typename T>
T load(std::span<const std::byte> bytes, size_t index)
{
	T element;

	std::memcpy(&element, &bytes[index * sizeof(T)], sizeof(T));
	return element;
}

/* Each element with \a offset added, saturated. */
template<typename To, typename From>
void convert(std::span<const std::byte> from, std::span<std::byte> to, int offset)
{
	for (size_t i = 0; i < from.size() / sizeof(From); i++) {
		const int value = load<From>(from, i) + offset;
		const auto element = static_cast<To>(std::clamp<int>(
			value, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
		std::memcpy(&to[i * sizeof(To)], &element, sizeof(To));
	}
}

/* The types whose elements have the same bytes. */
bool areSame(DataType device, HostType host)
{
	return (device == DataType::Half && host == HostType::Float16) ||
	       (device == DataType::Int8 && host == HostType::Int8) ||
	       (device == DataType::Int16 && host == HostType::Int16);
}

bool isReal(HostType type)
{
	return type == HostType::Float32 || type == HostType::Float16;
}

std::vector<float> floats(const HostTensor &tensor)
{
	if (tensor.type == HostType::Float16)
		return elementsToFloat(DataType::Half, tensor.bytes);
	std::vector<float> values(tensor.bytes.size() / sizeof(float));
	std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
	return values;
}

Result<void> check(const TensorDesc &desc, const HostTensor &tensor)
{
	const bool narrow = tensor.type == HostType::Int8 || tensor.type == HostType::UInt8;
	const bool belongs = areSame(desc.type, tensor.type) || isReal(tensor.type) ||
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

/* Integers of 8 bits to those that stand for them on the device. */
std::vector<std::byte> integersFromHost(DataType type, const HostTensor &from)
{
	std::vector<std::byte> to(from.bytes.size() * nvdla::elementBytes(type));

	if (from.type == HostType::UInt8 && type == DataType::Int8)
		convert<int8_t, uint8_t>(from.bytes, to, -unsignedOffset);
	else if (from.type == HostType::UInt8)
		convert<int16_t, uint8_t>(from.bytes, to, -unsignedOffset);
	else
		convert<int16_t, int8_t>(from.bytes, to, 0);
	return to;
}

void integersToHost(DataType type, std::span<const std::byte> from, const HostTensor &to)
{
	if (to.type == HostType::UInt8 && type == DataType::Int8)
		convert<uint8_t, int8_t>(from, to.bytes, unsignedOffset);
	else if (to.type == HostType::UInt8)
		convert<uint8_t, int16_t>(from, to.bytes, unsignedOffset);
	else
		convert<int8_t, int16_t>(from, to.bytes, 0);
}

} /* namespace */

size_t elementBytes(HostType type)
{
	switch (type) {
	case HostType::Float32:
		return 4;
	case HostType::Float16:
	case HostType::Int16:
		return 2;
	case HostType::Int8:
	case HostType::UInt8:
		break;
	}
	return 1;
}

Result<void> pack(const TensorDesc &desc, ElementOrder order, const HostTensor &from,
		  std::span<std::byte> tensor)
{
	if (auto checked = check(desc, from); !checked)
		return checked;
	if (areSame(desc.type, from.type))
		return packElements(desc, from.bytes, tensor, order);
	if (isReal(from.type))
		return packFloat(desc, floats(from), tensor, order);
	return packElements(desc, integersFromHost(desc.type, from), tensor, order);
}

/* A layout moves elements. It is found by moving the bytes of their numbers, one for each element.
 */
bool liesAlike(const TensorDesc &desc, ElementOrder order, HostType type)
{
	const size_t bytes = elementBytes(type);
	const uint64_t count = desc.elements();
	std::vector<std::byte> elements(count * bytes), tensor(desc.size);

	if (!areSame(desc.type, type) || tensor.size() < elements.size())
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

Result<void> unpack(const TensorDesc &desc, ElementOrder order, std::span<const std::byte> tensor,
		    const HostTensor &to)
{
	if (auto checked = check(desc, to); !checked)
		return checked;
	if (areSame(desc.type, to.type))
		return unpackElements(desc, tensor, to.bytes, order);
	if (!isReal(to.type)) {
		auto elements = unpackElements(desc, tensor, order);
		if (!elements)
			return forward(elements);
		integersToHost(desc.type, *elements, to);
		return {};
	}
	auto values = unpackFloat(desc, tensor, order);
	if (!values)
		return forward(values);
	if (to.type == HostType::Float32) {
		std::memcpy(to.bytes.data(), values->data(), to.bytes.size());
	} else {
		const std::vector<std::byte> halves = elementsFromFloat(DataType::Half, *values);
		std::memcpy(to.bytes.data(), halves.data(), to.bytes.size());
	}
	return {};
}

} /* namespace nvdla::plugin */

/* SPDX-License-Identifier: MIT */
/*
 * Elements from and to numbers.
 */
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <nvdla/half.h>
#include <nvdla/tensor.h>

namespace nvdla
{

namespace
{

template<typename T>
T saturate(float value)
{
	constexpr float lowest = std::numeric_limits<T>::min();
	constexpr float highest = std::numeric_limits<T>::max();

	if (std::isnan(value))
		return 0;
	return static_cast<T>(std::clamp(std::round(value), lowest, highest));
}

} /* namespace */

std::vector<std::byte> elementsFromFloat(DataType type, std::span<const float> values)
{
	const size_t bytes = elementBytes(type);
	std::vector<std::byte> elements(values.size() * bytes);
	std::byte *to = elements.data();

	for (float value : values) {
		switch (type) {
		case DataType::Int8: {
			const int8_t element = saturate<int8_t>(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Int16: {
			const int16_t element = saturate<int16_t>(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Half: {
			const uint16_t element = floatToHalf(value);
			std::memcpy(to, &element, sizeof(element));
			break;
		}
		case DataType::Float:
			std::memcpy(to, &value, sizeof(value));
			break;
		case DataType::Unknown:
			break;
		}
		to += bytes;
	}
	return elements;
}

std::vector<float> elementsToFloat(DataType type, std::span<const std::byte> elements)
{
	const size_t bytes = elementBytes(type);
	std::vector<float> values(bytes ? elements.size() / bytes : 0);
	const std::byte *from = elements.data();

	for (float &value : values) {
		if (type == DataType::Int8) {
			value = static_cast<float>(static_cast<int8_t>(*from));
		} else if (type == DataType::Float) {
			std::memcpy(&value, from, sizeof(value));
		} else {
			uint16_t raw;
			std::memcpy(&raw, from, sizeof(raw));
			value = type == DataType::Half
					? halfToFloat(raw)
					: static_cast<float>(static_cast<int16_t>(raw));
		}
		from += bytes;
	}
	return values;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace nvdla
{

/** \brief Reads values one after the other from a little-endian file; it does not work on
 * big-endian hosts */
class ByteReader
{
public:
	explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

	template<typename T>
	std::optional<T> take()
	{
		T value;

		if (bytes_.size() < sizeof(T))
			return std::nullopt;
		std::memcpy(&value, bytes_.data(), sizeof(T));
		bytes_ = bytes_.subspan(sizeof(T));
		return value;
	}

	std::optional<std::span<const std::byte>> take(size_t count)
	{
		if (bytes_.size() < count)
			return std::nullopt;
		const auto front = bytes_.first(count);
		bytes_ = bytes_.subspan(count);
		return front;
	}

	std::span<const std::byte> rest() const { return bytes_; }

private:
	std::span<const std::byte> bytes_;
};

} /* namespace nvdla */

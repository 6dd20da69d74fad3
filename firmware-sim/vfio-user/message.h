/* SPDX-License-Identifier: MIT */
/*
 * A protocol message, and functions to read and build its parts.
 */
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "unique_fd.h"
#include "wire.h"

namespace nvdla::sim::vfiouser
{

using Bytes = std::vector<std::byte>;

/** \brief A received message; owns the file descriptors that came with it */
struct Message {
	wire::Header header = {};
	Bytes payload;
	std::vector<UniqueFd> fds;

	wire::Command command() const { return static_cast<wire::Command>(header.command); }
};

/** \return a \a T from the start of \a bytes; nothing if there are not enough bytes */
template<typename T>
std::optional<T> parse(std::span<const std::byte> bytes)
{
	static_assert(std::is_trivially_copyable_v<T>);
	if (bytes.size() < sizeof(T))
		return std::nullopt;
	T value;
	std::memcpy(&value, bytes.data(), sizeof(T));
	return value;
}

/** \brief Append the bytes of \a value to \a bytes */
template<typename T>
void append(Bytes &bytes, const T &value)
{
	static_assert(std::is_trivially_copyable_v<T>);
	const size_t at = bytes.size();
	bytes.resize(at + sizeof(T));
	std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/** \return a whole message: header and \a payload */
inline Bytes encode(uint16_t id, uint16_t command, uint32_t flags, uint32_t error,
		    std::span<const std::byte> payload)
{
	Bytes bytes;
	bytes.reserve(sizeof(wire::Header) + payload.size());
	append(bytes, wire::Header{ id, command,
				    static_cast<uint32_t>(sizeof(wire::Header) + payload.size()),
				    flags, error });
	bytes.insert(bytes.end(), payload.begin(), payload.end());
	return bytes;
}

/** \return true if a message can begin with \a header; if not, the stream cannot be read on */
inline bool headerValid(const wire::Header &header)
{
	const uint32_t type = header.flags & wire::kTypeMask;
	return header.size >= sizeof(wire::Header) && header.size <= wire::kMaxMessage &&
	       (type == wire::kTypeCommand || type == wire::kTypeReply);
}

} /* namespace nvdla::sim::vfiouser */

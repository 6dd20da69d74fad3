/* SPDX-License-Identifier: MIT */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nvdla::compiler
{

/** \brief Bytes that nothing changes, so that copies share them */
class SharedBytes : public std::span<const std::byte>
{
public:
	SharedBytes() = default;
	SharedBytes(std::vector<std::byte> bytes)
		: owner_(std::make_shared<const std::vector<std::byte>>(std::move(bytes)))
	{
		span::operator=(*owner_);
	}
	/* Not movable: a move would leave behind a span without the owner of its bytes. */
	SharedBytes(const SharedBytes &) = default;
	SharedBytes &operator=(const SharedBytes &) = default;
	bool operator==(const SharedBytes &o) const { return std::ranges::equal(*this, o); }

private:
	std::shared_ptr<const std::vector<std::byte>> owner_;
};

/** \return the low \a each bytes of each number, in little endian, which is the host's order */
template<typename Numbers>
std::vector<std::byte> lowBytes(const Numbers &numbers, size_t each)
{
	std::vector<std::byte> bytes(static_cast<size_t>(numbers.size()) * each);
	size_t at = 0;

	for (const auto &number : numbers) {
		std::memcpy(&bytes[at], &number, each);
		at += each;
	}
	return bytes;
}

} /* namespace nvdla::compiler */

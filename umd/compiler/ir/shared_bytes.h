/* SPDX-License-Identifier: MIT */
#pragma once

#include <algorithm>
#include <cstddef>
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

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
/* Copies of data that determine sizes, counts and addresses. */
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nvdla::sim
{

/**
 * \brief View of a ControlData: bytes that cannot change while they are used
 *
 * A guest or another engine may write to memory while an operation reads it. Functions whose input
 * determines sizes, counts or addresses take this type, so that such a value is the same at each
 * read.
 */
class ControlView
{
public:
	ControlView() = default;

	const std::byte *data() const { return bytes_.data(); }
	size_t size() const { return bytes_.size(); }
	bool empty() const { return bytes_.empty(); }
	const std::byte &operator[](size_t i) const { return bytes_[i]; }
	auto begin() const { return bytes_.begin(); }
	auto end() const { return bytes_.end(); }
	ControlView subspan(size_t offset) const { return ControlView(bytes_.subspan(offset)); }

private:
	friend class ControlData;

	explicit ControlView(std::span<const std::byte> bytes) : bytes_(bytes) {}

	std::span<const std::byte> bytes_;
};

/** \brief A copy of control data, made once and read only afterwards */
class ControlData
{
public:
	/** \brief Copy \a bytes, which may be a view of memory */
	void copy(std::span<const std::byte> bytes) { bytes_.assign(bytes.begin(), bytes.end()); }

	/** \brief Copy from another ControlData */
	void copy(ControlView other) { copy(other.bytes_); }

	/** \brief Makes the copy \a size zero bytes \return these bytes, for a read to fill */
	std::span<std::byte> clear(size_t size)
	{
		bytes_.assign(size, std::byte{ 0 });
		return bytes_;
	}

	/** \return the copy, valid until the next copy() or clear() */
	ControlView view() const { return ControlView(bytes_); }

private:
	std::vector<std::byte> bytes_;
};

} /* namespace nvdla::sim */

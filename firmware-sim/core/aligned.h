/* SPDX-License-Identifier: MIT */
/*
 * Memory aligned to the host's cache lines.
 *
 * The heap aligns to 16 bytes only, so an access of 64 bytes might span two cache lines.
 */
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace nvdla::sim
{

/** \brief Alignment in bytes: a cache line of the host, or several */
inline constexpr size_t kLineBytes = 64;

/** \brief Allocator of memory aligned to a cache line */
template<typename T>
struct LineAllocator {
	using value_type = T;

	LineAllocator() = default;
	template<typename Other>
	LineAllocator(const LineAllocator<Other> &)
	{
	}

	T *allocate(size_t count)
	{
		return static_cast<T *>(
			::operator new (count * sizeof(T), std::align_val_t{ kLineBytes }));
	}
	void deallocate(T *first, size_t)
	{
		::operator delete (first, std::align_val_t{ kLineBytes });
	}

	bool operator==(const LineAllocator &) const = default;
};

/** \brief Bytes aligned to a cache line */
using LineVector = std::vector<std::byte, LineAllocator<std::byte>>;

/** \brief Frees memory of LineAllocator */
struct LineDeleter {
	void operator()(std::byte *first) const { LineAllocator<std::byte>().deallocate(first, 0); }
};

/** \brief Uninitialized bytes aligned to a cache line */
using LineArray = std::unique_ptr<std::byte[], LineDeleter>;

/** \return \a count bytes with undefined contents */
inline LineArray newLineArray(size_t count)
{
	return LineArray(LineAllocator<std::byte>().allocate(count));
}

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Memory that begins with a line of the host's caches.
 *
 * What the heap gives begins a few bytes behind one, so that each of the widest vectors in it would
 * be in two lines.
 */
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace nvdla::sim
{

/** \brief Bytes of a line of the host's caches, or a multiple of them */
inline constexpr size_t kLineBytes = 64;

/** \brief Allocator of memory that begins with a line */
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

/** \brief Bytes that begin with a line */
using LineVector = std::vector<std::byte, LineAllocator<std::byte>>;

/** \brief Frees memory of LineAllocator */
struct LineDeleter {
	void operator()(std::byte *first) const { LineAllocator<std::byte>().deallocate(first, 0); }
};

/** \brief An array like this, but uninitialized */
using LineArray = std::unique_ptr<std::byte[], LineDeleter>;

/** \return \a count bytes, which may be anything */
inline LineArray newLineArray(size_t count)
{
	return LineArray(LineAllocator<std::byte>().allocate(count));
}

} /* namespace nvdla::sim */

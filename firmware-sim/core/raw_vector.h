/* SPDX-License-Identifier: MIT */
/*
 * Vectors whose new elements stay uninitialized.
 */
#pragma once

#include <memory>
#include <new>
#include <vector>

namespace nvdla::sim
{

/** \brief Allocator whose elements have undefined values until they get one */
template<typename T>
struct RawAllocator : std::allocator<T> {
	template<typename Other>
	struct rebind {
		using other = RawAllocator<Other>;
	};

	template<typename Element>
	void construct(Element *at)
	{
		::new (static_cast<void *>(at)) Element;
	}
};

/** \brief A vector whose resize() does not spend time on clearing */
template<typename T>
using RawVector = std::vector<T, RawAllocator<T>>;

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Places of elements in arrays whose axes differ in order or extent.
 */
#pragma once

#include <cstddef>
#include <vector>

#include "model.h"

namespace nvdla::compiler
{

/**
 * \brief Maps elements of one array to places in another one
 *
 * It has the place of the first element in the other array and, for each axis, the distance there
 * from an element to the next.
 */
struct Walk {
	Extents shape; /**< shape of the array whose elements are counted */
	std::vector<size_t> strides;
	size_t first = 0;

	/** \return place of the element with an index in the order of the shape */
	size_t operator()(size_t index) const
	{
		size_t at = first;

		for (size_t axis = shape.size(); axis-- > 0;) {
			at += index % shape[axis] * strides[axis];
			index /= shape[axis];
		}
		return at;
	}
};

/** \return strides of an array of that shape without gaps, the last axis innermost */
inline std::vector<size_t> packedStrides(const Extents &shape)
{
	std::vector<size_t> strides(shape.size(), 1);

	for (size_t axis = shape.size(); axis-- > 1;)
		strides[axis - 1] = strides[axis] * shape[axis];
	return strides;
}

/** \brief Axis i becomes axis order[i] of \a shape */
inline Walk transposed(const Extents &shape, const std::vector<uint32_t> &order)
{
	const std::vector<size_t> strides = packedStrides(shape);
	Walk walk;

	for (const uint32_t axis : order) {
		walk.shape.push_back(shape[axis]);
		walk.strides.push_back(strides[axis]);
	}
	return walk;
}

/** \brief Repeat axes of one element, and those that are missing in front, to the shape \a to */
inline Walk repeated(const Extents &shape, const Extents &to)
{
	const std::vector<size_t> own = packedStrides(shape);
	Walk walk{ to, std::vector<size_t>(to.size(), 0) };

	for (size_t axis = 0; axis < shape.size(); axis++) {
		if (shape[axis] != 1)
			walk.strides[to.size() - shape.size() + axis] = own[axis];
	}
	return walk;
}

} /* namespace nvdla::compiler */

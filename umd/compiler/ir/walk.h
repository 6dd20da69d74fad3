/* SPDX-License-Identifier: MIT */
/*
 * Indices of the same elements in arrays whose axes differ in order or extent.
 */
#pragma once

#include <cstddef>
#include <vector>

#include "model.h"

namespace nvdla::compiler
{

/** \brief Maps the index of an element in one array to its index in another array */
struct Walk {
	Extents shape;		     /**< shape of the first array */
	std::vector<size_t> strides; /**< by axis: step in the other array, in elements */
	size_t first = 0;	     /**< index of the element 0 in the other array */

	/** \return index in the other array of the element with \a index in the first one */
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

/** \return strides, in elements, of an array without gaps whose last axis is innermost */
inline std::vector<size_t> packedStrides(const Extents &shape)
{
	std::vector<size_t> strides(shape.size(), 1);

	for (size_t axis = shape.size(); axis-- > 1;)
		strides[axis - 1] = strides[axis] * shape[axis];
	return strides;
}

/** \return walk from a transposed array (axis i: axis order[i] of \a shape) to the original one */
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

/** \return walk from an array broadcast to shape \a to, to the original one of shape \a shape */
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

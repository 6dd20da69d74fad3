/* SPDX-License-Identifier: MIT */
#include "import.h"

#include <algorithm>
#include <cstring>

namespace nvdla::compiler
{

Value permuted(const Value &value, const std::vector<uint32_t> &order)
{
	const size_t axes = order.size();
	const size_t bytes = elementBytes(value.type);
	std::vector<uint64_t> strides(axes, 1);
	Value result = value;

	for (size_t axis = axes - 1; axis > 0; axis--)
		strides[axis - 1] = strides[axis] * value.shape[axis];
	for (size_t axis = 0; axis < axes; axis++) {
		result.shape[axis] = value.shape[order[axis]];
		if (order[axis] == value.quantizedAxis)
			result.quantizedAxis = static_cast<uint32_t>(axis);
	}

	std::vector<uint32_t> index(axes);
	for (size_t at = 0; at < value.data.size(); at += bytes) {
		uint64_t from = 0;
		for (size_t axis = 0; axis < axes; axis++)
			from += index[axis] * strides[order[axis]];
		std::memcpy(&result.data[at], &value.data[from * bytes], bytes);
		for (size_t axis = axes; axis-- > 0;) {
			if (++index[axis] < result.shape[axis])
				break;
			index[axis] = 0;
		}
	}
	return result;
}

} /* namespace nvdla::compiler */

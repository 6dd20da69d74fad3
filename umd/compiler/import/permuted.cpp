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

Value spreadKernels(const Value &kernels, uint32_t groups, op::Axes dilation, op::Axes size)
{
	const uint32_t each = kernels.shape[0], channels = kernels.shape[1];
	const size_t bytes = elementBytes(kernels.type);
	const int32_t zero = isFloat(kernels.type) ? 0 : kernels.quantization.channel(0).zeroPoint;
	Value result = kernels;
	size_t from = 0;

	result.shape = { each * groups, channels, size.y, size.x };
	result.data.assign(elementCount(result.shape) * bytes, static_cast<std::byte>(zero));
	for (uint32_t k = 0; k < each; k++) {
		for (uint32_t c = 0; c < channels; c++) {
			const uint32_t group = c / (channels / groups);
			const uint64_t plane = uint64_t{ group * each + k } * channels + c;
			for (uint32_t r = 0; r < kernels.shape[2]; r++) {
				for (uint32_t s = 0; s < kernels.shape[3]; s++) {
					const uint64_t line =
						plane * size.y + uint64_t{ r } * dilation.y;
					const uint64_t to =
						line * size.x + uint64_t{ s } * dilation.x;
					std::memcpy(&result.data[to * bytes], &kernels.data[from],
						    bytes);
					from += bytes;
				}
			}
		}
	}
	return result;
}

} /* namespace nvdla::compiler */

/* SPDX-License-Identifier: MIT */
#include "import.h"

#include <cstring>

namespace nvdla::compiler
{

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

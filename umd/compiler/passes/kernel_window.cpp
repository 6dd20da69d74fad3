/* SPDX-License-Identifier: MIT */
#include "kernel_window.h"

#include <algorithm>

namespace nvdla::compiler
{

Value inWindow(const Value &kernels, Window window, Window at)
{
	const size_t size = elementBytes(kernels.type);
	const Extents &shape = kernels.shape;
	const size_t kernel = size_t{ shape[1] } * window.lines * window.columns * size;
	Value wide = kernels;

	wide.shape = { shape[0], shape[1], window.lines, window.columns };
	wide.data.assign(shape[0] * kernel, std::byte{ 0 });
	for (uint32_t k = 0; k < shape[0] && !isFloat(kernels.type); k++)
		std::fill_n(&wide.data[k * kernel], kernel,
			    static_cast<std::byte>(kernels.quantization.channel(k).zeroPoint));
	for (size_t line = 0; line < size_t{ shape[0] } * shape[1] * shape[2]; line++) {
		const size_t to = line / shape[2] * window.lines + at.lines + line % shape[2];
		std::copy_n(&kernels.data[line * shape[3] * size], shape[3] * size,
			    &wide.data[(to * window.columns + at.columns) * size]);
	}
	return wide;
}

} /* namespace nvdla::compiler */

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

Value cutOf(const Value &kernels, Window window, Window at)
{
	const size_t size = elementBytes(kernels.type), columns = window.columns * size;
	const Extents &shape = kernels.shape;
	Value cut = kernels;

	cut.shape = { shape[0], shape[1], window.lines, window.columns };
	cut.data.resize(elementCount(cut.shape) * size);
	for (size_t line = 0; line < size_t{ shape[0] } * shape[1] * window.lines; line++) {
		const size_t from = line / window.lines * shape[2] + at.lines + line % window.lines;
		std::copy_n(&kernels.data[(from * shape[3] + at.columns) * size], columns,
			    &cut.data[line * columns]);
	}
	return cut;
}

} /* namespace nvdla::compiler */

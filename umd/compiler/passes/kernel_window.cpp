/* SPDX-License-Identifier: MIT */
#include "kernel_window.h"

#include <algorithm>

namespace nvdla::compiler
{

ConvolutionAxes::ConvolutionAxes(const Model &model, const Operator &operation,
				 const Convolution &conv)
{
	const Extents &in = model.values[operation.inputs[0]].shape;
	const Extents &out = model.values[operation.outputs[0]].shape;
	const Extents &kernels = model.values[operation.inputs[1]].shape;
	const op::Padding &padding = conv.padding;

	y = {
		in[1],		 out[1],      kernels[2],    conv.stride.y,
		conv.dilation.y, padding.top, padding.bottom
	};
	x = {
		in[2],		 out[2],       kernels[3],   conv.stride.x,
		conv.dilation.x, padding.left, padding.right
	};
}

Value onesOf(uint32_t channels, Window window, double worth)
{
	Value kernels;

	kernels.type = ElementType::Int8;
	kernels.shape = { channels, 1, window.lines, window.columns };
	kernels.data.assign(elementCount(kernels.shape), std::byte{ 1 });
	kernels.quantization = Quantization{ worth, 0 };
	kernels.isConstant = true;
	return kernels;
}

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

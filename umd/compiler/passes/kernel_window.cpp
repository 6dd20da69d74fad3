/* SPDX-License-Identifier: MIT */
#include "kernel_window.h"

namespace nvdla::compiler
{

WindowAxes::WindowAxes(const Model &model, const Operator &operation)
{
	const Extents &in = model.values[operation.inputs[0]].shape;
	const Extents &out = model.values[operation.outputs[0]].shape;
	const auto set = [&](const op::Axes &kernel, const op::Axes &dilation, const auto &kind) {
		const auto &[left, right, top, bottom] = kind.padding;
		y = { in[1], out[1], kernel.y, kind.stride.y, dilation.y, top, bottom };
		x = { in[2], out[2], kernel.x, kind.stride.x, dilation.x, left, right };
	};

	if (const auto *pool = std::get_if<Pool>(&operation.kind)) {
		set(pool->kernel, {}, *pool);
		return;
	}
	const Extents &kernels = model.values[operation.inputs[1]].shape;
	const op::Axes taps{ kernels[3], kernels[2] };
	if (const auto *conv = std::get_if<Convolution>(&operation.kind))
		set(taps, conv->dilation, *conv);
	else
		set(taps, {}, std::get<TransposedConvolution>(operation.kind));
}

Value onesOf(uint32_t channels, op::Axes window, double worth)
{
	Value kernels;

	kernels.type = ElementType::Int8;
	kernels.shape = { channels, 1, window.y, window.x };
	kernels.data.assign(elementCount(kernels.shape), std::byte{ 1 });
	kernels.quantization = Quantization{ worth, 0 };
	kernels.isConstant = true;
	return kernels;
}

Value inWindow(const Value &kernels, op::Axes window, Place at)
{
	const size_t size = elementBytes(kernels.type);
	const Extents &shape = kernels.shape;
	const size_t kernel = size_t{ shape[1] } * window.y * window.x * size;
	const auto first = std::max<int64_t>(at.column, 0);
	const auto last = std::min<int64_t>(at.column + shape[3], window.x);
	Value seen = kernels;

	seen.shape = { shape[0], shape[1], window.y, window.x };
	seen.data.assign(shape[0] * kernel, std::byte{ 0 });
	for (uint32_t k = 0; k < shape[0] && !isFloat(kernels.type); k++)
		std::fill_n(&seen.data[k * kernel], kernel,
			    static_cast<std::byte>(kernels.quantization.channel(k).zeroPoint));
	for (size_t to = 0; to < size_t{ shape[0] } * shape[1] * window.y; to++) {
		const int64_t line = static_cast<int64_t>(to % window.y) - at.line;
		if (line < 0 || line >= shape[2])
			continue;
		const size_t from = to / window.y * shape[2] + static_cast<size_t>(line);
		std::copy_n(
			&kernels.data[(from * shape[3] + static_cast<size_t>(first - at.column)) *
				      size],
			static_cast<size_t>(last - first) * size,
			&seen.data[(to * window.x + static_cast<size_t>(first)) * size]);
	}
	return seen;
}

} /* namespace nvdla::compiler */

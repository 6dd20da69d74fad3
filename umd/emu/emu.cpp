/* SPDX-License-Identifier: MIT */
#include "emu.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

constexpr const char *runningCpuOperation = "run CPU operation";

/* The cube as a tensor that ends where its memory does; FP16 has no scale. */
TensorDesc describe(const EmuBuffer &buffer, const char *name, size_t bytes,
		    const Quantization &quantization)
{
	TensorDesc desc;

	desc.name = name;
	desc.type = buffer.type;
	desc.c = buffer.c;
	desc.h = buffer.h;
	desc.w = buffer.w;
	desc.lineStride = buffer.lineStride;
	desc.surfaceStride = buffer.surfaceStride;
	desc.size = bytes;
	if (buffer.type != DataType::Half)
		desc.quantization = quantization;
	return desc;
}

void power(const EmuOperation &operation, std::vector<float> &values)
{
	for (float &value : values) {
		value = operation.shift + operation.scale * value;
		if (operation.power != 1.0f)
			value = std::pow(value, operation.power);
	}
}

/* Values are in C, H, W order, so the channels of a pixel are a plane apart. */
void softmax(std::vector<float> &values, size_t channels)
{
	const size_t plane = values.size() / channels;

	for (size_t pixel = 0; pixel < plane; pixel++) {
		float highest = values[pixel];
		for (size_t c = 1; c < channels; c++)
			highest = std::max(highest, values[pixel + c * plane]);

		float sum = 0.0f;
		for (size_t c = 0; c < channels; c++) {
			float &value = values[pixel + c * plane];
			value = std::exp(value - highest);
			sum += value;
		}
		for (size_t c = 0; c < channels; c++)
			values[pixel + c * plane] /= sum;
	}
}

Result<void> reshape(const TensorDesc &from, std::span<const std::byte> src, const TensorDesc &to,
		     std::span<std::byte> dst)
{
	if (from.type != to.type || from.elements() != to.elements())
		return fail(ErrorCode::InvalidFile, runningCpuOperation, "dimensions",
			    fmt::format("{} cannot become {}", from.describe(), to.describe()));
	auto elements = unpackElements(from, src, ElementOrder::Nhwc);
	if (!elements)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, elements.error().where,
			    elements.error().why);
	return overwriteElements(to, *elements, dst, ElementOrder::Nhwc);
}

} /* namespace */

Result<void> runEmu(const EmuOperation &operation, std::span<const std::byte> src,
		    std::span<std::byte> dst)
{
	const TensorDesc from =
		describe(operation.src, "source", src.size(), { operation.inScale });
	const TensorDesc to = describe(operation.dst, "destination", dst.size(),
				       { operation.outScale, operation.outZero });

	if (operation.type == EmuOpType::Reshape)
		return reshape(from, src, to, dst);
	if (from.c != to.c || from.h != to.h || from.w != to.w)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, "dimensions",
			    fmt::format("{} and {} differ", from.describe(), to.describe()));

	auto values = unpackFloat(from, src);
	if (!values)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, values.error().where,
			    values.error().why);

	if (operation.type == EmuOpType::Power)
		power(operation, *values);
	else
		softmax(*values, from.c);

	auto elements = elementsFromFloat(to, *values);
	if (!elements)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, elements.error().where,
			    elements.error().why);
	return overwriteElements(to, *elements, dst);
}

} /* namespace nvdla */

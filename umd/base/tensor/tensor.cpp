/* SPDX-License-Identifier: MIT */
#include <nvdla/tensor.h>

#include <cmath>

#include <fmt/ranges.h>
#include <nvdla/core_geometry.h>

#include "base/io/guarded.h"
#include "base/io/printable.h"
#include "layout.h"
#include "shape_text.h"

namespace nvdla
{

namespace
{

Result<void> checkQuantization(const TensorDesc &desc)
{
	const auto values = desc.quantization.values();
	auto bad = [&](std::string why) -> Result<void> {
		return fail(ErrorCode::InvalidArgument, "tensor " + desc.describe(), "quantization",
			    std::move(why));
	};

	if (values.empty())
		return {};
	if (desc.type != DataType::Int8 && desc.type != DataType::Int16 &&
	    desc.type != DataType::UInt8)
		return bad(fmt::format("{} elements have none", dataTypeName(desc.type)));
	if (values.size() != 1 && values.size() != desc.c)
		return bad(fmt::format("has {} values, must have 1 or one for each of {} channels",
				       values.size(), desc.c));
	for (uint32_t c = 0; c < values.size(); c++) {
		const auto [scale, zeroPoint] = values[c];
		const IntegerLimits limits = desc.limits(c);
		if (!(scale > 0) || !std::isfinite(scale))
			return bad(
				fmt::format("scale {} of channel {} must be positive", scale, c));
		if (zeroPoint < limits.lowest || zeroPoint > limits.highest)
			return bad(fmt::format("zero point {} of channel {} must be {} to {}",
					       zeroPoint, c, limits.lowest, limits.highest));
	}
	return {};
}

Result<void> checkSignature(const TensorDesc &desc)
{
	auto bad = [&](std::string why) -> Result<void> {
		return fail(ErrorCode::InvalidArgument, "tensor " + desc.describe(), "signature",
			    std::move(why));
	};
	uint64_t elements = 1;

	if (!desc.signature)
		return {};
	if (desc.signature->order > ElementOrder::Nhwc)
		return bad(fmt::format("order {} is not known",
				       static_cast<unsigned>(desc.signature->order)));
	if (const auto &pixels = desc.signature->pixels;
	    pixels &&
	    (!std::isfinite(pixels->normalize) || pixels->normalize == 0 ||
	     !std::ranges::all_of(pixels->mean, [](float mean) { return std::isfinite(mean); })))
		return bad("its conversion of pixels has a number that is not finite, or divides "
			   "by 0");
	if (desc.isOpen() && desc.format != PixelFormat::Plain)
		return bad("has an open axis, the tensor is not plain");
	for (const uint32_t length : desc.signature->shape) {
		if (length == openAxis)
			continue;
		if (length == 0 || elements > desc.elements() / length) {
			elements = 0;
			break;
		}
		elements *= length;
	}
	if (elements != desc.elements())
		return bad(fmt::format("shape {} has not {} elements", desc.signature->shape,
				       desc.elements()));
	return {};
}

} /* namespace */

size_t elementBytes(DataType type)
{
	switch (type) {
	case DataType::Int8:
	case DataType::UInt8:
	case DataType::Bool:
		return 1;
	case DataType::Int16:
	case DataType::Half:
		return 2;
	case DataType::Float:
	case DataType::Int32:
		return 4;
	case DataType::Int64:
		return 8;
	case DataType::Unknown:
		break;
	}
	return 0;
}

const char *dataTypeName(DataType type)
{
	switch (type) {
	case DataType::Int8:
		return "int8";
	case DataType::Int16:
		return "int16";
	case DataType::Half:
		return "fp16";
	case DataType::Float:
		return "fp32";
	case DataType::Int32:
		return "int32";
	case DataType::Int64:
		return "int64";
	case DataType::Bool:
		return "bool";
	case DataType::UInt8:
		return "uint8";
	case DataType::Unknown:
		break;
	}
	return "unknown";
}

std::string TensorDesc::describe() const
{
	const std::vector<uint32_t> shape =
		signature ? signature->shape : std::vector<uint32_t>{ n, c, h, w };
	std::string text = fmt::format("{} {} {}{}", printable(name), shapeText(shape),
				       isUnsigned ? "u" : "", dataTypeName(type));

	/* Leave out the pixel format of a model's input: the compiler chose the format, and the
	 * application need not know it. */
	if (!signature && pixelFormatInfo(format))
		text += " " + pixelFormatName(format);
	return text;
}

IntegerLimits TensorDesc::limits(uint32_t c) const
{
	const PixelFormatInfo *info = pixelFormatInfo(format);

	if (info && info->kind == PixelKind::Packed10)
		return { 0, (int64_t{ 1 } << PixelFormatInfo::packedBits(c)) - 1 };
	if (isUnsigned)
		return { 0, (int64_t{ 1 } << (8 * elementBytes(type))) - 1 };
	return integerLimits(type);
}

Result<void> TensorDesc::check() const
{
	return guarded("check", [&]() -> Result<void> {
		auto layout = Layout::of(*this);
		if (!layout)
			return forward(layout);
		return checkQuantization(*this).and_then([&] { return checkSignature(*this); });
	});
}

TensorDesc TensorDesc::packedFeature(std::string name, DataType type, uint32_t c, uint32_t h,
				     uint32_t w, PixelFormat format)
{
	const uint32_t bytes = atomBytes(format);
	const uint32_t atom = bytes / static_cast<uint32_t>(elementBytes(type));
	TensorDesc desc;

	desc.name = std::move(name);
	desc.type = type;
	desc.format = format;
	desc.c = c;
	desc.h = h;
	desc.w = w;
	desc.lineStride = w * bytes;
	desc.surfaceStride = h * desc.lineStride;
	desc.size = uint64_t{ desc.surfaceStride } * ((c + atom - 1) / atom);
	return desc;
}

TensorDesc TensorDesc::plain(std::string name, DataType type, const std::vector<uint32_t> &shape)
{
	TensorDesc desc;
	uint32_t *const axes[] = { &desc.n, &desc.c, &desc.h, &desc.w };

	for (size_t i = 0; i < shape.size(); i++)
		*axes[std::min(i, std::size(axes) - 1)] *= shape[i] == openAxis ? 1 : shape[i];
	desc.name = std::move(name);
	desc.type = type;
	desc.format = PixelFormat::Plain;
	desc.lineStride = desc.w * static_cast<uint32_t>(elementBytes(type));
	desc.surfaceStride = desc.h * desc.lineStride;
	desc.size = uint64_t{ desc.surfaceStride } * desc.c * desc.n;
	desc.signature = { shape, ElementOrder::Nchw, type == DataType::Int8 };
	return desc;
}

TensorDesc TensorDesc::image(std::string name, PixelFormat format, uint32_t h, uint32_t w)
{
	constexpr uint32_t alignment = 32;
	const PixelFormatInfo *info = pixelFormatInfo(format);
	TensorDesc desc;

	desc.name = std::move(name);
	desc.format = format;
	desc.h = h;
	desc.w = w;
	if (!info)
		return desc;
	desc.type = pixelElementType(*info);
	desc.c = info->channels;
	desc.lineStride = static_cast<uint32_t>(alignUp(w * info->pixelBytes(0), alignment));
	desc.size = uint64_t{ desc.lineStride } * h;
	if (info->planes == 2) {
		desc.surfaceStride = static_cast<uint32_t>(desc.size);
		desc.lineStrideUv =
			static_cast<uint32_t>(alignUp(w * info->pixelBytes(1), alignment));
		desc.size += uint64_t{ desc.lineStrideUv } * h;
	}
	return desc;
}

TensorDesc TensorDesc::planar(std::string name, DataType type, uint32_t c, uint32_t h, uint32_t w)
{
	constexpr uint32_t alignment = 64;
	TensorDesc desc;

	desc.name = std::move(name);
	desc.type = type;
	desc.format = type == DataType::Int8	? PixelFormat::R8
		      : type == DataType::Int16 ? PixelFormat::R16
						: PixelFormat::R16F;
	desc.c = c;
	desc.h = h;
	desc.w = w;
	desc.lineStride = static_cast<uint32_t>(alignUp(w * elementBytes(type), alignment));
	desc.surfaceStride = h * desc.lineStride;
	desc.size = uint64_t{ desc.surfaceStride } * c;
	return desc;
}

} /* namespace nvdla */

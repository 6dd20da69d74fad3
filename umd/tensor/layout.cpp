/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <fmt/format.h>

namespace nvdla
{

namespace
{

/* A dimension register holds 13 bits, size - 1. */
constexpr uint32_t maxDimension = 8192;
/* Keeps every product below in 64 bits; no device has a buffer this large. */
constexpr uint64_t maxTensorBytes = uint64_t{ 1 } << 40;

tl::unexpected<Error> bad(const TensorDesc &desc, const char *field, std::string why)
{
	return fail(ErrorCode::InvalidArgument, "tensor " + desc.describe(), field, std::move(why));
}

struct PixelLayout {
	PixelFormat format;
	uint32_t channels;
	uint32_t elementBytes;
	bool half;
};

constexpr PixelLayout pixelLayouts[] = {
	{ PixelFormat::R8, 1, 1, false },	    { PixelFormat::R16, 1, 2, false },
	{ PixelFormat::R16I, 1, 2, false },	    { PixelFormat::R16F, 1, 2, true },
	{ PixelFormat::A16B16G16R16, 4, 2, false }, { PixelFormat::A16B16G16R16F, 4, 2, true },
	{ PixelFormat::A8B8G8R8, 4, 1, false },
};

Result<Layout> featureLayout(const TensorDesc &desc)
{
	const uint32_t atomBytes = desc.format == PixelFormat::FeatureX8 ? 8 : 32;
	const uint32_t bytes = static_cast<uint32_t>(elementBytes(desc.type));

	return Layout{ atomBytes / bytes, atomBytes, bytes };
}

Result<Layout> pixelLayout(const TensorDesc &desc)
{
	for (const PixelLayout &pixel : pixelLayouts) {
		if (pixel.format != desc.format)
			continue;
		if (desc.c > pixel.channels)
			return bad(desc, "c",
				   fmt::format("a {} pixel has {} channels",
					       pixelFormatName(desc.format), pixel.channels));
		if (pixel.elementBytes != elementBytes(desc.type) ||
		    pixel.half != (desc.type == DataType::Half))
			return bad(desc, "data_type",
				   fmt::format("a {} pixel does not hold {}",
					       pixelFormatName(desc.format),
					       dataTypeName(desc.type)));
		return Layout{ pixel.channels, pixel.channels * pixel.elementBytes,
			       pixel.elementBytes };
	}
	return fail(ErrorCode::Unsupported, "tensor " + desc.describe(), "pixel_format",
		    "this layout is not among those that can be packed");
}

} /* namespace */

Result<Layout> Layout::of(const TensorDesc &desc)
{
	const struct {
		const char *name;
		uint32_t value;
	} dimensions[] = { { "n", desc.n }, { "c", desc.c }, { "h", desc.h }, { "w", desc.w } };

	for (const auto &dimension : dimensions) {
		if (dimension.value < 1 || dimension.value > maxDimension)
			return bad(desc, dimension.name,
				   fmt::format("is {}, must be 1 to {}", dimension.value,
					       maxDimension));
	}
	if (desc.type != DataType::Int8 && desc.type != DataType::Int16 &&
	    desc.type != DataType::Half)
		return fail(ErrorCode::Unsupported, "tensor " + desc.describe(), "data_type",
			    "the core works on int8, int16 and fp16");
	if (desc.size > maxTensorBytes)
		return bad(desc, "size", fmt::format("{} bytes is beyond any memory", desc.size));

	const bool feature =
		desc.format == PixelFormat::Feature || desc.format == PixelFormat::FeatureX8;
	auto layout = feature ? featureLayout(desc) : pixelLayout(desc);
	if (!layout)
		return layout;

	const uint64_t line = uint64_t{ desc.w } * layout->pixelBytes;
	if (desc.h > 1 && desc.lineStride < line)
		return bad(desc, "stride_1",
			   fmt::format("line stride {} is less than the {} bytes of a line",
				       desc.lineStride, line));

	const uint64_t surfaces = (desc.c + layout->atomChannels - 1) / layout->atomChannels;
	const uint64_t extent = (surfaces - 1) * desc.surfaceStride +
				uint64_t{ desc.h - 1 } * desc.lineStride + line;
	if (extent > desc.size / desc.n)
		return bad(desc, "size",
			   fmt::format("an image needs {} bytes, {} are there", extent,
				       desc.size / desc.n));
	return layout;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <algorithm>

#include <fmt/core.h>

#include "limits.h"

namespace nvdla
{

namespace
{

/* Largest size of a tensor. With it, no product below exceeds 64 bits; no device has so large a
 * buffer. */
constexpr uint64_t maxTensorBytes = uint64_t{ 1 } << 40;

tl::unexpected<Error> bad(const TensorDesc &desc, const char *field, std::string why)
{
	return fail(ErrorCode::InvalidArgument, "tensor " + desc.describe(), field, std::move(why));
}

Result<void> checkDimensions(const TensorDesc &desc)
{
	const struct {
		const char *name;
		uint32_t value;
	} dimensions[] = { { "n", desc.n }, { "c", desc.c }, { "h", desc.h }, { "w", desc.w } };

	const bool isPlain = desc.format == PixelFormat::Plain;

	for (const auto &dimension : dimensions) {
		if (dimension.value < 1 || (!isPlain && dimension.value > maxDimension))
			return bad(desc, dimension.name,
				   fmt::format("is {}, must be 1 to {}", dimension.value,
					       maxDimension));
	}
	if (isPlain && !elementBytes(desc.type))
		return fail(ErrorCode::Unsupported, "tensor " + desc.describe(), "data_type",
			    "is not known");
	if (!isPlain && desc.type != DataType::Int8 && desc.type != DataType::Int16 &&
	    desc.type != DataType::Half)
		return fail(ErrorCode::Unsupported, "tensor " + desc.describe(), "data_type",
			    "the core works on int8, int16 and fp16");
	/* With sizes up to this limit, products in later code do not overflow 64 bits. */
	const double bytes = 1.0 * desc.n * desc.c * desc.h * desc.w;
	if (desc.size > maxTensorBytes || (isPlain && bytes > static_cast<double>(maxTensorBytes)))
		return bad(desc, "size", fmt::format("{} bytes is beyond any memory", desc.size));
	return {};
}

} /* namespace */

Result<Layout> Layout::ofFeature(const TensorDesc &desc)
{
	const auto bytes = static_cast<uint32_t>(elementBytes(desc.type));
	const uint32_t atom =
		desc.format == PixelFormat::Plain ? bytes : nvdla::atomBytes(desc.format);

	return Layout(atom / bytes, atom, nullptr);
}

Result<Layout> Layout::ofPixels(const TensorDesc &desc)
{
	const PixelFormatInfo *info = pixelFormatInfo(desc.format);

	if (!info)
		return fail(ErrorCode::Unsupported, "tensor " + desc.describe(), "pixel_format",
			    "this layout is not among those that can be packed");
	if (desc.c > info->channels && info->channels > 1)
		return bad(desc, "c",
			   fmt::format("a {} pixel has {} channels", info->name, info->channels));
	if (desc.type != pixelElementType(*info))
		return bad(desc, "data_type",
			   fmt::format("a {} pixel does not hold {}", info->name,
				       dataTypeName(desc.type)));
	return Layout(info->channels, info->pixelBytes(), info);
}

Layout::Channel Layout::channel(const TensorDesc &desc, uint32_t c) const
{
	const auto bytes = static_cast<uint32_t>(elementBytes(desc.type));
	const uint64_t surface = uint64_t{ c / atomChannels_ } * desc.surfaceStride;
	const uint32_t inAtom = c % atomChannels_;

	if (!info_)
		return { surface, inAtom * bytes, desc.lineStride, atomBytes_, 0, 0 };

	const uint32_t place = info_->place[inAtom];
	if (packed())
		return { 0, 0, desc.lineStride, atomBytes_, place, PixelFormatInfo::packedBits(c) };
	if (twoPlanes() && c > 0)
		return { desc.surfaceStride,
			 (place - 1) * bytes,
			 desc.lineStrideUv,
			 info_->pixelBytes(1),
			 0,
			 0 };
	return { surface, place * bytes, desc.lineStride, atomBytes_, 0, 0 };
}

uint64_t Layout::extent(const TensorDesc &desc) const
{
	uint64_t end = 0;

	/* The last byte is in the surface of the last channel, or with two planes perhaps in the
	 * first channel's plane. */
	for (uint32_t c : { 0U, desc.c - 1 }) {
		const Channel place = channel(desc, c);
		end = std::max(end, place.surface + uint64_t{ desc.h - 1 } * place.lineStride +
					    uint64_t{ desc.w } * place.pixelStep);
	}
	return end;
}

Result<Layout> Layout::of(const TensorDesc &desc)
{
	auto checked = checkDimensions(desc);
	if (!checked)
		return forward(checked);

	const bool feature = isFeature(desc.format) || desc.format == PixelFormat::Plain;
	auto layout = feature ? ofFeature(desc) : ofPixels(desc);
	if (!layout)
		return layout;

	const struct {
		const char *field;
		Channel place;
	} lines[] = { { "stride_1", layout->channel(desc, 0) },
		      { "stride_3", layout->channel(desc, desc.c - 1) } };
	for (const auto &[field, place] : lines) {
		const uint64_t line = uint64_t{ desc.w } * place.pixelStep;
		if (desc.h > 1 && place.lineStride < line)
			return bad(desc, field,
				   fmt::format("line stride {} is less than the {} bytes of a line",
					       place.lineStride, line));
	}

	/* Refuse overlapping surfaces: with them, a small memory could have any number of
	 * elements. */
	const uint64_t stored = desc.elements() / desc.n * elementBytes(desc.type);
	if (feature && stored > desc.size / desc.n)
		return bad(desc, "stride_2",
			   fmt::format("surface stride {} lays surfaces over each other: {} bytes "
				       "of elements in {}",
				       desc.surfaceStride, stored, desc.size / desc.n));

	const uint64_t extent = layout->extent(desc);
	if (extent > desc.size / desc.n)
		return bad(desc, "size",
			   fmt::format("an image needs {} bytes, {} are there", extent,
				       desc.size / desc.n));
	return layout;
}

} /* namespace nvdla */

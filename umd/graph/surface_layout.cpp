/* SPDX-License-Identifier: MIT */
/* Layouts of surfaces: computes strides and sizes that the descriptions leave open. */
#include <fmt/core.h>

#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

/* Strides of batches are multiples of this number of bytes (programming guide, Limitation, SDP). */
constexpr uint32_t batchUnit = 64;

tl::unexpected<Error> bad(const Surface &surface, std::string why)
{
	return fail(ErrorCode::InvalidArgument, what, fmt::format("surface '{}'", surface.name),
		    std::move(why));
}

/* A pixel format determines the type, and the number of channels unless fewer are given. */
Result<TensorDesc> layOutImage(const Surface &surface)
{
	const PixelFormatInfo *info = pixelFormatInfo(surface.format);
	if (!info)
		return bad(surface,
			   fmt::format("nvdlav1 has no {}", pixelFormatName(surface.format)));

	TensorDesc desc = TensorDesc::image(surface.name, surface.format, surface.h, surface.w);
	if (surface.type != DataType::Unknown && surface.type != desc.type)
		return bad(surface,
			   fmt::format("is {}, pixels of {} are {}", dataTypeName(surface.type),
				       info->name, dataTypeName(desc.type)));
	if (surface.c > desc.c)
		return bad(surface, fmt::format("has {} channels, pixels of {} have {}", surface.c,
						info->name, desc.c));
	if (surface.c)
		desc.c = surface.c;
	if (surface.lineStride && info->planes == 1) {
		desc.lineStride = surface.lineStride;
		desc.size = uint64_t{ desc.lineStride } * desc.h;
	}
	desc.n = surface.n;
	desc.size *= surface.n;
	return desc;
}

TensorDesc layOutPlanar(const Surface &surface)
{
	TensorDesc desc =
		TensorDesc::planar(surface.name, surface.type, surface.c, surface.h, surface.w);

	if (surface.lineStride)
		desc.lineStride = surface.lineStride;
	desc.surfaceStride =
		surface.surfaceStride ? surface.surfaceStride : desc.h * desc.lineStride;
	desc.size = uint64_t{ desc.surfaceStride } * desc.c;
	return desc;
}

/* Surfaces of a type that the core cannot compute with have nv_full's layout. */
TensorDesc layOutFeature(const Surface &surface, const CoreGeometry &core)
{
	const PixelFormat format =
		core.has(surface.type) ? core.featureFormat() : PixelFormat::Feature;
	TensorDesc desc = TensorDesc::packedFeature(surface.name, surface.type, surface.c,
						    surface.h, surface.w, format);

	desc.n = surface.n;
	if (surface.lineStride)
		desc.lineStride = surface.lineStride;
	else if (desc.n > 1 && (desc.h > 1 || desc.w > 1)) /* a 1 x 1 cube has to be packed */
		desc.lineStride = static_cast<uint32_t>(alignUp(desc.lineStride, batchUnit));
	desc.surfaceStride =
		surface.surfaceStride ? surface.surfaceStride : desc.h * desc.lineStride;
	const uint32_t atom = atomBytes(format) / static_cast<uint32_t>(elementBytes(desc.type));
	desc.size = uint64_t{ desc.surfaceStride } * divideUp(desc.c, atom) * desc.n;
	return desc;
}

} /* namespace */

std::string toString(const Shape &shape)
{
	return fmt::format("{} x {} x {} x {}", shape.n, shape.c, shape.h, shape.w);
}

Result<TensorDesc> layOut(const Surface &surface, const CoreGeometry &core)
{
	const bool image = !isFeature(surface.format);
	const Shape shape{ image ? 1 : surface.c, surface.h, surface.w, surface.n };

	if (!shape.n || !shape.c || !shape.h || !shape.w)
		return bad(surface, "has the shape " + toString(shape) +
					    "; every extent has to be 1 or more");
	if (!image && surface.type != DataType::Int8 && surface.type != DataType::Int16 &&
	    surface.type != DataType::Half)
		return bad(surface, fmt::format("is {}; the core works on int8, int16 and fp16",
						dataTypeName(surface.type)));
	if (!image && surface.format != PixelFormat::Feature &&
	    surface.format != core.featureFormat())
		return bad(surface,
			   fmt::format("is {}, but {} has atoms of {} bytes",
				       pixelFormatName(surface.format), core.name, core.atomBytes));
	if (surface.planar && (image || surface.n != 1))
		return bad(surface, "is planar and has a pixel format, or is a batch");

	Result<TensorDesc> desc = surface.planar ? layOutPlanar(surface)
				  : image	 ? layOutImage(surface)
						 : layOutFeature(surface, core);
	if (!desc)
		return desc;
	desc->quantization = surface.quantization;
	if (auto checked = desc->check(); !checked)
		return bad(surface, checked.error().why);
	return desc;
}

} /* namespace nvdla::assembly */

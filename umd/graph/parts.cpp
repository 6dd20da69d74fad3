/* SPDX-License-Identifier: MIT */
/*
 * Surfaces that are parts of others: concatenations, slices and bands.
 */
#include <algorithm>

#include <fmt/core.h>

#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

Window windowOf(const Surface &part)
{
	return { .cube = part.atBatch,
		 .channel = part.atChannel,
		 .line = part.atLine,
		 .column = part.atColumn,
		 .lineStep = part.h > 1 ? part.lineStep : 1,
		 .shape = { part.c, part.h, part.w },
		 .turned = part.turned };
}

/* Replaces each size of 0 by the largest one with which the part does not exceed the whole. */
Surface withSizes(const Surface &part, const TensorDesc &whole)
{
	auto left = [](uint32_t size, uint32_t all, uint32_t at) {
		return size || at >= all ? size : all - at;
	};
	Surface sized = part;

	sized.c = left(part.c, whole.c, part.atChannel);
	sized.w = left(part.w, whole.w, part.atColumn);
	if (!part.h && part.lineStep)
		sized.h = divideUp(left(0, whole.h, part.atLine), part.lineStep);
	return sized;
}

/* Converts \a inner, a window in the part at \a outer, to a window in the whole. */
Window within(const Window &outer, const Window &inner)
{
	return { .cube = outer.cube + inner.cube,
		 .channel = outer.channel + inner.channel,
		 .line = outer.line + inner.line * outer.lineStep,
		 .column = outer.column + inner.column,
		 .lineStep = outer.lineStep * inner.lineStep,
		 .shape = inner.shape,
		 .turned = inner.turned };
}

/* Offset in bytes, in a line of pixels, of the atom in which a pixel begins. */
uint64_t atomOf(const CoreGeometry &geometry, uint64_t pixel, uint32_t pixelBytes)
{
	return pixel * pixelBytes / geometry.atomBytes * geometry.atomBytes;
}

/*
 * Lays out a window of a picture; returns its offset in bytes, which is that of an atom. Sets
 * \a firstPixel to the index of its first pixel in the atom (programming guide, PIXEL_X_OFFSET).
 */
uint64_t layOutRegion(const CoreGeometry &geometry, const Window &window, TensorDesc &desc,
		      uint32_t &firstPixel)
{
	const PixelFormatInfo &info = *pixelFormatInfo(desc.format);
	const uint32_t lineStride = desc.lineStride / window.lineStep;
	const uint64_t pixel = uint64_t{ firstPixel } + window.column;
	const uint64_t columns = atomOf(geometry, pixel, info.pixelBytes());
	const uint64_t begin = uint64_t{ window.line } * lineStride + columns;

	desc.size -= columns;
	if (desc.lineStrideUv) {
		const uint32_t bytes = info.pixelBytes(1);
		const uint64_t skipped =
			uint64_t{ firstPixel } * bytes % geometry.atomBytes / bytes;
		const uint64_t planeColumns = atomOf(geometry, skipped + window.column, bytes);
		const uint64_t planeBegin =
			uint64_t{ window.line } * desc.lineStrideUv + planeColumns;
		desc.surfaceStride += static_cast<uint32_t>(planeBegin - begin);
		desc.size = desc.surfaceStride +
			    (uint64_t{ desc.h - 1 } * window.lineStep + 1) * desc.lineStrideUv -
			    planeColumns;
		desc.lineStrideUv *= window.lineStep;
	}
	firstPixel = static_cast<uint32_t>(pixel * info.pixelBytes() % geometry.atomBytes /
					   info.pixelBytes());
	return begin;
}

/* Lays out a part; returns the offset of the part in the whole, in bytes. */
uint64_t layOutPart(const CoreGeometry &geometry, const Window &window, TensorDesc &desc,
		    uint32_t &firstPixel)
{
	const uint32_t lineStride = desc.lineStride;
	const uint64_t lines = uint64_t{ window.line } * lineStride;
	const uint32_t atom = geometry.atomChannels(desc.type);
	const uint64_t columns = uint64_t{ window.column } * geometry.atomBytes;
	const uint64_t cubes = window.cube * (desc.size / desc.n);

	desc.n = 1;
	desc.c = window.shape.c;
	desc.h = window.shape.h;
	desc.w = window.shape.w;
	desc.lineStride = lineStride * window.lineStep;
	desc.size = uint64_t{ desc.h - 1 } * desc.lineStride + lineStride;
	if (!isFeature(desc.format))
		return cubes + layOutRegion(geometry, window, desc, firstPixel);
	desc.size += uint64_t{ divideUp(desc.c, atom) - 1 } * desc.surfaceStride - columns;
	return cubes + uint64_t{ window.channel / atom } * desc.surfaceStride + lines + columns;
}

} /* namespace */

Shape turned(const Surface &part, DataType type, const CoreGeometry &core)
{
	const uint32_t atom = core.atomChannels(type);

	return { part.h * atom, divideUp(part.c, atom), part.w, part.n };
}

/* Returns the surface that a part lies in; it is made when the first part is written. */
SurfaceState *Lowering::wholeOf(const Surface &part)
{
	const auto known = symbols_.surfaces.find(part.within);
	if (known != symbols_.surfaces.end())
		return &known->second;

	const auto declared = symbols_.declared.find(part.within);
	const std::string place =
		fmt::format("'{}' is to be a part of '{}', which", part.name, part.within);
	if (!need(declared != symbols_.declared.end() && declared->second.within.empty(), "output",
		  place + " is not described, or is a part itself"))
		return nullptr;
	auto desc = layOut(declared->second, geometry());
	if (!need(bool(desc), "output", desc ? "" : place + " " + desc.error().why))
		return nullptr;
	checkPlace(declared->second);
	SurfaceState &whole =
		addSurface(declared->second, *desc,
			   isOutput(part.within) ? RegionKind::Output : RegionKind::Intermediate);
	if (!symbols_.ragged.contains(part.within))
		whole.missing = uint64_t{ desc->n } * desc->c * desc->h * desc->w;
	return &whole;
}

bool Lowering::isTurned(const SurfaceState &surface) const
{
	return surface.region != none &&
	       plan_.regions[static_cast<size_t>(surface.region)].window.turned;
}

bool Lowering::checkPart(const std::string &field, const Surface &part, const SurfaceState &whole)
{
	const TensorDesc &desc = whole.desc;
	const bool image = !isFeature(desc.format);
	const uint32_t atom = image ? desc.c : geometry().atomChannels(desc.type);
	const uint64_t lines = part.h ? uint64_t{ part.h - 1 } * part.lineStep + 1 : 0;
	auto inside = [&](const char *things, uint32_t at, uint64_t size, uint32_t all) {
		need(size > 0 && at + size <= all, field,
		     fmt::format("'{}' are {} {} to {} of '{}', which has {}", part.name, things,
				 at, at + size, part.within, all));
	};

	need(!whole.planar && whole.region != none, field,
	     fmt::format("'{}' is no feature surface in memory", part.within));
	need(!isTurned(whole), field, fmt::format("'{}' is turned, and has no parts", part.within));
	need(!part.turned || !image, field,
	     fmt::format("'{}' is turned, but '{}' is a picture", part.name, part.within));
	need(part.atBatch < desc.n, field,
	     fmt::format("'{}' is of cube {} of '{}', which has {}", part.name, part.atBatch,
			 part.within, desc.n));
	need(part.place == Place::Memory || part.place == whole.place, field,
	     fmt::format("'{}' is to be elsewhere than '{}'", part.name, part.within));
	need(part.type == DataType::Unknown || part.type == desc.type, field,
	     fmt::format("'{}' is {}, '{}' is {}", part.name, dataTypeName(part.type), part.within,
			 dataTypeName(desc.type)));
	need(part.atChannel % atom == 0, field,
	     fmt::format("'{}' begins at channel {}, which is no multiple of {}", part.name,
			 part.atChannel, atom));
	need(!image || part.c == desc.c, field,
	     fmt::format("'{}' has not all channels of the picture '{}'", part.name, part.within));
	need(part.lineStep > 0, field, fmt::format("'{}' has a lineStep of 0", part.name));
	inside("channels", part.atChannel, part.c, desc.c);
	inside("columns", part.atColumn, part.w, desc.w);
	inside("lines", part.atLine, lines, desc.h);
	return !failed();
}

SurfaceState &Lowering::addPart(const Surface &part, const SurfaceState &whole)
{
	const Window window = windowOf(part);
	Surface surface = part;
	TensorDesc desc = whole.desc;
	uint32_t firstPixel = whole.firstPixel;
	const uint64_t offset = layOutPart(geometry(), window, desc, firstPixel);

	desc.name = part.name;
	if (part.turned) {
		const Shape seen = turned(part, desc.type, geometry());
		desc.c = seen.c;
		desc.h = seen.h;
		std::swap(desc.lineStride, desc.surfaceStride);
	}
	surface.place = whole.place;
	SurfaceState &state = addSurface(surface, desc, RegionKind::Part);
	state.firstPixel = firstPixel;
	const Region &outer = plan_.regions[static_cast<size_t>(whole.region)];
	Region &region = plan_.regions[static_cast<size_t>(state.region)];
	const bool nested = outer.whole != none;
	region.whole = nested ? outer.whole : whole.region;
	region.offsetInWhole = (nested ? outer.offsetInWhole : 0) + offset;
	region.window = nested ? within(outer.window, window) : window;
	return state;
}

bool Lowering::isInCircle(const Surface &part) const
{
	auto outer = symbols_.declared.find(part.within);

	for (size_t i = 0; i <= symbols_.declared.size(); i++) {
		if (outer == symbols_.declared.end() || outer->second.within.empty())
			return false;
		outer = symbols_.declared.find(outer->second.within);
	}
	return true;
}

SurfaceState &Lowering::readPart(const std::string &field, const Surface &part)
{
	const auto outer = symbols_.declared.find(part.within);
	if (!need(!isInCircle(part), field,
		  fmt::format("'{}' is a part of itself, through '{}'", part.name, part.within)))
		return dummy_;
	if (!symbols_.surfaces.contains(part.within) && outer != symbols_.declared.end() &&
	    !outer->second.within.empty())
		readPart(field, outer->second);
	const auto whole = symbols_.surfaces.find(part.within);

	if (!need(whole != symbols_.surfaces.end() && whole->second.missing == 0, field,
		  fmt::format("'{}' is a part of '{}', which is not written yet", part.name,
			      part.within)))
		return dummy_;
	const Surface sized = withSizes(part, whole->second.desc);
	return checkPart(field, sized, whole->second) ? addPart(sized, whole->second) : dummy_;
}

SurfaceState &Lowering::writePart(const Surface &part)
{
	SurfaceState *whole = wholeOf(part);

	if (!whole || !checkPart("output", part, *whole))
		return dummy_;
	need(part.n == 1, "output", fmt::format("'{}' is a batch", part.name));
	need(isFeature(whole->desc.format) || part.w == whole->desc.w, "output",
	     fmt::format("'{}' has not whole lines of the picture '{}'", part.name, part.within));
	need(!isOutput(part.name), "output",
	     fmt::format("'{}' is a part of '{}'; only wholes are outputs of a graph", part.name,
			 part.within));
	const bool ragged = symbols_.ragged.contains(part.within);
	need(ragged || whole->missing > 0, "output",
	     fmt::format("'{}' is written as a whole already", part.within));
	const Window window = windowOf(part);
	for (const Window &other : whole->parts)
		need(!window.meets(other), "output",
		     fmt::format("'{}' shares elements of '{}' with another part", part.name,
				 part.within));
	if (failed())
		return dummy_;
	whole->parts.push_back(window);
	whole->missing -= ragged ? 0 : window.elements();
	whole->producer = self();
	return addPart(part, *whole);
}

void Lowering::finish(const Surface &surface)
{
	if (!surface.within.empty())
		addPart(surface, symbols_.surfaces.at(surface.within));
}

/* Only a part at the right edge of the whole may write beyond its last column. */
uint32_t Lowering::columnsInLine(const SurfaceState &surface) const
{
	const Region &region = plan_.regions[static_cast<size_t>(surface.region)];
	const Window &window = region.window;
	const uint32_t columns =
		surface.desc.lineStride / window.lineStep / geometry().atomBytes - window.column;

	if (region.whole == none)
		return columns;
	if (window.turned)
		return window.shape.w;
	const Region &whole = plan_.regions[static_cast<size_t>(region.whole)];
	return window.column + window.shape.w == whole.window.shape.w ? columns : window.shape.w;
}

} /* namespace nvdla::assembly */

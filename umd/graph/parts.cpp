/* SPDX-License-Identifier: MIT */
/*
 * Surfaces that are ranges of channels of others: concatenations and slices.
 */
#include <algorithm>

#include <fmt/format.h>

#include "lowering.h"

namespace nvdla::assembly
{

/* The whole is there from the first of its parts on. */
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
	auto desc = layOut(declared->second);
	if (!need(bool(desc), "output", desc ? "" : place + " " + desc.error().why))
		return nullptr;
	const bool isOutput = std::find(symbols_.outputs.begin(), symbols_.outputs.end(),
					part.within) != symbols_.outputs.end();
	SurfaceState &whole = addSurface(declared->second, *desc,
					 isOutput ? RegionKind::Output : RegionKind::Intermediate);
	whole.missing = desc->c;
	return &whole;
}

bool Lowering::checkPart(const std::string &field, const Surface &part, const SurfaceState &whole)
{
	const uint32_t atom = geometry().atomChannels(whole.desc.type);

	need(!whole.planar && whole.desc.format == PixelFormat::Feature && whole.desc.n == 1 &&
		     whole.region != none,
	     field, fmt::format("'{}' is no single feature surface in memory", part.within));
	need(part.place == Place::Memory || part.place == whole.place, field,
	     fmt::format("'{}' is to be elsewhere than '{}'", part.name, part.within));
	need(part.type == DataType::Unknown || part.type == whole.desc.type, field,
	     fmt::format("'{}' is {}, '{}' is {}", part.name, dataTypeName(part.type), part.within,
			 dataTypeName(whole.desc.type)));
	need(part.atChannel % atom == 0, field,
	     fmt::format("'{}' begins at channel {}, which is no multiple of {}", part.name,
			 part.atChannel, atom));
	need(part.c > 0 && uint64_t{ part.atChannel } + part.c <= whole.desc.c, field,
	     fmt::format("'{}' are channels {} to {} of '{}', which has {}", part.name,
			 part.atChannel, uint64_t{ part.atChannel } + part.c, part.within,
			 whole.desc.c));
	return !failed();
}

SurfaceState &Lowering::addPart(const Surface &part, const SurfaceState &whole)
{
	const uint32_t atom = geometry().atomChannels(whole.desc.type);
	Surface surface = part;
	TensorDesc desc = whole.desc;

	desc.name = part.name;
	desc.c = part.c;
	desc.size = uint64_t{ desc.surfaceStride } * divideUp(part.c, atom);
	surface.place = whole.place;
	SurfaceState &state = addSurface(surface, desc, RegionKind::Part);
	Region &region = plan_.regions[static_cast<size_t>(state.region)];
	region.whole = whole.region;
	region.offsetInWhole = uint64_t{ part.atChannel / atom } * desc.surfaceStride;
	return state;
}

SurfaceState &Lowering::readPart(const std::string &field, const Surface &part)
{
	const auto whole = symbols_.surfaces.find(part.within);

	if (!need(whole != symbols_.surfaces.end() && whole->second.missing == 0, field,
		  fmt::format("'{}' is a part of '{}', which is not written yet", part.name,
			      part.within)) ||
	    !checkPart(field, part, whole->second))
		return dummy_;
	return addPart(part, whole->second);
}

SurfaceState &Lowering::writePart(const Surface &part)
{
	SurfaceState *whole = wholeOf(part);

	if (!whole || !checkPart("output", part, *whole))
		return dummy_;
	need(part.h == whole->desc.h && part.w == whole->desc.w && part.n == 1, "output",
	     fmt::format("'{}' is {}, '{}' {}", part.name,
			 toString({ part.c, part.h, part.w, part.n }), part.within,
			 toString({ whole->desc.c, whole->desc.h, whole->desc.w, 1 })));
	const std::pair<uint32_t, uint32_t> range(part.atChannel, part.atChannel + part.c);
	for (const auto &[first, last] : whole->parts)
		need(range.second <= first || last <= range.first, "output",
		     fmt::format("'{}' shares channels of '{}' with another part", part.name,
				 part.within));
	need(whole->missing >= part.c, "output",
	     fmt::format("'{}' is written as a whole already", part.within));
	if (failed())
		return dummy_;
	whole->parts.push_back(range);
	whole->missing -= part.c;
	whole->producer = self();
	return addPart(part, *whole);
}

} /* namespace nvdla::assembly */

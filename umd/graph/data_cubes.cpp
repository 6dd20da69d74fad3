/* SPDX-License-Identifier: MIT */
/* Surfaces and constants as cubes of descriptors. */
#include <algorithm>

#include <fmt/core.h>

#include "lowering.h"

namespace nvdla::assembly
{

nvdla_data_cube Lowering::cubeOf(const char *cube, SurfaceState &surface, uint32_t surfaceMultiple)
{
	const TensorDesc &desc = surface.desc;
	nvdla_data_cube out = {};

	node.cubes.emplace_back(cube, desc.name);
	out.width = static_cast<__u16>(desc.w);
	out.height = static_cast<__u16>(desc.h);
	const PixelFormatInfo *pixels = surface.planar ? nullptr : pixelFormatInfo(desc.format);
	out.channel = static_cast<__u16>(pixels ? pixels->channels : desc.c);
	out.line_stride = desc.lineStride;
	if (surface.planar)
		out.plane_stride = desc.surfaceStride;
	else
		out.surf_stride = desc.surfaceStride;
	/*
	 * The core demands packed strides of a cube of one line and column. A cube of a single atom
	 * can have them even as a part of a larger surface, because there its strides have no
	 * effect.
	 */
	if (desc.w == 1 && desc.h == 1 && isFeature(desc.format) && !surface.planar &&
	    desc.c <= geometry().atomChannels(desc.type))
		out.line_stride = out.surf_stride = geometry().atomBytes;
	out.size = static_cast<__u32>(desc.size / desc.n);
	if (surface.region == none) {
		out.type = NVDLA_MEM_HW;
		out.address = -1;
		return out;
	}

	Region &region = plan_.regions[static_cast<size_t>(surface.region)];
	out.type = region.domain == MemoryDomain::Sram ? NVDLA_MEM_CV : NVDLA_MEM_MC;
	out.address = addressOf(surface.region);
	const uint32_t surfaces = divideUp(desc.c, geometry().atomChannels(desc.type));
	const uint32_t more = static_cast<uint32_t>(alignUp(surfaces, surfaceMultiple)) - surfaces;
	need(!isTurned(surface) || more == 0, cube,
	     fmt::format("'{}' is turned, and the engine would touch {} of its lines more than "
			 "there are",
			 desc.name, more));
	reach(cube, region, desc, more);
	return out;
}

/*
 * Makes room for \a more groups of channels that the engine touches behind a cube. The region of a
 * whole surface grows. A part has room behind it if it is the last part of its whole, or if the
 * whole is in Symbols::ragged, a surface with unused room behind each part.
 */
void Lowering::reach(const char *cube, Region &region, const TensorDesc &desc, uint32_t more)
{
	const uint64_t bytes = desc.size + uint64_t{ more } * desc.surfaceStride;

	if (!more)
		return;
	region.bytes = std::max(region.bytes, bytes);
	if (region.whole == none)
		return;
	Region &whole = plan_.regions[static_cast<size_t>(region.whole)];
	const uint32_t end = region.window.channel + region.window.shape.c;
	const bool last =
		end == whole.window.shape.c && region.window.cube + 1 == whole.window.shape.n;
	need(last || symbols_.ragged.contains(whole.name), cube,
	     fmt::format("the engine would touch {} surfaces more than the part '{}' has", more,
			 desc.name));
	whole.bytes = std::max(whole.bytes, region.offsetInWhole + bytes);
}

nvdla_data_cube Lowering::read(const char *cube, SurfaceState &surface, uint32_t surfaceMultiple)
{
	if (surface.region != none)
		node.reads.push_back(surface.region);
	return cubeOf(cube, surface, surfaceMultiple);
}

nvdla_data_cube Lowering::write(const char *cube, SurfaceState &surface, uint32_t surfaceMultiple)
{
	if (surface.region != none)
		node.writes.push_back(surface.region);
	return cubeOf(cube, surface, surfaceMultiple);
}

int Lowering::addConstant(const std::string &name, bool staged, std::vector<std::byte> data)
{
	Region region;

	region.name = name;
	region.kind = RegionKind::Constant;
	region.staged = staged;
	region.bytes = data.size();
	region.data = std::move(data);
	return addRegion(std::move(region));
}

nvdla_data_cube Lowering::constantCube(const char *cube, int region)
{
	nvdla_data_cube out = {};

	node.cubes.emplace_back(cube, plan_.regions[static_cast<size_t>(region)].name);
	out.type = NVDLA_MEM_MC;
	out.address = addressOf(region);
	out.size = static_cast<__u32>(plan_.regions[static_cast<size_t>(region)].bytes);
	return out;
}

} /* namespace nvdla::assembly */

/* SPDX-License-Identifier: MIT */
#include "cubes.h"

#include "legacy_descriptors.h"
#include "task_lists.h"

namespace nvdla
{

namespace
{

nvdla_data_cube convert(const LegacyDataCube &old)
{
	nvdla_data_cube cube = {};

	cube.type = old.type;
	cube.address = old.address;
	cube.size = old.size;
	cube.width = old.width;
	cube.height = old.height;
	cube.channel = old.channel;
	cube.line_stride = old.line_stride;
	cube.surf_stride = old.surf_stride;
	cube.plane_stride = old.plane_stride;
	return cube;
}

nvdla_conv_surface_desc convert(const LegacyConvSurface &old)
{
	nvdla_conv_surface_desc surface = {};

	surface.weight_data = convert(old.weight_data);
	surface.wmb_data = convert(old.wmb_data);
	surface.wgs_data = convert(old.wgs_data);
	surface.src_data = convert(old.src_data);
	surface.dst_data = convert(old.dst_data);
	surface.offset_u = old.offset_u;
	surface.in_line_uv_stride = old.in_line_uv_stride;
	return surface;
}

nvdla_sdp_surface_desc convert(const LegacySdpSurface &old)
{
	return { convert(old.src_data), convert(old.x1_data), convert(old.x2_data),
		 convert(old.y_data), convert(old.dst_data) };
}

nvdla_pair_surface_desc convert(const LegacyPairSurface &old)
{
	return { convert(old.src_data), convert(old.dst_data) };
}

} /* namespace */

nvdla_surface_desc convertLegacySurface(unsigned type, std::span<const std::byte> legacy)
{
	nvdla_surface_desc to = {};

	switch (type) {
	case NVDLA_OP_BDMA:
		/* The transfers of a copy have address indices, but no cubes. */
		to.bdma = element<nvdla_bdma_surface_desc>(legacy, 0);
		break;
	case NVDLA_OP_CONV:
		to.conv = convert(element<LegacyConvSurface>(legacy, 0));
		break;
	case NVDLA_OP_SDP:
		to.sdp = convert(element<LegacySdpSurface>(legacy, 0));
		break;
	case NVDLA_OP_PDP:
		to.pdp = convert(element<LegacyPairSurface>(legacy, 0));
		break;
	case NVDLA_OP_CDP:
		to.cdp = convert(element<LegacyPairSurface>(legacy, 0));
		break;
	case NVDLA_OP_RUBIK:
		to.rubik = convert(element<LegacyPairSurface>(legacy, 0));
		break;
	default:
		break;
	}
	return to;
}

CubePair cubesOf(unsigned type, const nvdla_surface_desc &surface)
{
	switch (type) {
	case NVDLA_OP_CONV:
		return { &surface.conv.src_data, &surface.conv.dst_data };
	case NVDLA_OP_SDP:
		return { &surface.sdp.src_data, &surface.sdp.dst_data };
	case NVDLA_OP_PDP:
		return { &surface.pdp.src_data, &surface.pdp.dst_data };
	case NVDLA_OP_CDP:
		return { &surface.cdp.src_data, &surface.cdp.dst_data };
	case NVDLA_OP_RUBIK:
		return { &surface.rubik.src_data, &surface.rubik.dst_data };
	}
	return {};
}

std::optional<size_t> streamProducer(const DlaTask &task, size_t operation)
{
	const nvdla_graph_node &node = task.graph[operation];
	const CubePair cubes = cubesOf(node.op_type, task.surfaces[operation]);
	const int producer = node.fused_parent.index;

	if (!cubes.src || cubes.src->type != NVDLA_MEM_HW || producer < 0 ||
	    static_cast<size_t>(producer) >= task.graph.size())
		return std::nullopt;
	return static_cast<size_t>(producer);
}

} /* namespace nvdla */

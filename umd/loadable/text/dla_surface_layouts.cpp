/* SPDX-License-Identifier: MIT */
/*
 * Surface descriptors, field by field, as in include/uapi/drm/nvdla_descriptors.h; the current
 * ones and those with the data cube of older firmware interfaces.
 */
#include <drm/nvdla_descriptors.h>

#include "layout_fields.h"
#include "loadable/legacy_descriptors.h"

namespace nvdla::text
{

namespace
{

constexpr Field cubeFields[] = {
	FIELD_NAMED(nvdla_data_cube, type, memoryTypeName),
	FIELD(nvdla_data_cube, address),
	FIELD(nvdla_data_cube, offset),
	FIELD(nvdla_data_cube, size),
	FIELD(nvdla_data_cube, width),
	FIELD(nvdla_data_cube, height),
	FIELD(nvdla_data_cube, channel),
	FIELD_OPTIONAL(nvdla_data_cube, reserved, 0),
	FIELD(nvdla_data_cube, line_stride),
	FIELD(nvdla_data_cube, surf_stride),
	FIELD(nvdla_data_cube, plane_stride),
};
constexpr Layout cubeLayout{ "data cube", sizeof(nvdla_data_cube), cubeFields };

constexpr Field legacyCubeFields[] = {
	FIELD_NAMED(LegacyDataCube, type, memoryTypeName),
	FIELD(LegacyDataCube, address),
	FIELD(LegacyDataCube, size),
	FIELD(LegacyDataCube, width),
	FIELD(LegacyDataCube, height),
	FIELD(LegacyDataCube, channel),
	FIELD_OPTIONAL(LegacyDataCube, reserved, 0),
	FIELD(LegacyDataCube, line_stride),
	FIELD(LegacyDataCube, surf_stride),
	FIELD(LegacyDataCube, plane_stride),
};
constexpr Layout legacyCubeLayout{ "data cube", sizeof(LegacyDataCube), legacyCubeFields };

constexpr Field transferFields[] = {
	FIELD_OPTIONAL(nvdla_bdma_transfer, src_address, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, dst_address, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, line_size, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, line_repeat, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, src_line, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, dst_line, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, surf_repeat, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, src_surf, 0),
	FIELD_OPTIONAL(nvdla_bdma_transfer, dst_surf, 0),
};
constexpr Layout transferLayout{ "transfer", sizeof(nvdla_bdma_transfer), transferFields };

constexpr Field bdmaSurfaceFields[] = {
	FIELD_NAMED(nvdla_bdma_surface_desc, src_type, memoryTypeName),
	FIELD_NAMED(nvdla_bdma_surface_desc, dst_type, memoryTypeName),
	FIELD(nvdla_bdma_surface_desc, num_transfers),
	FIELD_STRUCTS(nvdla_bdma_surface_desc, transfers, transferLayout, nullptr),
};
constexpr Layout bdmaSurfaceLayout{ "bdma", sizeof(nvdla_bdma_surface_desc), bdmaSurfaceFields };

template<typename Surface, const Layout &cube>
constexpr Field convFields[] = {
	FIELD_STRUCT(Surface, weight_data, cube), FIELD_STRUCT(Surface, wmb_data, cube),
	FIELD_STRUCT(Surface, wgs_data, cube),	  FIELD_STRUCT(Surface, src_data, cube),
	FIELD_STRUCT(Surface, dst_data, cube),	  FIELD(Surface, offset_u),
	FIELD(Surface, in_line_uv_stride),
};

template<typename Surface, const Layout &cube>
constexpr Field sdpFields[] = {
	FIELD_STRUCT(Surface, src_data, cube), FIELD_STRUCT(Surface, x1_data, cube),
	FIELD_STRUCT(Surface, x2_data, cube),  FIELD_STRUCT(Surface, y_data, cube),
	FIELD_STRUCT(Surface, dst_data, cube),
};

template<typename Surface, const Layout &cube>
constexpr Field pairFields[] = {
	FIELD_STRUCT(Surface, src_data, cube),
	FIELD_STRUCT(Surface, dst_data, cube),
};

template<typename Surface, const Layout &cube>
constexpr Layout convLayout{ "conv", sizeof(Surface), convFields<Surface, cube> };

template<typename Surface, const Layout &cube>
constexpr Layout sdpLayout{ "sdp", sizeof(Surface), sdpFields<Surface, cube> };

template<typename Surface, const Layout &cube>
constexpr Layout pdpLayout{ "pdp", sizeof(Surface), pairFields<Surface, cube> };

template<typename Surface, const Layout &cube>
constexpr Layout cdpLayout{ "cdp", sizeof(Surface), pairFields<Surface, cube> };

template<typename Surface, const Layout &cube>
constexpr Layout rubikLayout{ "rubik", sizeof(Surface), pairFields<Surface, cube> };

constexpr const Layout *surfaceEntries[] = {
	&bdmaSurfaceLayout,
	&convLayout<nvdla_conv_surface_desc, cubeLayout>,
	&sdpLayout<nvdla_sdp_surface_desc, cubeLayout>,
	&pdpLayout<nvdla_pair_surface_desc, cubeLayout>,
	&cdpLayout<nvdla_pair_surface_desc, cubeLayout>,
	&rubikLayout<nvdla_pair_surface_desc, cubeLayout>,
};

constexpr const Layout *legacySurfaceEntries[] = {
	&bdmaSurfaceLayout,
	&convLayout<LegacyConvSurface, legacyCubeLayout>,
	&sdpLayout<LegacySdpSurface, legacyCubeLayout>,
	&pdpLayout<LegacyPairSurface, legacyCubeLayout>,
	&cdpLayout<LegacyPairSurface, legacyCubeLayout>,
	&rubikLayout<LegacyPairSurface, legacyCubeLayout>,
};

} /* namespace */

const ListKind dlaSurfaceList{ "dla_surfaces", sizeof(nvdla_surface_desc), surfaceEntries };
const ListKind dlaLegacySurfaceList{ "dla_legacy_surfaces", sizeof(nvdla_surface_desc),
				     legacySurfaceEntries };

} /* namespace nvdla::text */

/* SPDX-License-Identifier: MIT */
/*
 * Surface descriptors of firmware interface 0.10 and 0.11, and of the compiler ONNC: they equal the
 * current ones, except for data cubes of 28 bytes, without the offset.
 */
#pragma once

#include "operation_list.h"
#include <drm/nvdla_descriptors.h>

namespace nvdla
{

/** \brief Firmware interface that introduced the offset in the data cube */
constexpr Version firstWithCubeOffset{ 0, 12, 0 };

/** \return true if surface lists of firmware interface \a version have LegacyDataCubes */
constexpr bool hasLegacyCubes(Version version)
{
	return version < firstWithCubeOffset || isOnnc(version);
}

struct LegacyDataCube {
	__u16 type;
	__s16 address;
	__u32 size;
	__u16 width;
	__u16 height;
	__u16 channel;
	__u16 reserved;
	__u32 line_stride;
	__u32 surf_stride;
	__u32 plane_stride;
};
static_assert(sizeof(LegacyDataCube) == 28);

struct LegacyConvSurface {
	LegacyDataCube weight_data;
	LegacyDataCube wmb_data;
	LegacyDataCube wgs_data;
	LegacyDataCube src_data;
	LegacyDataCube dst_data;
	nvdla_s64_a4 offset_u;
	__u32 in_line_uv_stride;
};
static_assert(sizeof(LegacyConvSurface) == 152);

struct LegacySdpSurface {
	LegacyDataCube src_data;
	LegacyDataCube x1_data;
	LegacyDataCube x2_data;
	LegacyDataCube y_data;
	LegacyDataCube dst_data;
};
static_assert(sizeof(LegacySdpSurface) == 140);

/** \brief Surface descriptor of PDP, CDP and RUBIK */
struct LegacyPairSurface {
	LegacyDataCube src_data;
	LegacyDataCube dst_data;
};
static_assert(sizeof(LegacyPairSurface) == 56);

} /* namespace nvdla */

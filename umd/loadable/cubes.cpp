/* SPDX-License-Identifier: MIT */
#include "cubes.h"

#include <cstring>

namespace nvdla
{

namespace
{

/* The data cube up to firmware interface 0.11. */
struct LegacyCube {
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
} __attribute__((packed, aligned(4)));
static_assert(sizeof(LegacyCube) == 28);

class LegacySurface
{
public:
	explicit LegacySurface(std::span<const std::byte> bytes) : bytes_(bytes) {}

	nvdla_data_cube cube()
	{
		const LegacyCube old = take<LegacyCube>();
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

	template<typename T>
	T take()
	{
		T value;

		std::memcpy(&value, bytes_.data(), sizeof(value));
		bytes_ = bytes_.subspan(sizeof(value));
		return value;
	}

private:
	std::span<const std::byte> bytes_;
};

} /* namespace */

nvdla_surface_desc convertLegacySurface(unsigned type, std::span<const std::byte> legacy)
{
	LegacySurface from(legacy);
	nvdla_surface_desc to = {};

	switch (type) {
	case NVDLA_OP_BDMA:
		/* Transfers have an address index, but no cube. */
		to.bdma = from.take<nvdla_bdma_surface_desc>();
		break;
	case NVDLA_OP_CONV:
		to.conv.weight_data = from.cube();
		to.conv.wmb_data = from.cube();
		to.conv.wgs_data = from.cube();
		to.conv.src_data = from.cube();
		to.conv.dst_data = from.cube();
		to.conv.offset_u = from.take<__s64>();
		to.conv.in_line_uv_stride = from.take<__u32>();
		break;
	case NVDLA_OP_SDP:
		to.sdp.src_data = from.cube();
		to.sdp.x1_data = from.cube();
		to.sdp.x2_data = from.cube();
		to.sdp.y_data = from.cube();
		to.sdp.dst_data = from.cube();
		break;
	case NVDLA_OP_PDP:
		to.pdp.src_data = from.cube();
		to.pdp.dst_data = from.cube();
		break;
	case NVDLA_OP_CDP:
		to.cdp.src_data = from.cube();
		to.cdp.dst_data = from.cube();
		break;
	case NVDLA_OP_RUBIK:
		to.rubik.src_data = from.cube();
		to.rubik.dst_data = from.cube();
		break;
	default:
		break;
	}
	return to;
}

} /* namespace nvdla */

/* SPDX-License-Identifier: MIT */
/*
 * Data cubes of a surface descriptor, and the layout they had in older files.
 */
#pragma once

#include <cstddef>
#include <span>

#include <nvdla/hw/descriptors.h>

#include <nvdla/error.h>

namespace nvdla
{

/**
 * \brief Convert a surface descriptor of firmware interface 0.10 or 0.11
 *
 * Those have the members of the current ones, but data cubes of 28 bytes
 * without the offset. The container has the same size in both.
 *
 * \param[in] type enum nvdla_op_type of the operation, below NVDLA_NUM_OP_TYPES
 * \param[in] legacy sizeof(union nvdla_surface_desc) bytes
 */
nvdla_surface_desc convertLegacySurface(unsigned type, std::span<const std::byte> legacy);

/** \brief Call \a visit with the address index of everything a surface descriptor names in memory
 */
template<typename Visit>
void forEachAddress(unsigned type, const nvdla_surface_desc &surface, Visit visit)
{
	auto cubes = [&](auto... cube) {
		for (const nvdla_data_cube &entry : { cube... }) {
			if (entry.type != NVDLA_MEM_HW)
				visit(entry.address);
		}
	};

	switch (type) {
	case NVDLA_OP_BDMA:
		for (unsigned i = 0; i < NVDLA_BDMA_MAX_TRANSFERS; i++) {
			if (i >= surface.bdma.num_transfers)
				break;
			visit(surface.bdma.transfers[i].src_address);
			visit(surface.bdma.transfers[i].dst_address);
		}
		break;
	case NVDLA_OP_CONV:
		cubes(surface.conv.weight_data, surface.conv.wmb_data, surface.conv.wgs_data,
		      surface.conv.src_data, surface.conv.dst_data);
		break;
	case NVDLA_OP_SDP:
		cubes(surface.sdp.src_data, surface.sdp.x1_data, surface.sdp.x2_data,
		      surface.sdp.y_data, surface.sdp.dst_data);
		break;
	case NVDLA_OP_PDP:
		cubes(surface.pdp.src_data, surface.pdp.dst_data);
		break;
	case NVDLA_OP_CDP:
		cubes(surface.cdp.src_data, surface.cdp.dst_data);
		break;
	case NVDLA_OP_RUBIK:
		cubes(surface.rubik.src_data, surface.rubik.dst_data);
		break;
	default:
		break;
	}
}

} /* namespace nvdla */

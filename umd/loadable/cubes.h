/* SPDX-License-Identifier: MIT */
/* Data cubes of a surface descriptor, and their layout in older files. */
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <drm/nvdla_descriptors.h>

#include <nvdla/task.h>

namespace nvdla
{

/**
 * \brief Convert a surface descriptor of firmware interface 0.10 or 0.11
 *
 * Its descriptors differ from current ones only in the data cubes, which have 28 bytes and no
 * offset. sizeof(union nvdla_surface_desc) is the same for old and current ones.
 *
 * \param[in] type enum nvdla_op_type of the operation, below NVDLA_NUM_OP_TYPES
 * \param[in] legacy sizeof(union nvdla_surface_desc) bytes
 */
nvdla_surface_desc convertLegacySurface(unsigned type, std::span<const std::byte> legacy);

/**
 * \brief Call \a visit with each cube of a surface descriptor, unused ones included
 *
 * Copies (BDMA) have none.
 *
 * \tparam Surface nvdla_surface_desc, const or not
 */
template<typename Surface, typename Visit>
void forEachCube(unsigned type, Surface &surface, Visit visit)
{
	auto cubes = [&](auto &...cube) { (visit(cube), ...); };

	switch (type) {
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

/**
 * \brief Call \a visit with each address index of a surface descriptor
 *
 * Includes unused cubes, whose index is 0; data on the fly (NVDLA_MEM_HW) has no address.
 *
 * \tparam Surface nvdla_surface_desc, const or not: visit may change the index
 */
template<typename Surface, typename Visit>
void forEachAddress(unsigned type, Surface &surface, Visit visit)
{
	if (type == NVDLA_OP_BDMA) {
		for (unsigned i = 0; i < NVDLA_BDMA_MAX_TRANSFERS; i++) {
			if (i >= surface.bdma.num_transfers)
				break;
			visit(surface.bdma.transfers[i].src_address);
			visit(surface.bdma.transfers[i].dst_address);
		}
		return;
	}
	forEachCube(type, surface, [&](auto &cube) {
		if (cube.type != NVDLA_MEM_HW)
			visit(cube.address);
	});
}

/** \brief Source and destination of an operation that has one of each; null for BDMA */
struct CubePair {
	const nvdla_data_cube *src = nullptr;
	const nvdla_data_cube *dst = nullptr;
};

CubePair cubesOf(unsigned type, const nvdla_surface_desc &surface);

/** \return index of the operation that passes its result on the fly to \a operation; nothing if
 * there is none */
std::optional<size_t> streamProducer(const DlaTask &task, size_t operation);

} /* namespace nvdla */

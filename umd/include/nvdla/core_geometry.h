/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a core that data layouts depend on.
 */
#pragma once

#include <cstdint>

#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \return \a value rounded up to a multiple of \a step */
constexpr uint64_t alignUp(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/**
 * \brief What layouts depend on; one value per configuration of the core
 *
 * Formats document, "Feature Data Format", "Weight Format" and "Alignment of
 * Start Address and Stride".
 */
struct CoreGeometry {
	const char *name;
	uint32_t atomBytes;	  /**< bytes of an atom of feature data */
	uint32_t macChannels;	  /**< channels that a MAC cell takes at once */
	uint32_t macKernels;	  /**< kernels of a group, INT16 and FP16; INT8 has twice that */
	uint32_t weightAlignment; /**< of the addresses of weights, WMB and WGS */
	uint32_t weightSizeAlignment; /**< of the sizes of weights, WMB and WGS */

	/** \return channels in an atom of elements of \a type */
	constexpr uint32_t atomChannels(DataType type) const
	{
		return type == DataType::Int8 ? atomBytes : atomBytes / 2;
	}

	/** \return kernels that share a pass over the input: the size of a full kernel group */
	constexpr uint32_t groupKernels(DataType type) const
	{
		return type == DataType::Int8 ? 2 * macKernels : macKernels;
	}

	bool operator==(const CoreGeometry &) const = default;
};

/** \brief nvdlav1, DRM_NVDLA_VARIANT_NV_FULL */
inline constexpr CoreGeometry nvFull = {
	.name = "nv_full",
	.atomBytes = 32,
	.macChannels = 64,
	.macKernels = 16,
	.weightAlignment = 256,
	.weightSizeAlignment = 128,
};

} /* namespace nvdla */

#pragma GCC visibility pop

/* SPDX-License-Identifier: MIT */
/*
 * Sizes of a core, which networks depend on.
 */
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nvdla/error.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \return \a value rounded up to a multiple of \a step */
constexpr uint64_t alignUp(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/** \brief The most lines and columns of a convolution's kernel (register map,
 * CSC_D_WEIGHT_SIZE_EXT_0) */
inline constexpr uint32_t maxKernelSize = 32;

/**
 * \brief What layouts and the division of work depend on; one value per configuration of the core
 *
 * Formats document, "Feature Data Format", "Weight Format" and "Alignment of
 * Start Address and Stride"; programming guide, "Convolution Buffer".
 */
struct CoreGeometry {
	const char *name;
	uint32_t variant;	  /**< enum drm_nvdla_variant */
	uint32_t atomBytes;	  /**< bytes of an atom of feature data */
	uint32_t macChannels;	  /**< channels that a MAC cell takes at once */
	uint32_t macKernels;	  /**< kernels of a group, INT16 and FP16; INT8 has twice that */
	uint32_t weightAlignment; /**< of the addresses of weights, WMB and WGS */
	uint32_t weightSizeAlignment; /**< of the sizes of weights, WMB and WGS */
	uint32_t bufferBanks;	      /**< of the convolution buffer */
	uint32_t bankEntries;	      /**< entries in a bank */
	uint32_t entryBytes;	      /**< bytes of an entry */
	uint32_t poolingLineBytes;    /**< PDP's buffer for partial results */

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

	/** \return bytes of a bank of the convolution buffer */
	constexpr uint64_t bankBytes() const { return uint64_t{ bankEntries } * entryBytes; }

	bool operator==(const CoreGeometry &) const = default;
};

/** \brief nvdlav1 */
inline constexpr CoreGeometry nvFull = {
	.name = "nv_full",
	.variant = 0, /* DRM_NVDLA_VARIANT_NV_FULL */
	.atomBytes = 32,
	.macChannels = 64,
	.macKernels = 16,
	.weightAlignment = 256,
	.weightSizeAlignment = 128,
	.bufferBanks = 16,
	.bankEntries = 256,
	.entryBytes = 128,
	.poolingLineBytes = 7 * 1024,
};

/** \return all configurations that networks can be made for; the first is the usual one */
std::span<const CoreGeometry> coreVariants();

/** \return names of coreVariants(), with commas between them */
std::string coreVariantNames();

/** \return the configuration of that name; InvalidArgument naming those that there are */
Result<CoreGeometry> findCoreVariant(std::string_view name);

/** \return the configuration that a driver tells (DeviceInfo::variant); nullptr: not known */
const CoreGeometry *findCoreVariant(uint32_t variant);

} /* namespace nvdla */

#pragma GCC visibility pop

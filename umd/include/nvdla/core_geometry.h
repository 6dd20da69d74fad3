/* SPDX-License-Identifier: MIT */
/* Sizes of a core's units, which determine how a network is laid out for it. */
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nvdla/device_info.h>
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

/** \brief Largest number of lines, and of columns, of a convolution's kernel (register map,
 * CSC_D_WEIGHT_SIZE_EXT_0) */
inline constexpr uint32_t maxKernelSize = 32;

/** \brief Largest number of lines, and of columns, of a pooling's window (register map,
 * PDP_D_POOLING_KERNEL_CFG_0) */
inline constexpr uint32_t maxPoolingKernel = 8;

/**
 * \brief Sizes of one configuration of the core, on which layouts, the division of work and the
 * choice of operations depend
 *
 * NVDLA's in-memory format document explains them in "Feature Data Format", "Weight Format" and
 * "Alignment of Start Address and Stride", the programming guide in "Convolution Buffer".
 */
struct CoreGeometry {
	const char *name;
	uint32_t variant;	  /**< value of the driver's enum drm_nvdla_variant */
	uint32_t engines;	  /**< bits, as in DeviceInfo::engines */
	uint32_t precisions;	  /**< bits, as in DeviceInfo::precisions */
	uint32_t capabilities;	  /**< bits of Capability */
	bool hasOnChipMemory;	  /**< true if the driver can use on-chip memory */
	bool imageStrideInKernel; /**< true if the stride of a convolution of an image must not
				     exceed the width of the kernel */
	uint32_t maxBatch;    /**< largest number of cubes (images of a batch) in one convolution */
	uint32_t atomBytes;   /**< bytes of an atom of feature data */
	uint32_t macChannels; /**< channels that a MAC cell takes at a time */
	uint32_t int8Kernels; /**< kernels in a kernel group of INT8; a group of INT16 or FP16 has
				 half as many */
	/**
	 * alignment in bytes of the addresses of weights, their masks (WMB) and group sizes (WGS)
	 */
	uint32_t weightAlignment;
	/** alignment in bytes of the sizes of the surfaces of weights, WMB and WGS */
	uint32_t weightSizeAlignment;
	uint32_t weightSlack;	   /**< bytes that a kernel group leaves free in its CBUF banks */
	uint32_t bufferBanks;	   /**< banks of the convolution buffer */
	uint32_t bankEntries;	   /**< entries in a bank of the convolution buffer */
	uint32_t entryBytes;	   /**< bytes of an entry of the convolution buffer */
	uint32_t poolingLineBytes; /**< bytes of PDP's buffer for the partial results of a line */

	constexpr bool has(Capability capability) const
	{
		return capabilities & static_cast<uint32_t>(capability);
	}

	/** \return whether engines compute with elements of \a type */
	bool has(DataType type) const;

	/** \return "int8, int16 and fp16": the types that has() knows, for messages */
	std::string typeNames() const;

	/** \return layout of feature data, with atoms of 8 or 32 bytes */
	constexpr PixelFormat featureFormat() const
	{
		return atomBytes == nvdla::atomBytes(PixelFormat::FeatureX8)
			       ? PixelFormat::FeatureX8
			       : PixelFormat::Feature;
	}

	/** \return channels in an atom of elements of \a type */
	constexpr uint32_t atomChannels(DataType type) const
	{
		return type == DataType::Int8 ? atomBytes : atomBytes / 2;
	}

	/** \return kernels that share a pass over the input: the size of a full kernel group */
	constexpr uint32_t groupKernels(DataType type) const
	{
		return type == DataType::Int8 ? int8Kernels : int8Kernels / 2;
	}

	/** \return bytes of a bank of the convolution buffer */
	constexpr uint64_t bankBytes() const { return uint64_t{ bankEntries } * entryBytes; }

	bool operator==(const CoreGeometry &) const = default;
};

/** \return all configurations for which networks can be made: those that the driver knows, nv_full
 * first */
std::span<const CoreGeometry> coreVariants();

/** \brief The usual configuration, nv_full (also called nvdlav1) */
inline const CoreGeometry &nvFull = coreVariants().front();

/** \return names of coreVariants(), with commas between them */
std::string coreVariantNames();

/** \return the configuration of that name; InvalidArgument naming all that exist */
Result<CoreGeometry> findCoreVariant(std::string_view name);

/** \return the configuration by DeviceInfo::variant; nullptr if it is not known */
const CoreGeometry *findCoreVariant(uint32_t variant);

/** \return the configuration of a device's core; Unsupported if a newer driver has another one */
Result<CoreGeometry> coreOf(const DeviceInfo &device);

/** \return names of \a capabilities, which are bits of Capability, with commas between them */
std::string capabilityNames(uint32_t capabilities);

} /* namespace nvdla */

#pragma GCC visibility pop

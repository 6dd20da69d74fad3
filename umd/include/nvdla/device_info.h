/* SPDX-License-Identifier: MIT */
/* Properties and features of a device. */
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Features of a driver; see Device::has() */
enum class Feature : uint64_t {
	Contexts = 1u << 0,	 /**< Device::createContext(), and priorities */
	Results = 1u << 1,	 /**< times of a run: RunReport::Step::job and results */
	Statistics = 1u << 2,	 /**< counters of a run: RunOptions::statistics */
	OnChipMemory = 1u << 3,	 /**< Device::allocateOnChip() */
	DmaBuf = 1u << 4,	 /**< Buffer::exportDmaBuf(), Device::importDmaBuf() */
	Timeline = 1u << 5,	 /**< for users of the driver's ioctls: syncobjs may be timelines */
	WriteCombine = 1u << 6,	 /**< for users of the driver's ioctls: write-combined buffers */
	PreparedTasks = 1u << 7, /**< Device::prepare() */
};

/** \brief Capabilities that some cores lack, bits of DeviceInfo::capabilities */
enum class Capability : uint32_t {
	Winograd = 1u << 0,    /**< convolutions in winograd mode */
	Compression = 1u << 1, /**< compressed weights */
	SdpY = 1u << 2,	       /**< SDP's unit Y, with its look-up table */
};

/** \brief Properties of a device, and limits for this process */
struct DeviceInfo {
	uint32_t variant = 0;	       /**< enum drm_nvdla_variant; 0: nvdlav1, nv_full */
	uint32_t hwVersion = 0;	       /**< value of the core's register S_NVDLA_HW_VERSION */
	uint32_t engines = 0;	       /**< bit n: the device runs operations of engine n; see
					  OperationReport::engine */
	uint32_t precisions = 0;       /**< bit 0: INT8, 1: INT16, 2: FP16 */
	uint32_t atomBytes = 0;	       /**< bytes of an atom, the alignment of feature data */
	uint32_t maxOperations = 0;    /**< largest number of operations in one task */
	uint32_t maxLuts = 0;	       /**< largest number of look-up tables in one task */
	uint32_t maxAddresses = 0;     /**< largest number of addresses in one task */
	uint32_t maxTasks = 0;	       /**< largest number of tasks in one job */
	uint32_t defaultTimeoutMs = 0; /**< timeout of a job that sets none */
	uint32_t maxTimeoutMs = 0;   /**< largest SubmitOptions::timeout that the caller may set */
	uint64_t onChipBytes = 0;    /**< size of on-chip memory in bytes; 0: none */
	uint64_t maxBufferBytes = 0; /**< size of the largest buffer, in bytes */
	uint64_t features = 0;	     /**< bits of Feature */
	uint64_t coreClockHz = 0;    /**< present clock; 0 if not known */
	uint32_t priorities = 0;     /**< bit n: the caller may use the Priority of value n */
	uint32_t maxContexts = 0;    /**< largest number of contexts of one open device */
	uint64_t maxOnChipBytes = 0; /**< bytes that all on-chip buffers of the caller may take
					together */
	uint64_t maxTaskBytes = 0;   /**< bytes that the driver may use for all prepared tasks */
	/** \brief Bits of Capability. This member and all below are 0 with older drivers */
	uint32_t capabilities = 0;
	uint32_t maxBatch = 0;		  /**< largest number of cubes (images) in one
					     convolution */
	uint32_t weightAlignment = 0;	  /**< alignment of addresses of weights, bytes */
	uint32_t weightSizeAlignment = 0; /**< alignment of sizes of weights, bytes */
	/**
	 * \brief Channels that a MAC cell takes at a time; also the channels of a block of weights
	 */
	uint32_t macChannels = 0;
	uint32_t int8Kernels = 0; /**< kernels in a kernel group of INT8; INT16 and FP16: half as
				     many */
	uint32_t bufferBanks = 0; /**< banks of the convolution buffer */
	uint32_t bankEntries = 0; /**< entries in a bank of the convolution buffer */
	uint32_t entryBytes = 0;  /**< bytes of an entry of the convolution buffer */
};

} /* namespace nvdla */

#pragma GCC visibility pop

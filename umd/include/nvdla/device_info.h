/* SPDX-License-Identifier: MIT */
/*
 * Properties and features of a device.
 */
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Features of a driver; see Device::has() */
enum class Feature : uint64_t {
	Contexts = 1u << 0,	 /**< Device::createContext(), and priorities */
	Results = 1u << 1,	 /**< RunReport::Step::job and operations */
	Statistics = 1u << 2,	 /**< RunOptions::statistics */
	OnChipMemory = 1u << 3,	 /**< Device::allocateOnChip() */
	DmaBuf = 1u << 4,	 /**< Buffer::exportDmaBuf(), Device::importDmaBuf() */
	Timeline = 1u << 5,	 /**< ioctls: syncobjs may be timelines */
	WriteCombine = 1u << 6,	 /**< ioctls: write-combined buffers */
	PreparedTasks = 1u << 7, /**< Device::prepare() */
};

/** \brief Capabilities that some cores lack, bits of DeviceInfo::capabilities */
enum class Capability : uint32_t {
	Winograd = 1u << 0,    /**< convolutions in winograd mode */
	Compression = 1u << 1, /**< compressed weights */
	SdpY = 1u << 2,	       /**< SDP's unit Y, with its look-up table */
};

/** \brief Properties of a device, and limits for the process */
struct DeviceInfo {
	uint32_t variant = 0;	    /**< enum drm_nvdla_variant; 0: nvdlav1, nv_full */
	uint32_t hwVersion = 0;	    /**< the core's register S_NVDLA_HW_VERSION */
	uint32_t engines = 0;	    /**< bit n: operations of engine n run; see OperationReport */
	uint32_t precisions = 0;    /**< bit 0: INT8, 1: INT16, 2: FP16 */
	uint32_t atomBytes = 0;	    /**< alignment of feature data */
	uint32_t maxOperations = 0; /**< most operations of one task */
	uint32_t maxLuts = 0;	    /**< most look-up tables of one task */
	uint32_t maxAddresses = 0;  /**< most addresses of one task */
	uint32_t maxTasks = 0;	    /**< most tasks of one job */
	uint32_t defaultTimeoutMs = 0; /**< timeout of a job that sets none */
	uint32_t maxTimeoutMs = 0;   /**< largest SubmitOptions::timeout that the caller may set */
	uint64_t onChipBytes = 0;    /**< size of on-chip memory; 0: none */
	uint64_t maxBufferBytes = 0; /**< size of the largest buffer */
	uint64_t features = 0;	     /**< bits of Feature */
	uint64_t coreClockHz = 0;    /**< present clock; 0 if not known */
	uint32_t priorities = 0;     /**< bit n: the caller may use the Priority of value n */
	uint32_t maxContexts = 0;    /**< most contexts of one open device */
	uint64_t maxOnChipBytes = 0; /**< most on-chip memory of all buffers of the caller */
	uint64_t maxTaskBytes = 0;   /**< driver's memory for all prepared tasks */
	/** \brief Bits of Capability; 0 with older drivers, as are all members below */
	uint32_t capabilities = 0;
	uint32_t maxBatch = 0;		  /**< most cubes of one convolution */
	uint32_t weightAlignment = 0;	  /**< alignment of addresses of weights, bytes */
	uint32_t weightSizeAlignment = 0; /**< alignment of sizes of weights, bytes */
	/**
	 * \brief Channels that a MAC cell takes at a time; also the channels of a block of weights
	 */
	uint32_t macChannels = 0;
	uint32_t int8Kernels = 0; /**< kernels of an INT8 group; half as many in other types */
	uint32_t bufferBanks = 0; /**< banks of the convolution buffer */
	uint32_t bankEntries = 0; /**< entries of a bank */
	uint32_t entryBytes = 0;  /**< bytes of an entry */
};

} /* namespace nvdla */

#pragma GCC visibility pop

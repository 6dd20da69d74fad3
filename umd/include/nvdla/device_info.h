/* SPDX-License-Identifier: MIT */
/*
 * What a device is and can do.
 */
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief What a driver can do; see Device::has() */
enum class Feature : uint64_t {
	Contexts = 1u << 0,	 /**< Device::createContext(), and priorities */
	Results = 1u << 1,	 /**< RunReport::Step::job and operations */
	Statistics = 1u << 2,	 /**< RunOptions::statistics */
	OnChipMemory = 1u << 3,	 /**< Device::allocateOnChip() */
	DmaBuf = 1u << 4,	 /**< Buffer::exportDmaBuf(), Device::importDmaBuf() */
	Timeline = 1u << 5,	 /**< of its ioctls: syncobjs may be timelines */
	WriteCombine = 1u << 6,	 /**< of its ioctls: buffers that the CPU writes in order */
	PreparedTasks = 1u << 7, /**< Device::prepare() */
};

/** \brief What a device is, and what a process may do with it */
struct DeviceInfo {
	uint32_t variant = 0;	    /**< configuration of the core; 0: nvdlav1, nv_full */
	uint32_t hwVersion = 0;	    /**< the core's register of that name */
	uint32_t engines = 0;	    /**< bit n: operations of engine n run; see OperationReport */
	uint32_t precisions = 0;    /**< bit 0: INT8, 1: INT16, 2: FP16 */
	uint32_t atomBytes = 0;	    /**< alignment of feature data */
	uint32_t maxOperations = 0; /**< of one task */
	uint32_t maxLuts = 0;	    /**< of one task */
	uint32_t maxAddresses = 0;  /**< of one task */
	uint32_t maxTasks = 0;	    /**< of one job */
	uint32_t defaultTimeoutMs = 0; /**< of a job that names none */
	uint32_t maxTimeoutMs = 0;     /**< longest time that a job of the caller may take */
	uint64_t onChipBytes = 0;      /**< 0 without on-chip memory */
	uint64_t maxBufferBytes = 0;   /**< of the largest buffer */
	uint64_t features = 0;	       /**< bits of Feature */
	uint64_t coreClockHz = 0;      /**< now; 0 if that is not known */
	uint32_t priorities = 0;       /**< bit n: the caller may use the Priority of value n */
	uint32_t maxContexts = 0;      /**< of one open device */
	uint64_t maxOnChipBytes = 0;   /**< of all buffers of an open device of the caller */
	uint64_t maxTaskBytes = 0;     /**< of the driver's memory for prepared tasks */
};

} /* namespace nvdla */

#pragma GCC visibility pop

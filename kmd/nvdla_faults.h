/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_FAULTS_H__
#define __NVDLA_FAULTS_H__

#include <linux/atomic.h>
#include <linux/fault-inject.h>
#include <linux/types.h>

struct dentry;
struct nvdla_device;

/**
 * enum nvdla_fault - what can be made to go wrong
 * @NVDLA_FAULT_INTERRUPT: an interrupt of the core is lost
 * @NVDLA_FAULT_TASK: a task that completed is taken for one that did not
 * @NVDLA_FAULT_RESET: the core does not come back from a reset
 * @NVDLA_FAULT_ADDRESS: an entry of an address table is taken for the newest buffer's
 * @NVDLA_FAULT_TIMEOUT: much happens before the scheduler knows that a timeout was handled
 * @NVDLA_NUM_FAULTS: number of faults
 */
enum nvdla_fault {
	NVDLA_FAULT_INTERRUPT,
	NVDLA_FAULT_TASK,
	NVDLA_FAULT_RESET,
	NVDLA_FAULT_ADDRESS,
	NVDLA_FAULT_TIMEOUT,
	NVDLA_NUM_FAULTS,
};

/**
 * struct nvdla_faults - what is going to go wrong; nothing in a build without such tests
 * @count: per fault: how often from now on
 * @attr: per fault: how often by the rules of the kernel's fault injection
 */
struct nvdla_faults {
#ifdef CONFIG_DRM_ACCEL_NVDLA_FAULTS
	atomic_t count[NVDLA_NUM_FAULTS];
#ifdef CONFIG_FAULT_INJECTION
	struct fault_attr attr[NVDLA_NUM_FAULTS];
#endif
#endif
};

#ifdef CONFIG_DRM_ACCEL_NVDLA_FAULTS

void nvdla_faults_init(struct nvdla_faults *faults);
void nvdla_faults_add_files(struct nvdla_faults *faults, struct dentry *root);
bool nvdla_fault_strikes(struct nvdla_faults *faults, enum nvdla_fault fault);
void nvdla_fault_in_address(struct nvdla_device *ndev, u64 *addr);
void nvdla_fault_in_timeout(struct nvdla_device *ndev);

#else

static inline void nvdla_faults_init(struct nvdla_faults *faults)
{
}

static inline void nvdla_faults_add_files(struct nvdla_faults *faults, struct dentry *root)
{
}

static inline bool nvdla_fault_strikes(struct nvdla_faults *faults, enum nvdla_fault fault)
{
	return false;
}

static inline void nvdla_fault_in_address(struct nvdla_device *ndev, u64 *addr)
{
}

static inline void nvdla_fault_in_timeout(struct nvdla_device *ndev)
{
}

#endif

#endif /* __NVDLA_FAULTS_H__ */

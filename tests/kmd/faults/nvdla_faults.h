/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_FAULTS_H__
#define __NVDLA_FAULTS_H__

#include "engine/nvdla_args.h"
#include "engine/nvdla_sequencer.h"

struct nvdla_device;
struct nvdla_hw;

/* __real_NAME is the driver's function NAME, __wrap_NAME what others get when they call it. */

int __real_nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
			     const struct nvdla_task_extent *buffer,
			     struct nvdla_task_extent *extent, struct nvdla_refusal *why);
int __wrap_nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
			     const struct nvdla_task_extent *buffer,
			     struct nvdla_task_extent *extent, struct nvdla_refusal *why);

void __real_nvdla_debugfs_init(struct nvdla_device *ndev);
void __wrap_nvdla_debugfs_init(struct nvdla_device *ndev);

int __real_nvdla_device_init(struct nvdla_device *ndev);
int __wrap_nvdla_device_init(struct nvdla_device *ndev);

int __real_nvdla_job_init(struct nvdla_device *ndev);
int __wrap_nvdla_job_init(struct nvdla_device *ndev);

bool __real_nvdla_hw_attend(struct nvdla_hw *hw);
bool __wrap_nvdla_hw_attend(struct nvdla_hw *hw);

int __real_nvdla_sequencer_create(const struct nvdla_variant *variant, const struct nvdla_io *io,
				  const struct nvdla_sequencer_ops *ops, void *context,
				  struct nvdla_sequencer **sequencer);
int __wrap_nvdla_sequencer_create(const struct nvdla_variant *variant, const struct nvdla_io *io,
				  const struct nvdla_sequencer_ops *ops, void *context,
				  struct nvdla_sequencer **sequencer);

#endif /* __NVDLA_FAULTS_H__ */

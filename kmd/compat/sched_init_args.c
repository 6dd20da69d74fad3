// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <drm/gpu_scheduler.h>

int probe(struct drm_gpu_scheduler *sched, const struct drm_sched_init_args *args);
int probe(struct drm_gpu_scheduler *sched, const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args);
}

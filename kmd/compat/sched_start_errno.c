// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <drm/gpu_scheduler.h>

void probe(struct drm_gpu_scheduler *sched);
void probe(struct drm_gpu_scheduler *sched)
{
	drm_sched_start(sched, 0);
}

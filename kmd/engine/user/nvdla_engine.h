/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The engine's interface for C++: includes its headers, which are for C, as extern "C". */
#ifndef NVDLA_USER_ENGINE_H
#define NVDLA_USER_ENGINE_H

#include <drm/nvdla_accel.h>
#include <nvdla/hw/registers.h>

#include "kernel_types.h"

extern "C" {
#include "../nvdla_args.h"
#include "../nvdla_io.h"
#include "../nvdla_result.h"
#include "../nvdla_scrub.h"
#include "../nvdla_sequencer.h"
#include "../nvdla_task.h"
#include "../nvdla_variant.h"
}

#endif /* NVDLA_USER_ENGINE_H */

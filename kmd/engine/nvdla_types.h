/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Types of the engine's public headers, in the kernel and in user space. */
#ifndef NVDLA_TYPES_H
#define NVDLA_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "user/kernel_types.h"
#endif

#endif /* NVDLA_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The part of the kernel's API that the engine uses.
 *
 * In user space the same names come from user/kernel_api.h, so that the files
 * of this folder build unchanged for tests and for the embedded device.
 */
#ifndef NVDLA_PLATFORM_H
#define NVDLA_PLATFORM_H

#ifdef __KERNEL__
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "user/kernel_api.h"
#endif

#endif /* NVDLA_PLATFORM_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel's short names of integer types, for user space. C and C++. */
#ifndef NVDLA_USER_KERNEL_TYPES_H
#define NVDLA_USER_KERNEL_TYPES_H

#include <linux/types.h>
#include <stddef.h>

#ifndef __cplusplus
#include <stdbool.h>
#endif

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

typedef unsigned int gfp_t;

#endif /* NVDLA_USER_KERNEL_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The few kernel facilities that the engine uses, for user space.
 *
 * Names and behaviour are the kernel's as far as the engine depends on them.
 * Only the engine's own .c files include this; its public headers do not.
 */
#ifndef NVDLA_USER_KERNEL_API_H
#define NVDLA_USER_KERNEL_API_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define S64_MAX INT64_MAX
#define S16_MIN INT16_MIN
#define S32_MIN INT32_MIN

#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))

#define FIELD_GET(mask, value) (((value) & (mask)) >> __builtin_ctzll(mask))

#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

#define is_signed_type(type) (((type)(-1)) < (type)1)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define static_assert(condition) _Static_assert(condition, #condition)

#define min_t(type, a, b) min((type)(a), (type)(b))

#define min(a, b)                                  \
	({                                         \
		__typeof__(a) min_a = (a);         \
		__typeof__(b) min_b = (b);         \
		min_a < min_b ? min_a : min_b;     \
	})
#define max(a, b)                                  \
	({                                         \
		__typeof__(a) max_a = (a);         \
		__typeof__(b) max_b = (b);         \
		max_a > max_b ? max_a : max_b;     \
	})

#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define round_up(x, y) ((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a) - 1)) == 0)

#define lower_32_bits(n) ((u32)((n) & 0xffffffff))
#define upper_32_bits(n) ((u32)((u64)(n) >> 32))

#define check_add_overflow(a, b, result) __builtin_add_overflow(a, b, result)
#define check_mul_overflow(a, b, result) __builtin_mul_overflow(a, b, result)

#define GFP_KERNEL 0U
#define GFP_KERNEL_ACCOUNT 0U

static inline void *kvcalloc(size_t count, size_t size, gfp_t flags)
{
	(void)flags;
	return calloc(count, size);
}

static inline void *kvzalloc(size_t size, gfp_t flags)
{
	return kvcalloc(1, size, flags);
}

static inline void kvfree(const void *memory)
{
	free((void *)memory);
}

#endif /* NVDLA_USER_KERNEL_API_H */

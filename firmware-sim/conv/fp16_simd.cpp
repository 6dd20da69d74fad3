/* SPDX-License-Identifier: MIT */
/*
 * The convolution of exact FP16. Compiled once for each instruction set (Highway), in one file,
 * because a small file takes half of its compile time for Highway's headers.
 */
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/fp16_simd.cpp"
#include <hwy/foreach_target.h>

/* These files are included once for each instruction set, so they follow foreach_target.h. */
#include "conv/cmac_fp16-inl.h"
#include "conv/fp16_cells-inl.h"

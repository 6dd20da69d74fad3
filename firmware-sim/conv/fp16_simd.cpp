/* SPDX-License-Identifier: MIT */
/*
 * The convolution of exact FP16. Compiled once for each instruction set (Highway); one file,
 * because half of the time of a small one goes to Highway's headers.
 */
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/fp16_simd.cpp"
#include <hwy/foreach_target.h>

/* After foreach_target.h. */
#include "conv/cmac_fp16-inl.h"
#include "conv/fp16_cells-inl.h"

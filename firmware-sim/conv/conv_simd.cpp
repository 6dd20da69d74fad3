/* SPDX-License-Identifier: MIT */
/*
 * The convolution of integers, and of FP16 as floats. Compiled once for each instruction set
 * (Highway), in one file, because a small file takes half of its compile time for Highway's
 * headers.
 */
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/conv_simd.cpp"
#include <hwy/foreach_target.h>

/* These files are included once for each instruction set, so they follow foreach_target.h. */
#include "conv/channel_sums-inl.h"
#include "conv/conv_tile-inl.h"
#include "conv/dense_sums-inl.h"
#include "conv/tile_operands-inl.h"

/* SPDX-License-Identifier: MIT */
/*
 * SDP's integers. Compiled once for each instruction set (Highway), in one file, because a small
 * file takes half of its compile time for Highway's headers.
 */
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_simd.cpp"
#include <hwy/foreach_target.h>

/* These files are included once for each instruction set, so they follow foreach_target.h. */
#include "sdp/sdp_elements-inl.h"
#include "sdp/sdp_fast-inl.h"

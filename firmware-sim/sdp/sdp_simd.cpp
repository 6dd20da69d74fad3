/* SPDX-License-Identifier: MIT */
/*
 * SDP's integers. Compiled once for each instruction set (Highway); one file,
 * because half of the time of a small one goes to Highway's headers.
 */
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_simd.cpp"
#include <hwy/foreach_target.h>

/* After foreach_target.h. */
#include "sdp/sdp_elements-inl.h"
#include "sdp/sdp_fast-inl.h"

/* SPDX-License-Identifier: MIT */
/*
 * What one core multiplies and adds at most, from registers alone.
 */
#pragma once

namespace nvdla::bench
{

/** \return multiply-adds of bytes a second: VNNI's, else those of pairs of 16-bit numbers */
double int8Peak();

/** \return fused multiply-adds of f32 a second */
double floatPeak();

} /* namespace nvdla::bench */

/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic of INT8 at the speed of the host, for many channels at a time; CdpRun in
 * cdp.cpp has it to read. The table between both steps is FastLut.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "arith/integer.h"

namespace nvdla::sim
{

/** Channels that the window can reach beyond either end of the cube */
inline constexpr uint32_t kCdpMargin = 4;

/**
 * \brief The sum of the window's squares for each channel
 *
 * \param values of 9 bits; kCdpMargin of them are in front of the first and behind the last
 * \param radius channels on each side, at most kCdpMargin
 * \param count a multiple of 32
 */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums);

/**
 * \brief Product and output converter
 *
 * \param results the table's, 16 bits; overwritten by elements of 8 bits
 * \param factors values of 9 bits; null: no product
 * \param count a multiple of 32
 * \return how many saturated
 */
uint32_t cdpOutput(const arith::Converter &converter, int32_t *results, const int32_t *factors,
		   size_t count);

} /* namespace nvdla::sim */

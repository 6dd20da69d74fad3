/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic of integers at the speed of the host, for many channels at a time; CdpRun in
 * cdp.cpp has it to read. The table between both steps is FastLut.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "arith/integer.h"
#include "core/stream.h"

namespace nvdla::sim
{

/** Channels that the window can reach beyond either end of the cube */
inline constexpr uint32_t kCdpMargin = 4;

/**
 * \brief Input converter: atoms to numbers of 9 bits (INT8) or 17 bits (INT16)
 *
 * \param atoms as many as \a count, as they are in memory
 * \param values of the first atom; those of each other one are \a step further on
 */
void cdpInput(const arith::Converter &converter, Precision precision, const std::byte *atoms,
	      size_t count, int32_t *values, size_t step);

/**
 * \brief The sum of the window's squares for each channel
 *
 * \param values of 9 bits; kCdpMargin of them are in front of the first and behind the last
 * \param radius channels on each side, at most kCdpMargin
 * \param count whole atoms
 */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums);

/** \brief cdpSquareSums() of values of 17 bits */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, double *sums);

/**
 * \brief Product and output converter
 *
 * \param results the table's, 16 bits
 * \param factors values of 9 or 17 bits; null: no product
 * \param count whole atoms
 * \param atoms of the elements, the first one; each other one is \a step bytes further on
 * \return how many saturated
 */
uint32_t cdpOutput(const arith::Converter &converter, Precision precision, const int32_t *results,
		   const int32_t *factors, size_t count, std::byte *atoms, size_t step);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic at the speed of the host, for many channels at a time; CdpRun in cdp.cpp has it
 * to read. The table between both steps of integers is FastLut.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "arith/integer.h"
#include "core/stream.h"
#include "lut/lut_fast.h"

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

/** \brief What is done with each position, and what is counted */
struct CdpFloat {
	uint32_t radius;
	bool squares;	 /**< the sum of the window's squares goes to the table, else the element */
	bool multiplies; /**< the table's result is multiplied with the element */
	const FloatLut &lut;
	/**
	 * The readable way of one channel: \a center is FP17's, kCdpMargin more on each side;
	 * returns an element, and counts on its own
	 */
	std::function<int32_t(const int32_t *center)> one;

	LutCounters counters;
	uint32_t saturation;
};

/**
 * \brief Atoms of FP16 to FP17, held as FP32's bits
 *
 * \param values of the first atom; those of each other one are \a step further on
 */
void cdpFloatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
		   size_t step);

/**
 * \brief All channels of a position
 *
 * \param values as cdpFloatInput() makes them; kCdpMargin more are in front and behind
 * \param count whole atoms
 * \param atoms of the elements, the first one; each other one is \a step bytes further on
 */
void cdpFloatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		      size_t step);

} /* namespace nvdla::sim */

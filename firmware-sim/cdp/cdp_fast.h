/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic at the speed of the host, for many channels at a time; CdpRun in cdp.cpp is the
 * readable reference. FastLut does the step between input and output.
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
 * \param atoms \a count atoms as they are in memory
 * \param values result: values of the first atom; those of the next atom are \a step elements later
 */
void cdpInput(const arith::Converter &converter, Precision precision, const std::byte *atoms,
	      size_t count, int32_t *values, size_t step);

/**
 * \brief Computes the sum of the window's squares for each channel
 *
 * \param values numbers of 9 bits, with kCdpMargin more before the first and after the last
 * \param radius channels on each side, at most kCdpMargin
 * \param count whole atoms
 */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums);

/** \brief Computes cdpSquareSums() of values of 17 bits */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, double *sums);

/**
 * \brief Multiplies by the element and applies the output converter
 *
 * \param results results of the table, 16 bits
 * \param factors values of 9 or 17 bits; null: no multiplication
 * \param count whole atoms
 * \param atoms the first output atom; the next one is \a step bytes later
 * \return the number of saturated results
 */
uint32_t cdpOutput(const arith::Converter &converter, Precision precision, const int32_t *results,
		   const int32_t *factors, size_t count, std::byte *atoms, size_t step);

/** \brief Operation on positions of FP16, and its counters */
struct CdpFloat {
	uint32_t radius;
	bool squares;	 /**< the table's index: window's sum of squares, else the element */
	bool multiplies; /**< the table's result is multiplied by the element */
	const FloatLut &lut;
	/** The reference for one channel: \a center points to FP17 numbers, with kCdpMargin more on
	 * each side; returns an element, and updates the counters itself */
	std::function<int32_t(const int32_t *center)> one;

	LutCounters counters;
	uint32_t saturation;
};

/**
 * \brief Convert atoms of FP16 to FP17, held as FP32 bits
 *
 * \param values result: values of the first atom; those of the next atom are \a step elements later
 */
void cdpFloatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
		   size_t step);

/**
 * \brief Normalise all channels of a position
 *
 * \param values result of cdpFloatInput(), with kCdpMargin more before and after
 * \param count whole atoms
 * \param atoms the first output atom; the next one is \a step bytes later
 */
void cdpFloatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		      size_t step);

} /* namespace nvdla::sim */

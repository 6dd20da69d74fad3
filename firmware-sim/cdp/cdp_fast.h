/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic in vectors of many channels; CdpRun in cdp.cpp is the readable reference. The
 * look-up between input and output is done by FastLut.
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

/** Most channels by which the window reaches beyond the cube's first or last channel */
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
 * \param values numbers of 9 bits; kCdpMargin further numbers must precede and follow them
 * \param radius channels on each side of the centre, at most kCdpMargin
 * \param count number of channels, whole atoms
 */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums);

/** \brief Like the other cdpSquareSums(), for values of 17 bits */
void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, double *sums);

/**
 * \brief Multiplies results by the element and applies the output converter
 *
 * \param results results of the table, 16 bits
 * \param factors values of 9 or 17 bits; null: no multiplication
 * \param count number of channels, whole atoms
 * \param atoms the first output atom; the next one is \a step bytes later
 * \return the number of saturated results
 */
uint32_t cdpOutput(const arith::Converter &converter, Precision precision, const int32_t *results,
		   const int32_t *factors, size_t count, std::byte *atoms, size_t step);

/** \brief CDP for FP16: parameters of an operation, and its counters */
struct CdpFloat {
	uint32_t radius;
	bool squares;	 /**< look up the window's sum of squares, else the element */
	bool multiplies; /**< the table's result is multiplied by the element */
	const FloatLut &lut;
	/** Scalar reference: returns an output element, and updates counters of the scalar code.
	 * \a center points to a channel's FP17 number, with kCdpMargin more on each side */
	std::function<int32_t(const int32_t *center)> one;

	LutCounters counters;
	uint32_t saturation;
};

/**
 * \brief Convert atoms of FP16 to FP17 numbers in FP32 format
 *
 * \param values result: values of the first atom; those of the next atom are \a step elements later
 */
void cdpFloatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
		   size_t step);

/**
 * \brief Normalise all channels of a position
 *
 * \param values result of cdpFloatInput(); kCdpMargin further numbers must precede and follow
 * \param count number of channels, whole atoms
 * \param atoms the first output atom; the next one is \a step bytes later
 */
void cdpFloatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		      size_t step);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic of FP16 at the speed of the host, for many channels at a time; CdpRun in cdp.cpp
 * has it to read.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "lut/float_lut.h"

namespace nvdla::sim
{

/** \brief Steps for each position, and enabled counters */
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

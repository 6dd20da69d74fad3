/* SPDX-License-Identifier: MIT */
/*
 * When a convolution's data, weights and MAC steps come.
 */
#pragma once

#include "timing/parameters.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Points in time of a convolution, cycles from its first request on */
struct ConvTiming {
	double dataReady = 0;	 /**< the cube is in the buffer */
	double weightsReady = 0; /**< the last kernel group is */
	double begin = 0;	 /**< of the first MAC step */
	double end = 0;		 /**< of the last MAC step */
	double macCycles = 0;	 /**< of MAC steps; what is missing to end - begin is waiting */
};

/** \return output positions that come out of one pass over a kernel group's weights, at least 16 */
uint64_t stripesOf(const ConvWork &work);

ConvTiming timeConv(const ConvWork &work, const TimingParameters &parameters);

} /* namespace nvdla::sim */

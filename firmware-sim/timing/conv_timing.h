/* SPDX-License-Identifier: MIT */
/*
 * Times of a convolution's fetches and MAC steps.
 */
#pragma once

#include "timing/parameters.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Points in time of a convolution, cycles from its first request on */
struct ConvTiming {
	double dataReady = 0;	 /**< when the cube is in the buffer */
	double weightsReady = 0; /**< when the last kernel group is in the buffer */
	double begin = 0;	 /**< begin of the first MAC step */
	double end = 0;		 /**< end of the last MAC step */
	double macCycles = 0;	 /**< cycles of MAC steps; the rest of end - begin is waiting */
};

/** \return positions that one pass over a kernel group's weights computes, at least 16 */
uint64_t stripesOf(const ConvWork &work);

ConvTiming timeConv(const ConvWork &work, const TimingParameters &parameters);

/**
 * \brief Bytes that CDMA can fetch for an enabled operation while another one computes
 *
 * CDMA continues with its other register group when it has fetched everything for the operation
 * before, if both divide the banks of the buffer in the same way. It fetches as much as there are
 * free entries: the cube of the operation before stays until that operation is done, its weights
 * until their kernel group is done. (RTL of nvdlav1:
 * NV_NVDLA_CDMA_dc.v and NV_NVDLA_CDMA_wt.v, states PEND and BUSY; releases in NV_NVDLA_CSC_sg.v.)
 *
 * \param before the operation that computes, null if there is none
 */
InBuffer roomAhead(const ConvWork &work, const ConvWork *before);

/** \return the cycles that fetching \a room takes; 0 if \a room is empty */
double cyclesAhead(const ConvWork &work, const InBuffer &room, const TimingParameters &parameters);

/** \return the part of \a room that is fetched in \a cycles */
InBuffer fetchedAhead(const ConvWork &work, const InBuffer &room, double cycles,
		      const TimingParameters &parameters);

} /* namespace nvdla::sim */

/* SPDX-License-Identifier: MIT */
/*
 * Times of a convolution's fetches and MAC steps.
 */
#pragma once

#include "timing/parameters.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Points in time of a convolution, in cycles from its first request */
struct ConvTiming {
	double dataReady = 0;	 /**< when the cube is in the buffer */
	double weightsReady = 0; /**< when the last kernel group is in the buffer */
	double begin = 0;	 /**< begin of the first MAC step */
	double end = 0;		 /**< end of the last MAC step */
	double macCycles = 0;	 /**< cycles of MAC steps; MACs wait for end - begin - macCycles */
};

/** \return number of stripes of the output in all kernel groups, at least one for each group */
uint64_t stripesOf(const ConvWork &work);

ConvTiming timeConv(const ConvWork &work, const TimingParameters &parameters);

/**
 * \brief Bytes that CDMA can fetch for an enabled operation while another one computes
 *
 * When CDMA has fetched everything for an operation, it continues with its other register group,
 * if both operations divide the banks of the buffer alike. It fetches as much as there are free
 * entries. The cube of the previous operation stays until that operation is done, its weights
 * until their kernel group is done. (RTL of nvdlav1:
 * NV_NVDLA_CDMA_dc.v and NV_NVDLA_CDMA_wt.v, states PEND and BUSY; releases in NV_NVDLA_CSC_sg.v.)
 *
 * \param before the operation that computes, null if there is none
 */
InBuffer roomAhead(const ConvWork &work, const ConvWork *before);

/** \return cycles to fetch all of \a room; 0 if \a room is empty */
double cyclesAhead(const ConvWork &work, const InBuffer &room, const TimingParameters &parameters);

/** \return the part of \a room that is fetched in \a cycles */
InBuffer fetchedAhead(const ConvWork &work, const InBuffer &room, double cycles,
		      const TimingParameters &parameters);

} /* namespace nvdla::sim */

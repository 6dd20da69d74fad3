/* SPDX-License-Identifier: MIT */
/*
 * What the timing model predicts for the layers of the vendor's performance sheet.
 *
 * What the sheet leaves out is left out where it is compared; how it counts is followed:
 *
 * - a 3x3 kernel of stride 1 is a Winograd one, with 4/9 of the multiplications;
 * - channels count in sixteens;
 * - a 1x1 kernel with a stride has the weights of a 2x2 one, but not its multiplications;
 * - weights have the size that it says: it counts some Winograd weights before their
 *   transformation and some after it;
 * - a fully connected layer is in batches of 16, and counts for one of them, where the sheet's
 *   DRAM cycles are fewer than those of the weights;
 * - with memory on the chip, weights are fetched once for as many images as it holds;
 * - a KiB counts as 1000 bytes, so that 10 GB/s are 10.24 here.
 */
#pragma once

#include <nvdla/error.h>

#include "vendor_sheet.h"

namespace nvdla::test
{

/** \brief Cycles for one image, each with one more of what is real */
struct PredictedLayer {
	double ideal = 0;     /**< as the sheet counts */
	double steps = 0;     /**< whole MAC steps, with lanes and kernels that nothing is for */
	double noLatency = 0; /**< the model, with memories that answer at once */
	double real = 0;      /**< DRAM answers after 100 ns, on-chip memory after 20 ns */

	PredictedLayer &operator+=(const PredictedLayer &other)
	{
		ideal += other.ideal;
		steps += other.steps;
		noLatency += other.noLatency;
		real += other.real;
		return *this;
	}
};

/** \param onChip with the sheet's 4 MiB on the chip */
Result<PredictedLayer> predictLayer(const SheetLayer &layer, bool onChip);

} /* namespace nvdla::test */

/* SPDX-License-Identifier: MIT */
/*
 * A convolution while it is lowered.
 */
#pragma once

#include <nvdla/weights.h>

#include "lowering.h"

namespace nvdla::assembly
{

/** \brief A convolution with what follows from its surfaces and weights */
struct ConvLayer {
	const op::Convolution &op;
	const GraphWeights &weights;
	SurfaceState &in;
	bool image;
	WeightDesc plain; /**< as the user gave them */
	WeightDesc core;  /**< as the core sees them */
	op::Padding padding;
	uint32_t outW = 0;
	uint32_t outH = 0;
};

/** \brief Pack the weights for the layer's mode, and name them in the descriptor */
void placeWeights(Lowering &lowering, const ConvLayer &layer);

/**
 * \brief Divide the convolution buffer between data and weights
 *
 * All of the input has to fit; of the weights at least one kernel group, better
 * all (guide, working modes).
 */
void divideBuffer(Lowering &lowering, const ConvLayer &layer);

} /* namespace nvdla::assembly */

/* SPDX-License-Identifier: MIT */
/*
 * How long a convolution takes on the core's clock. An estimate, not a model of
 * every cycle.
 */
#pragma once

#include <cstdint>

#include "conv/conv_op.h"

namespace nvdla::sim
{

/** \brief Bytes an operation fetched */
struct ConvTraffic {
	uint64_t dataBytes = 0;
	uint64_t weightBytes = 0; /**< with mask and group sizes */
};

/**
 * \brief Core cycles from enabling CDMA to the last output
 *
 * The cube and the first kernel group are fetched one after the other; then the MAC
 * steps and the rest of the weights overlap, and the slower of the two counts.
 * Constants fitted to the cycles of 234 single-layer vectors on an ideal memory
 * (root mean square error 16 %).
 */
uint64_t convCycles(const ConvOp &op, const ConvTraffic &traffic);

} /* namespace nvdla::sim */

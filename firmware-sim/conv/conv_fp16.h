/* SPDX-License-Identifier: MIT */
/*
 * FP16 convolutions, bit for bit, at the speed of the host.
 */
#pragma once

#include "conv/conv_compute.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \return true if computeConvFp16() can be used: direct or image convolution in FP16 */
bool fp16ConvAccepts(const ConvOp &op);

/** \return threads that computeConvFp16() shares \a op among, at most */
unsigned int fp16ConvThreads(const ConvOp &op);

/** \brief computeConv() for the operations that fp16ConvAccepts(); the same bits */
ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

} /* namespace nvdla::sim */

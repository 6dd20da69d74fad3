/* SPDX-License-Identifier: MIT */
/*
 * FP16 convolutions, bit for bit, at the speed of the host.
 */
#pragma once

#include <cstdint>

#include "conv/conv_compute.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Multiply-adds that take computeConvFp16() as long as it takes to begin on a thread */
inline constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/** \return true if computeConvFp16() can be used: direct or image convolution in FP16 */
bool fp16ConvAccepts(const ConvOp &op);

/** \brief computeConv() for the operations that fp16ConvAccepts(); the same bits */
ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

} /* namespace nvdla::sim */

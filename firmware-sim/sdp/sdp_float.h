/* SPDX-License-Identifier: MIT */
/*
 * SDP's FP16 arithmetic at the speed of the host, with the same bits as sdp_datapath.h.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lut/lut_fast.h"
#include "sdp/sdp_datapath.h"

namespace nvdla::sim
{

/**
 * \brief Apply all stages of FP16, without Y's table
 *
 * Returns false and does nothing for comparisons, other precisions, atoms of other sizes than 16
 * numbers, and per-channel operands that are NaN or infinite.
 *
 * \param in FP32 bits, whole atoms; NaNs are cleared if the operation does that
 * \param out as many values as \a in; may be \a in
 */
bool applySdpFloat(const SdpOp &op, std::span<const SdpStageRun> stages,
		   std::span<const int32_t> in, std::span<int32_t> out);

/**
 * \brief Apply all stages and the output converter; \a bytes get the results in memory format
 *
 * Also returns false if the output is not FP16. \a counters get the counts of convertSdpOutput(),
 * and whether any result is not zero.
 *
 * \param bytes two for each number
 */
bool storeSdpFloat(const SdpOp &op, std::span<const SdpStageRun> stages,
		   std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters);

/**
 * \brief Do the same as applySdpLut(), in vectors
 * \param fast prepared from \a lut
 * \param values whole atoms
 */
void applySdpLutFloat(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
		      LutCounters &counters);

/** \brief Special values among FP16 numbers */
struct SpecialHalves {
	uint32_t nan = 0;
	uint32_t inf = 0;
};

/**
 * \brief Convert FP16 numbers from memory to FP32 bits, as fp16ToFp32() does
 *
 * \param raw two bytes for each number
 * \param out a multiple of 16 numbers
 */
SpecialHalves widenSdpHalves(std::span<const std::byte> raw, std::span<int32_t> out);

} /* namespace nvdla::sim */
